#include "trace/record/clock_gap.h"

#include <gtest/gtest.h>

#include <memory>

namespace jtrace::trace::record {
namespace {

TEST(ClockGap, AReadingWhileTheClockWasLateMayBeAsLateAsItsEnd) {
  const auto header = std::make_unique<PoolHeader>();
  EXPECT_EQ(latest_reading(*header, 100), 100u);
  note_clock_gap(*header, 0, 100, 140);
  EXPECT_EQ(latest_reading(*header, 99), 99u);
  EXPECT_EQ(latest_reading(*header, 100), 140u);
  EXPECT_EQ(latest_reading(*header, 139), 140u);
  EXPECT_EQ(latest_reading(*header, 140), 140u);
}

TEST(ClockGap, TheLastOnesAreKept) {
  const auto header = std::make_unique<PoolHeader>();
  for (std::uint32_t i = 0; i <= kClockGaps; ++i) note_clock_gap(*header, i, 1000 * i, 1000 * i + 500);
  EXPECT_EQ(latest_reading(*header, 10), 10u) << "the first has gone";
  EXPECT_EQ(latest_reading(*header, 1010), 1500u);
  EXPECT_EQ(latest_reading(*header, 1000 * kClockGaps), 1000 * kClockGaps + 500u);
}

}  // namespace
}  // namespace jtrace::trace::record
