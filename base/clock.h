// Clocks. Producers stamp events with CLOCK_MONOTONIC; the wall time of an event is its monotonic time plus the offset
// of an anchor. Header only; usable in the agent (clock_gettime is in glibc 2.17 and musl). Any thread.
#pragma once

#include <time.h>

#include <cstdint>

namespace jtrace {

constexpr std::uint64_t kNanosPerSecond = 1'000'000'000;

inline std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kNanosPerSecond + static_cast<std::uint64_t>(now.tv_nsec);
}
inline std::uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }
inline std::uint64_t realtime_ns() { return clock_ns(CLOCK_REALTIME); }

// One moment on both clocks: the real-time clock is read between two reads of the monotonic clock.
struct ClockAnchor {
  std::uint64_t monotonic = 0;  // ns
  std::uint64_t realtime = 0;   // ns since the epoch

  // Returns the best of a few attempts: if the thread loses the CPU between the reads, the offset is wrong by that
  // time.
  static ClockAnchor now() {
    constexpr std::uint64_t kTight = 1000;  // ns
    ClockAnchor best;
    std::uint64_t best_width = UINT64_MAX;
    for (int i = 0; i < 16 && best_width > kTight; ++i) {
      const std::uint64_t before = monotonic_ns();
      const std::uint64_t wall = realtime_ns();
      const std::uint64_t width = monotonic_ns() - before;
      if (width >= best_width) continue;
      best_width = width;
      best = {before + width / 2, wall};
    }
    return best;
  }
  // The wall time (ns since the epoch) of a monotonic time.
  std::uint64_t wall_of(std::uint64_t monotonic_time) const { return realtime + (monotonic_time - monotonic); }
};

}  // namespace jtrace
