// DrainPace: the time until the next pass over the pool: the more the last pass returned, the shorter. One thread.
#pragma once

#include <algorithm>
#include <cstdint>

namespace jtrace::session {

class DrainPace {
 public:
  // Call it after a pass. `free`, `all`: chunks of the pool.
  void adapt(bool more, bool had_events, std::uint32_t free, std::uint32_t all) {
    const bool nearly_full = free < all / 4;
    const bool filling = free < all / 4 * 3;
    if (more || (nearly_full && had_events)) interval_ = 0;
    else if (filling) interval_ = 1;
    else if (had_events) interval_ = std::max(1, interval_ * 3 / 4);
    else interval_ = std::min(kLongest, interval_ + 1 + interval_ / 4);
  }
  int interval() const { return interval_; }  // ms

 private:
  static constexpr int kLongest = 20;
  int interval_ = 5;
};

}  // namespace jtrace::session
