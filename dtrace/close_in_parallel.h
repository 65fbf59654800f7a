// Closes many descriptors in several threads. Closing a perf event of a uprobe waits for all processors: one after
// another, they take seconds.
#pragma once

#include <algorithm>
#include <thread>
#include <vector>

namespace jtrace::dtrace {

// Leaves the vector empty. Destroying a T closes its descriptor.
template <class T>
void close_in_parallel(std::vector<T>& all) {
  constexpr std::size_t kClosers = 16;
  std::vector<std::thread> threads;
  const std::size_t count = std::min(kClosers, all.size());
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([&all, i, count] {
      for (std::size_t at = i; at < all.size(); at += count) all[at] = T{};
    });
  for (std::thread& thread : threads) thread.join();
  all.clear();
}

}  // namespace jtrace::dtrace
