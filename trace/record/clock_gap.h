// The times at which the coarse clock (PoolHeader::coarse_clock) was late: its thread had no processor. A call that
// read the clock then may have begun as late as the end of that time. The last kClockGaps of them are kept.
#pragma once

#include <cstdint>

#include "trace/record/layout.h"

namespace jtrace::trace::record {

// ns: a tick that comes later after the one before it leaves a gap. (The thread of the clock sleeps for a millisecond.)
inline constexpr std::uint64_t kLateTick = 1'500'000;

// Only the thread of the clock, whose gap number that is, from 0.
inline void note_clock_gap(PoolHeader& header, std::uint32_t number, std::uint64_t from, std::uint64_t until) {
  ClockGap& gap = header.clock_gaps[number % kClockGaps];
  gap.until.store(0, std::memory_order_relaxed);  // none, until it is whole
  gap.from.store(from, std::memory_order_release);
  gap.until.store(until, std::memory_order_release);
}

// Something read `time` from the clock: until when it may have done so, if the clock was late. Any thread.
inline std::uint64_t latest_reading(const PoolHeader& header, std::uint64_t time) {
  for (const ClockGap& gap : header.clock_gaps) {
    const std::uint64_t until = gap.until.load(std::memory_order_acquire);
    if (time < until && time >= gap.from.load(std::memory_order_acquire)) return until;
  }
  return time;
}

}  // namespace jtrace::trace::record
