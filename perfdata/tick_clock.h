// TickClock: when tick 0 of a JVM was, on CLOCK_MONOTONIC.
//
// HotSpot's ticks (os::elapsed_counter) are CLOCK_MONOTONIC minus a start that the JVM does not publish.
// createVmBeginTime has it to some milliseconds, and each tick value that appears between two reads narrows it down: it
// was not there at the earlier read, and it was there at the later one. Threads: one at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace jtrace::perfdata {

class TickClock {
 public:
  TickClock() = default;
  // `zero`: a first guess, ns of CLOCK_MONOTONIC.
  TickClock(std::int64_t zero, double ticks_per_second) : zero_(zero), ns_per_tick_(1e9 / ticks_per_second) {}

  // A tick value that was taken by the JVM after `earlier` and before `later` (ns of CLOCK_MONOTONIC).
  void observe(std::int64_t tick, std::int64_t earlier, std::int64_t later) {
    constexpr std::int64_t kSlack = 100'000;  // between taking the time and writing it the JVM's thread may be stopped
    lowest_ = std::max(lowest_, difference(earlier - kSlack, ns_of(tick)));
    highest_ = std::min(highest_, difference(later, ns_of(tick)));
    if (lowest_ <= highest_) zero_ = std::clamp(zero_, lowest_, highest_);
    else zero_ = lowest_ = highest_ = difference(later, ns_of(tick));  // it was stopped for longer: anew from here
  }

  std::int64_t zero() const { return zero_; }
  // ns of CLOCK_MONOTONIC.
  std::int64_t monotonic_of(std::int64_t tick) const { return difference(zero_, difference(0, ns_of(tick))); }
  // ns.
  std::int64_t ns_of(std::int64_t ticks) const {
    if (ns_per_tick_ == 1.0) return ticks;
    const double ns = static_cast<double>(ticks) * ns_per_tick_;
    return std::abs(ns) < 9e18 ? static_cast<std::int64_t>(ns) : 0;
  }

 private:
  // Ticks come from a process that may be hostile: no sum of ours may overflow undefined.
  static std::int64_t difference(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  }

  std::int64_t zero_ = 0;
  double ns_per_tick_ = 1;
  std::int64_t lowest_ = INT64_MIN;
  std::int64_t highest_ = INT64_MAX;
};

}  // namespace jtrace::perfdata
