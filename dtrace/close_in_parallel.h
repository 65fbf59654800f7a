// Closing many descriptors whose close waits for all processors, as that of a perf event of a uprobe does: one after
// another they took seconds.
#pragma once

#include <algorithm>
#include <thread>
#include <vector>

namespace jtrace::dtrace {

// Leaves the vector empty. T: its destruction closes.
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
