#include "agent/cycle_watch.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace jtrace::agent {
namespace {

using Look = CycleWatch::Look;
constexpr std::uint64_t kMs = 1'000'000;

class CycleWatchTest : public ::testing::Test {
 protected:
  CycleWatchTest() {
    causes_.cause = reinterpret_cast<std::uint64_t>(&cause_);
    causes_.last_cause = reinterpret_cast<std::uint64_t>(&last_);
    name("No GC", "No GC");
  }
  void name(const char* cause, const char* last) {
    std::snprintf(cause_, sizeof cause_, "%s", cause);
    std::snprintf(last_, sizeof last_, "%s", last);
  }
  Look look(std::uint32_t pause) { return watch_.look(causes_, pause, now_); }

  char cause_[record::kCauseRoom] = {}, last_[record::kCauseRoom] = {};
  record::CountersFields causes_;
  CycleWatch watch_;
  std::uint64_t now_ = kMs;
};

TEST_F(CycleWatchTest, EndsWhenTheJvmNamesNoCause) {
  EXPECT_EQ(watch_.next_look(now_), -1);
  EXPECT_EQ(look(0), Look::kGoesOn);
  name("Timer", "No GC");
  EXPECT_EQ(look(1), Look::kGoesOn);
  EXPECT_EQ(watch_.next_look(now_), 1);
  EXPECT_EQ(watch_.next_look(now_ + 160 * kMs), 10);
  EXPECT_EQ(watch_.next_look(now_ + 9000 * kMs), 20);
  EXPECT_EQ(look(3), Look::kGoesOn);
  name("No GC", "Timer");
  EXPECT_EQ(look(3), Look::kEnded);
  EXPECT_FALSE(watch_.ended_is_partial());
  EXPECT_EQ(watch_.next_look(now_), -1);
  EXPECT_EQ(look(3), Look::kGoesOn);
}

TEST_F(CycleWatchTest, MayBeginAndEndBetweenTwoLooks) {
  name("No GC", "Timer");
  EXPECT_EQ(look(3), Look::kEnded);
  EXPECT_EQ(look(3), Look::kGoesOn);
  EXPECT_EQ(look(6), Look::kEnded);
}

TEST_F(CycleWatchTest, OneWithinAnotherIsNotItsEnd) {
  name("Warmup", "No GC");
  look(1);
  name("Allocation Rate", "Warmup");
  EXPECT_EQ(look(4), Look::kGoesOn);
  name("Warmup", "Allocation Rate");
  EXPECT_EQ(look(5), Look::kGoesOn);
  name("No GC", "Warmup");
  EXPECT_EQ(look(6), Look::kEnded);
}

TEST_F(CycleWatchTest, TheNextOneMayHaveBegun) {
  name("Warmup", "No GC");
  look(1);
  name("Timer", "No GC");
  EXPECT_EQ(look(4), Look::kAnotherRuns);
  EXPECT_EQ(watch_.next_look(now_), 1);
  name("No GC", "Timer");
  EXPECT_EQ(look(6), Look::kEnded);
}

TEST_F(CycleWatchTest, KnowsWhatRanBeforeIt) {
  name("Timer", "No GC");
  watch_.start(causes_, now_);
  EXPECT_EQ(watch_.next_look(now_), 1);
  name("No GC", "Timer");
  EXPECT_EQ(look(0), Look::kEnded);
  EXPECT_TRUE(watch_.ended_is_partial());
  EXPECT_EQ(look(2), Look::kEnded);
  EXPECT_FALSE(watch_.ended_is_partial());
}

TEST_F(CycleWatchTest, WithoutCountersSaysNothing) {
  causes_ = {};
  watch_.start(causes_, now_);
  EXPECT_EQ(look(3), Look::kGoesOn);
  EXPECT_EQ(watch_.next_look(now_), -1);
}

}  // namespace
}  // namespace jtrace::agent
