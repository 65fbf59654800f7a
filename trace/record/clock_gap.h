// How late the coarse clock (PoolHeader::coarse_clock) was: its thread may have had no processor. What read the clock
// then may have begun as late as the next time at which that thread ran.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trace/record/layout.h"

namespace jtrace::trace::record {

// ns: the thread sleeps for a millisecond. A step of the clock that is longer than this is noted.
inline constexpr std::uint64_t kLateTick = 1'500'000;

// By the thread of the clock alone, before it advances the clock to `now`. `number`: of the gaps that it has noted,
// from 0. Before its first tick the clock stood still.
inline void note_tick(PoolHeader& header, std::uint32_t& number, std::uint64_t now) {
  if (const std::uint64_t before = header.last_tick.load(std::memory_order_relaxed); now - before > kLateTick) {
    ClockGap& gap = header.clock_gaps[number++ % kClockGaps];
    gap.until.store(0, std::memory_order_relaxed);  // none, until it is whole
    gap.from.store(before, std::memory_order_release);
    gap.until.store(now, std::memory_order_release);
  }
  header.last_tick.store(now, std::memory_order_release);
}

// Something read `time` from the clock: when it may have done so at the latest; UINT64_MAX: until now. Any thread.
inline std::uint64_t latest_reading(const PoolHeader& header, std::uint64_t time) {
  if (time >= header.last_tick.load(std::memory_order_acquire)) return UINT64_MAX;
  std::uint64_t oldest = UINT64_MAX, kept = 0;
  for (const ClockGap& gap : header.clock_gaps) {
    const std::uint64_t until = gap.until.load(std::memory_order_acquire);
    if (until == 0) continue;
    const std::uint64_t from = gap.from.load(std::memory_order_acquire);
    if (time >= from && time < until) return until;
    oldest = std::min(oldest, from);
    ++kept;
  }
  // It may have been in a gap that is no longer kept.
  if (kept >= kClockGaps - 1 && time < oldest) return oldest;
  return time + kLateTick;
}

}  // namespace jtrace::trace::record
