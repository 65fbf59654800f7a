// Clocks. Producers stamp CLOCK_MONOTONIC; the wall time of an event is the monotonic time plus the offset of an
// anchor. Header only; usable in the agent (clock_gettime is in glibc 2.17 and musl). Any thread.
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

// The same moment on both clocks: taken between two reads of the monotonic clock.
struct ClockAnchor {
  std::uint64_t monotonic = 0;  // ns
  std::uint64_t realtime = 0;   // ns since the epoch

  static ClockAnchor now() {
    const std::uint64_t before = monotonic_ns();
    const std::uint64_t wall = realtime_ns();
    return {before + (monotonic_ns() - before) / 2, wall};
  }
  // Wall time (ns since the epoch) of a monotonic time.
  std::uint64_t wall_of(std::uint64_t monotonic_time) const { return realtime + (monotonic_time - monotonic); }
};

}  // namespace jtrace
