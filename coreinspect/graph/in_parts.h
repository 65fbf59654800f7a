// in_parts: work on many things with several threads, which take a part of them after another.
//
// The calling thread is one of them. Threads: the work is called by all at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace jtrace::coreinspect {

// Calls work() on each of the threads, and returns after all.
template <class Work>
void on_threads(unsigned threads, Work&& work) {
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back([&] { work(); });
  work();
  for (std::thread& each : others) each.join();
}

// Calls work(begin, end) for all parts of 0 .. count - 1.
template <class Work>
void in_parts(std::uint64_t count, unsigned threads, Work&& work, std::uint64_t part = 1u << 16) {
  const std::uint64_t parts = (count + part - 1) / part;
  std::atomic<std::uint64_t> next{0};
  on_threads(static_cast<unsigned>(std::min<std::uint64_t>(threads, std::max<std::uint64_t>(parts, 1))), [&] {
    for (std::uint64_t i = next++; i < parts; i = next++) work(i * part, std::min(count, (i + 1) * part));
  });
}

}  // namespace jtrace::coreinspect
