// The value of option jtrace.clock: one moment on both clocks, and the resolution of the monotonic one
// (docs/trace_format.md). Any thread.
#pragma once

#include <string>

#include "base/clock.h"

namespace jtrace::trace {

// Seconds with nine decimals.
inline std::string seconds_text(std::uint64_t ns) {
  std::string fraction = std::to_string(ns % kNanosPerSecond);
  fraction.insert(0, 9 - fraction.size(), '0');
  return std::to_string(ns / kNanosPerSecond) + "." + fraction;
}

inline std::string clock_option(const ClockAnchor& now) {
  timespec resolution{};
  ::clock_getres(CLOCK_MONOTONIC, &resolution);
  const auto ns =
      static_cast<std::uint64_t>(resolution.tv_sec) * kNanosPerSecond + static_cast<std::uint64_t>(resolution.tv_nsec);
  return "monotonic=" + seconds_text(now.monotonic) + ",realtime=" + seconds_text(now.realtime) +
         ",resolution=" + seconds_text(ns);
}

}  // namespace jtrace::trace
