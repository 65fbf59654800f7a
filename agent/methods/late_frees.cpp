#include "agent/methods/late_frees.h"

#include <algorithm>

#include "agent/methods/mutex_lock.h"

namespace jtrace::agent {

void LateFrees::add(std::uint64_t object) {
  Lock lock(lock_);
  fresh_.push_back(object);
}

std::vector<std::uint64_t> LateFrees::take_due(const OpenCalls& calls) {
  std::vector<std::uint64_t> due;
  {
    Lock lock(lock_);
    due.swap(waiting_);
    waiting_.swap(fresh_);
  }
  if (due.empty()) return due;
  std::vector<std::uint64_t> open;
  calls.for_each_object([&](std::uint64_t object) { open.push_back(object); });
  std::sort(open.begin(), open.end());
  const auto kept = std::partition(due.begin(), due.end(), [&](std::uint64_t object) {
    return !std::binary_search(open.begin(), open.end(), object);
  });
  {
    Lock lock(lock_);
    waiting_.insert(waiting_.end(), kept, due.end());
  }
  due.erase(kept, due.end());
  return due;
}

std::vector<std::uint64_t> LateFrees::take_all() {
  std::vector<std::uint64_t> all;
  Lock lock(lock_);
  all.swap(waiting_);
  all.insert(all.end(), fresh_.begin(), fresh_.end());
  fresh_.clear();
  return all;
}

}  // namespace jtrace::agent
