// CallStacks: the open frames of each thread, from methodEntry and methodExit. An exit closes everything up to the
// entry with its ticket (without tickets: of its method), and is dropped if there is none. threadEnd, a gap (of the
// thread, from the time at which events were lost), a pause and the end of the callouts close all open frames.
// Snapshots are left out, because their stacks have no end. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/io/entry_waits.h"
#include "trace/io/scopes.h"

namespace jtrace::trace::io {

struct OpenFrame {
  std::uint64_t method = 0;
  std::uint64_t ticket = 0;
  bool has_ticket = false;
  std::uint64_t time = 0;        // ns; the begin (entry_waits.h), never before that of its caller
  bool waited_before = false;    // it began with a wait for its monitor
  std::uint64_t cpu_time = 0;    // threadCpuTime, 0 if absent
  std::uint64_t user = 0;        // for the listener
  bool has_open_callee = false;  // for the listener, too
  std::uint64_t user_cpu = 0;
  std::uint32_t node = 0;  // for the listener: a node of its tree
  std::uint64_t id = 0;    // for the listener
  // For the listener: the callee that took longest (slow_calls.h): its method, ns, and a number of the listener's.
  std::uint64_t callee = 0, callee_time = 0, callee_serial = 0;
  std::shared_ptr<const std::string> arguments;  // for the listener; null: none
  // For the listener: it waits for a socket or a file (io_methods.h); a call above it does.
  IoKind io = IoKind::kNone;
  bool in_io = false;
  bool unfinished = false;      // closed by the end of the trace or a gap: it took longer
  bool threw = false;           // an exception ended it
  std::uint64_t exception = 0;  // with `threw`: its object; 0: not known
  bool cut = false;             // an outermost frame with unknown callers: lost, or in the previous file (stackDepth)
};

class CallListener {
 public:
  virtual ~CallListener() = default;
  // `frame` was just opened, and is the top of `stack`.
  virtual void on_enter(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack) = 0;
  // The top of `stack` is about to be closed. `cpu_time`: at the exit, 0 if unknown.
  virtual void on_leave(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack, std::uint64_t time,
                        std::uint64_t cpu_time) = 0;
  // Events of the thread were lost (Gap::thread 0: of any thread); its open frames are closed already.
  virtual void on_gap(Scope& /*scope*/, const Gap& /*gap*/) {}
};

class CallStacks {
 public:
  explicit CallStacks(CallListener& listener) : listener_(listener) {}
  // `scope`: the one that Scopes::note() returned for the event.
  void note(const Event& event, Scope& scope);
  // Closes everything, at the latest time seen.
  void close_all();

  std::vector<OpenFrame>* find(const Scope& scope, std::uint64_t thread);
  std::uint64_t closed_by_others() const { return closed_by_others_; }
  std::uint64_t unmatched_exits() const { return unmatched_exits_; }
  std::uint64_t closed_at_end() const { return closed_at_end_; }
  std::uint64_t closed_by_gaps() const { return closed_by_gaps_; }
  // True if the thread has lost events: frames beyond the known stack are not known.
  bool is_cut(const Scope& scope, std::uint64_t thread) const;

 private:
  struct Thread {
    Scope* scope;
    std::uint64_t id;
    std::vector<OpenFrame> stack;
    bool cut = false;
  };
  Thread& thread_of(Scope& scope, std::uint64_t id);
  void enter(const MethodEntry& entry, Scope& scope);
  void leave(const MethodExit& exit, Scope& scope);
  void close(Thread& thread, std::size_t depth, std::uint64_t time, std::uint64_t cpu_time, bool unfinished = false);
  void close_scope(Scope& scope, std::uint64_t time);
  void lose(Scope& scope, const Gap& gap);
  void cut(Thread& thread, std::uint64_t time);
  bool has_threads(const Scope& scope) const;
  void cut_scope(Scope& scope, std::uint64_t time);

  CallListener& listener_;
  EntryWaits entry_waits_;
  std::unordered_map<ThreadKey, Thread, ThreadKey::Hash> threads_;
  Thread* last_ = nullptr;
  std::uint64_t last_time_ = 0;
  std::uint64_t closed_by_others_ = 0;
  std::uint64_t unmatched_exits_ = 0;
  std::uint64_t closed_at_end_ = 0;
  std::uint64_t closed_by_gaps_ = 0;
  std::set<std::size_t> cut_scopes_;  // with a gap of any thread: holds for later threads too
};

}  // namespace jtrace::trace::io
