// EntryWaits: when calls begin. The entry of a synchronized method comes when its thread has the monitor; a wait for it
// just before belongs to the call, because its caller did not wait. Memory: the last waits of each thread. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "trace/io/scopes.h"

namespace jtrace::trace::io {

// A thread of a producer: Scope::index, threadId.
struct ThreadKey {
  std::size_t scope;
  std::uint64_t thread;
  bool operator==(const ThreadKey&) const = default;
  struct Hash {
    std::size_t operator()(const ThreadKey& key) const { return key.thread * 0x9e3779b97f4a7c15u + key.scope; }
  };
};

class EntryWaits {
 public:
  // Each event of a producer, in order.
  void note(const Event& event, const Scope& scope);
  // A call of the thread has ended: no method that is entered later had the waits until now.
  void note_end_of_call(const Scope& scope, std::uint64_t thread);
  // Of a thread that has ended, or whose events were lost.
  void forget(const Scope& scope, std::uint64_t thread) { threads_.erase({scope.index, thread}); }
  void forget_all(const Scope& scope) {
    std::erase_if(threads_, [&](const auto& each) { return each.first.scope == scope.index; });
  }
  // The begin of a call of `method`, whose methodEntry has `time`; `time` if it did not wait. The wait is that call's:
  // no later one has it.
  std::uint64_t begin_of(Scope& scope, std::uint64_t thread, std::uint64_t method, std::uint64_t time);

 private:
  struct Wait {
    std::uint64_t since = 0, until = 0;  // ns
    bool is_blocked = false;             // for a monitor
    ObjectId monitor;
  };
  struct Thread {
    Wait open;                // since 0: it does not wait
    std::deque<Wait> last;    // by time
    std::uint64_t noted = 0;  // number of waits until now
    std::uint64_t spent = 0;  // of them before the last call that ended, or in a call's begin already
  };
  void begin(const Scope& scope, ThreadId thread, Wait wait);
  void end(const Scope& scope, ThreadId thread, Time time);

  std::unordered_map<ThreadKey, Thread, ThreadKey::Hash> threads_;
};

}  // namespace jtrace::trace::io
