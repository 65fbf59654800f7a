#include "coreinspect/tools/pool_circles.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace jtrace::coreinspect {
namespace {

using Addresses = std::set<Address>;

// The threads that wait for one that is stuck, or for a task of a pool whose threads are all stuck. Who waits for
// nothing that is known goes on, and with it all that wait for it.
Addresses stuck_threads(const PoolWaits& waits) {
  Addresses stuck;
  for (const auto& [thread, owner] : waits.owners) stuck.insert(thread);
  for (const auto& [thread, pool] : waits.tasks) stuck.insert(thread);
  const auto goes_on = [&](Address thread) {
    const auto task = waits.tasks.find(thread);
    if (task == waits.tasks.end()) return !stuck.contains(waits.owners.at(thread));
    const auto pool = waits.workers.find(task->second);
    return pool == waits.workers.end() || pool->second.empty() ||
           std::any_of(pool->second.begin(), pool->second.end(), [&](Address each) { return !stuck.contains(each); });
  };
  while (std::erase_if(stuck, goes_on) > 0) {
  }
  return stuck;
}

class Search {
 public:
  explicit Search(const PoolWaits& waits) : waits_(waits), stuck_(stuck_threads(waits)) {
    for (const auto& [thread, pool] : waits.tasks)
      if (stuck_.contains(thread)) next_[pool];
    for (auto& [pool, pools] : next_)
      for (const Address worker : waits.workers.at(pool)) pools.insert(pool_after(worker, nullptr));
  }

  std::vector<PoolCircle> run() const {
    std::vector<PoolCircle> circles;
    Addresses done;
    for (const auto& each_entry : next_) {
      const Address pool = each_entry.first;
      if (done.contains(pool)) continue;
      const Addresses all = reached_from(pool);
      const bool closed = std::all_of(all.begin(), all.end(),
                                      [&](Address each) { return each != 0 && reached_from(each).contains(pool); });
      if (!closed) continue;
      done.insert(all.begin(), all.end());
      PoolCircle circle{.others = others_of(all), .pools = {all.begin(), all.end()}};
      if (all.size() > 1 || !circle.others.empty()) circles.push_back(std::move(circle));
    }
    return circles;
  }

 private:
  // The pool for whose task a stuck thread waits, directly or through others; 0: none, they wait in a circle. Adds the
  // threads on the way to `path`.
  Address pool_after(Address thread, Addresses* path) const {
    Addresses seen;
    for (Address at = thread; seen.insert(at).second; at = waits_.owners.at(at)) {
      if (path) path->insert(at);
      if (const auto task = waits_.tasks.find(at); task != waits_.tasks.end()) return task->second;
    }
    return 0;
  }

  Addresses reached_from(Address pool) const {
    Addresses reached = {pool};
    std::vector<Address> left = {pool};
    while (!left.empty()) {
      const auto pools = next_.find(left.back());
      left.pop_back();
      if (pools == next_.end()) continue;
      for (const Address each : pools->second)
        if (reached.insert(each).second) left.push_back(each);
    }
    return reached;
  }

  std::vector<Address> others_of(const Addresses& pools) const {
    Addresses all, workers;
    for (const Address pool : pools)
      for (const Address each : waits_.workers.at(pool)) {
        workers.insert(each);
        pool_after(each, &all);
      }
    std::vector<Address> others;
    std::set_difference(all.begin(), all.end(), workers.begin(), workers.end(), std::back_inserter(others));
    return others;
  }

  const PoolWaits& waits_;
  Addresses stuck_;
  std::map<Address, Addresses> next_;  // of pools whose threads are stuck: the pools for which these wait; 0: none
};

}  // namespace

PoolWaits pool_waits(const LockFacts& locks, const TaskWaits& tasks) {
  PoolWaits waits;
  for (const LockFacts::Party& each : locks.parties()) {
    const Wait* wait = locks.wait_of(each.key);
    if (!wait || LockFacts::has_time_limit(each)) continue;
    if (wait->work && wait->work->pool != 0) waits.tasks[each.key] = wait->work->pool;
    else if (wait->work && wait->work->thread != 0) waits.owners[each.key] = wait->work->thread;
    else if (wait->kind != "wait" && wait->owner_thread != 0) waits.owners[each.key] = wait->owner_thread;
  }
  for (const Pool& each : tasks.pools) waits.workers[each.object] = each.threads;
  return waits;
}

std::vector<PoolCircle> pool_circles(const PoolWaits& waits) {
  return waits.tasks.empty() ? std::vector<PoolCircle>() : Search(waits).run();
}

}  // namespace jtrace::coreinspect
