// CallStacks: which frames are open in each thread, from methodEntry and methodExit. An exit closes everything up to
// the entry with its ticket (without tickets: of its method) and is dropped where there is none; threadEnd, a gap (of
// the thread, from where on events were lost) and a pause close what is open; snapshots have stacks without an end and
// are left out. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/io/scopes.h"

namespace jtrace::trace::io {

struct OpenFrame {
  std::uint64_t method = 0;
  std::uint64_t ticket = 0;
  bool has_ticket = false;
  std::uint64_t time = 0;      // ns
  std::uint64_t cpu_time = 0;  // threadCpuTime, 0 where there is none
  std::uint64_t user = 0;      // the listener's
  std::uint64_t user_cpu = 0;
  std::uint32_t node = 0;  // the listener's: where in a tree it stands
  // Of its callees the one that took longest (slow_calls.h), as the listener says: method, ns, a number of its.
  std::uint64_t callee = 0, callee_time = 0, callee_serial = 0;
  std::shared_ptr<const std::string> arguments;  // the listener's; null: none
  bool unfinished = false;                       // closed by the trace's end or a gap: it took longer
  bool cut = false;  // an outermost one whose callers are not known: lost, or in the file before (stackDepth)
};

class CallListener {
 public:
  virtual ~CallListener() = default;
  // `frame` was just opened, on top of `stack` (which has it already).
  virtual void on_enter(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack) = 0;
  // The top of `stack` is about to be closed. `cpu_time`: at the exit, 0 where nobody knows.
  virtual void on_leave(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack, std::uint64_t time,
                        std::uint64_t cpu_time) = 0;
  // Events of the thread were lost (Gap::thread 0: of any); what was open is closed already.
  virtual void on_gap(Scope& /*scope*/, const Gap& /*gap*/) {}
};

class CallStacks {
 public:
  explicit CallStacks(CallListener& listener) : listener_(listener) {}
  // `scope`: what Scopes::note() has given for the event.
  void note(const Event& event, Scope& scope);
  // Closes everything, at the latest time seen.
  void close_all();

  std::vector<OpenFrame>* find(const Scope& scope, std::uint64_t thread);
  std::uint64_t closed_by_others() const { return closed_by_others_; }
  std::uint64_t unmatched_exits() const { return unmatched_exits_; }
  std::uint64_t closed_at_end() const { return closed_at_end_; }
  std::uint64_t closed_by_gaps() const { return closed_by_gaps_; }
  // Whether the thread has lost events: what it is in, beyond the stack that is known, is not.
  bool is_cut(const Scope& scope, std::uint64_t thread) const;

 private:
  struct Key {
    std::size_t scope;
    std::uint64_t thread;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const { return key.thread * 0x9e3779b97f4a7c15u + key.scope; }
  };
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
  std::unordered_map<Key, Thread, Hash> threads_;
  Thread* last_ = nullptr;
  std::uint64_t last_time_ = 0;
  std::uint64_t closed_by_others_ = 0;
  std::uint64_t unmatched_exits_ = 0;
  std::uint64_t closed_at_end_ = 0;
  std::uint64_t closed_by_gaps_ = 0;
  std::set<std::size_t> cut_scopes_;  // by a gap of any thread: those that come later too
};

}  // namespace jtrace::trace::io
