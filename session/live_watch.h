// LiveWatch: what a terminal shows of a trace while it runs, and what is said of it at the end: a line for each long
// wait for a monitor or a lock of java.util.concurrent (a park whose event names an owner), with its owner where the
// event names one, and for each long pause of the collector; and a line about the present state: how many threads there
// are, who is blocked, which pauses there were. It sees the events on
// their way to the document. Its memory is bounded. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "trace/event_sink.h"

namespace jtrace::session {

class LiveWatch final : public trace::EventSink {
 public:
  // Waits and pauses of this time (ns) and more have a line of their own.
  static constexpr std::uint64_t kLong = 20'000'000;
  // Lines between two calls of state(); those beyond are counted.
  static constexpr std::size_t kLines = 10;

  explicit LiveWatch(std::function<void(std::string_view)> show) : show_(std::move(show)) {}

  // Never fails.
  Result<> write(const trace::Event& event) override;
  // The state at `wall` (ns since the epoch), to be asked for about once a second: the threads of the program, and how
  // many began and ended since the last call; those that are blocked now; pauses since the last call. "" if there is
  // nothing to say.
  std::string state(std::uint64_t wall);
  // Of the whole trace, which ended at `wall`: how many waits and pauses of kLong and more, and the longest of each; by
  // how many the threads have become more, and which these are. "" if there is none of that.
  std::string findings(std::uint64_t wall) const;
  // Pauses that the program itself asked for (System.gc()).
  std::uint64_t asked_pauses() const { return asked_pauses_; }
  // A long wait for a monitor whose owner is not known.
  bool lacked_owners() const { return lacked_owners_; }

 private:
  struct Longs {  // waits or pauses of kLong and more
    std::uint64_t count = 0, longest = 0;
    std::string line;  // of the longest
  };
  struct Blocked {
    std::uint64_t since = 0;  // ns since the epoch
    std::uint64_t object = 0, owner = 0;
    bool has_owner = false, parks = false;
    bool is_older = false;  // than the trace, since when it is counted
  };
  struct Pauses {
    std::uint64_t count = 0, total = 0, longest = 0;  // ns
  };
  // Only of traces with the events of both; of a lost one nobody knows.
  struct Threads {
    std::unordered_set<std::uint64_t> alive;
    std::uint64_t started = 0, ended = 0;  // since the last look
    bool has_virtual_ends = false;         // those of virtual threads are traced
    bool are_traced = false, are_known = true, had_look = false;
    std::unordered_set<std::uint64_t> fresh;  // of `alive`: those that began in the trace
    std::uint64_t old_ended = 0;              // of those that were there before
  };

  void on_thread_start(const trace::ThreadStart& start);
  void on_thread_end(const trace::ThreadEnd& end);
  // "31 threads (2 started, 1 ended)"; "" if they are not known.
  std::string threads_text();
  // "15 threads more than at the beginning, 7.5 a minute: 8 "reader-*", ..."; "" of one or two.
  std::string growth_text(std::uint64_t wall) const;
  void on_enter(const trace::MonContendedEnter& enter);
  void on_entered(const trace::MonContendedEntered& entered);
  void on_park(const trace::MonWait& wait);
  void on_unblocked(trace::ThreadId thread, trace::Time end, bool parks);
  void on_pause_end(const trace::GcFinish& finish);
  void define(const trace::ObjDef& object);
  void note_loss();
  void on_option(const trace::Option& option);
  // "THREADID STATE": one that ran before the trace; it may be blocked as the trace begins.
  void on_first_state(std::string_view text);
  // "THREADID KIND": one whose threadStart is not its begin.
  void on_thread_met(std::string_view text);
  void note_older(std::uint64_t thread);
  std::string name_of(std::uint64_t thread) const;
  // "a Shop$Stock that "auditor" had", with `verb` for had.
  std::string what(const Blocked& blocked, std::string_view verb) const;
  // Of one of `longs`, which took `time` until `end`.
  void line(std::uint64_t end, std::uint64_t time, const std::string& text, Longs& longs);
  // The one that has been blocked longest, if that is kLong; "" otherwise.
  std::string blocked_text(std::uint64_t wall) const;

  std::function<void(std::string_view)> show_;
  std::unordered_map<std::uint64_t, std::string> names_;      // of threads
  std::unordered_map<std::uint64_t, std::string> classes_;    // as Java prints them
  std::unordered_map<std::uint64_t, std::uint64_t> objects_;  // its class
  std::unordered_map<std::uint64_t, Blocked> blocked_;        // thread
  std::uint64_t pause_since_ = 0;
  std::uint64_t asked_pauses_ = 0;
  bool lacked_owners_ = false;
  std::uint64_t trace_since_ = 0;   // ns since the epoch
  bool has_blocking_ends_ = false;  // monContendedEntered was asked for
  Threads threads_;
  Pauses pauses_;
  Longs long_waits_, long_pauses_;
  std::size_t lines_ = 0;
};

}  // namespace jtrace::session
