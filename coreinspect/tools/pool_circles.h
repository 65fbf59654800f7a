// Circles of waits that go through the queue of a pool: a thread waits for a task that is in the queue, and all threads
// of the pool wait for what this thread has, directly or through others. None of them can go on.
//
// A pool that waits for itself alone, because its threads wait for tasks in its own queue, is none of them. Pure
// functions on values but pool_waits(), which looks at nothing but its arguments. Threads: any.
#pragma once

#include <map>
#include <vector>

#include "coreinspect/tools/lock_facts.h"
#include "coreinspect/tools/task_waits.h"

namespace jtrace::coreinspect {

// Threads by LockFacts::Party::key. A wait with a time limit ends by itself and is left out.
struct PoolWaits {
  std::map<Address, Address> owners;                // of what each waits for: a lock, its end, a task that it runs
  std::map<Address, Address> tasks;                 // the pool in whose queue the task is for which each waits
  std::map<Address, std::vector<Address>> workers;  // of pools of which all threads are known
};
PoolWaits pool_waits(const LockFacts& locks, const TaskWaits& tasks);

struct PoolCircle {
  std::vector<Address> others;  // threads that work for none of the pools
  std::vector<Address> pools;   // all threads of these belong to the circle
  bool operator==(const PoolCircle&) const = default;
};
std::vector<PoolCircle> pool_circles(const PoolWaits& waits);

}  // namespace jtrace::coreinspect
