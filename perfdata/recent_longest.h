// RecentLongest: the largest of the numbers that were added in the last two to three minutes. Header only. A value.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/clock.h"

namespace jtrace::perfdata {

class RecentLongest {
 public:
  // Times are of one clock, in ns, and do not fall.
  void add(double number, std::uint64_t now) {
    Minute& minute = minutes_[minute_of(now) % minutes_.size()];
    if (minute.number != minute_of(now)) minute = {minute_of(now), 0};
    minute.longest = std::max(minute.longest, number);
  }
  double at(std::uint64_t now) const {
    double longest = 0;
    for (const Minute& each : minutes_)
      if (each.number + minutes_.size() > minute_of(now)) longest = std::max(longest, each.longest);
    return longest;
  }

 private:
  struct Minute {
    std::uint64_t number = 0;
    double longest = 0;
  };
  static std::uint64_t minute_of(std::uint64_t now) { return now / (60 * kNanosPerSecond); }

  std::array<Minute, 3> minutes_{};
};

}  // namespace jtrace::perfdata
