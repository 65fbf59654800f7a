// What threads wait for that another thread has to do: to end (Thread.join), or to run a task (FutureTask,
// CompletableFuture) that it has begun, or that is in the queue of a pool.
//
// Of a live target everything but the stacks is read after the stop: what is true of two looks in a row is true.
// Fields by name: java.lang.Thread; of java.util.concurrent FutureTask, CompletableFuture, ThreadPoolExecutor and the
// queues of these pools (JDK 8 to 27). Not known: who runs a CompletableFuture, the end of a virtual thread, the
// queues of a ForkJoinPool, pools whose factory wraps the worker. Waits with a time limit end by themselves: those for
// tasks are here, because nobody runs these if all threads of the pool wait; those for an end are not. Values. Threads:
// one at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coreinspect/tools/lock_facts.h"

namespace jtrace::coreinspect {

// A java.util.concurrent.ThreadPoolExecutor whose threads are known, all of them.
struct Pool {
  Address object = 0;
  std::vector<Address> threads;           // LockFacts::Party::key
  bool may_grow = false;                  // it has fewer threads than its maximum: it starts one when its queue is full
  std::optional<std::uint64_t> queued{};  // tasks in its queue; nothing if this class of queues is not known
  bool is_scheduled = false;              // its queue has tasks that are not due yet, too
};

// "order-exec-*" of "order-exec-1" and "order-exec-12", the names of all its threads, which differ in the number at the
// end only; "" if they differ otherwise.
std::string pool_name(const std::vector<std::string>& threads);

struct TaskWaits {
  std::map<Address, Work> works;  // by LockFacts::Party::key of who waits; without names (LockFacts::note)
  std::vector<Pool> pools;        // all whose threads are known
};
TaskWaits task_waits(const Inspection& inspection, const LockFacts& locks);

}  // namespace jtrace::coreinspect
