#include "trace/record/clock_gap.h"

#include <gtest/gtest.h>

#include <memory>

namespace jtrace::trace::record {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

class ClockGapTest : public ::testing::Test {
 protected:
  void tick(std::uint64_t ms) { note_tick(*header_, number_, ms * kMs); }
  std::uint64_t latest(std::uint64_t ms) const { return latest_reading(*header_, ms * kMs); }
  std::unique_ptr<PoolHeader> header_ = std::make_unique<PoolHeader>();
  std::uint32_t number_ = 0;
};

TEST_F(ClockGapTest, AReadingIsLateByAStepOfTheClock) {
  tick(1);
  for (std::uint64_t ms = 2; ms <= 10; ++ms) tick(ms);
  EXPECT_EQ(latest(5), 5 * kMs + kLateTick);
}

TEST_F(ClockGapTest, WhileTheClockIsLateNothingIsKnown) {
  tick(1);
  EXPECT_EQ(latest(1), UINT64_MAX);
  EXPECT_EQ(latest(40), UINT64_MAX) << "the agent has advanced the clock in the meantime";
}

TEST_F(ClockGapTest, AReadingWhileTheClockWasLateMayBeAsLateAsItsEnd) {
  tick(100);
  tick(140);
  tick(141);
  EXPECT_EQ(latest(100), 140 * kMs);
  EXPECT_EQ(latest(139), 140 * kMs);
  EXPECT_EQ(latest(140), 140 * kMs + kLateTick);
}

TEST_F(ClockGapTest, BeforeTheFirstTickTheClockStoodStill) {
  tick(100);
  EXPECT_EQ(latest(3), 100 * kMs);
}

TEST_F(ClockGapTest, OfWhatIsOlderThanTheGapsThatAreKeptTheLatestCounts) {
  for (std::uint64_t i = 1; i <= 40; ++i) tick(i * 1000);
  EXPECT_EQ(latest(39'500), 40'000 * kMs);
  EXPECT_EQ(latest(1'500), 8'000 * kMs) << "the oldest that is kept began then";
}

}  // namespace
}  // namespace jtrace::trace::record
