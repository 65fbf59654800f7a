// For how long threads had not run, and how long findings have lasted.
#include "diagnose/sleep_before.h"

#include <gtest/gtest.h>

#include "diagnose/duration.h"
#include "tests/unit/diagnose/made_up_threads.h"

namespace jtrace::diagnose {
namespace {

ThreadFact stopped(ThreadKey key, std::uint64_t waits, bool slept = true) {
  ThreadFact fact = thread(key);
  fact.waits = waits;
  fact.slept = slept;
  fact.in_call = true;
  return fact;
}

// The stop of a look makes each thread wait twice more.
TEST(SleepBefore, IsOfThreadsThatTheStopAloneMadeRun) {
  const SleepBefore before({{1001, {10, 5 * kSecond}},
                            {1002, {20, 6 * kSecond}},
                            {1003, {30, 7 * kSecond}},
                            {1004, {40, 8 * kSecond}},
                            {1005, {50, 9 * kSecond}},
                            {1007, {70, 9 * kSecond}}});
  ThreadsLook look{.threads = {stopped(1, 12), stopped(2, 23), stopped(3, 32, false), stopped(4, 42), stopped(6, 1),
                               stopped(7, 72)}};
  look.threads[3].is_virtual = true;
  look.threads[5].in_call = false;
  before.note_in(look);
  EXPECT_EQ(look.threads[0].asleep_ns, 5 * kSecond);
  EXPECT_FALSE(look.threads[1].asleep_ns) << "it has run once more";
  EXPECT_FALSE(look.threads[2].asleep_ns) << "it did not sleep: a wait may be to come";
  EXPECT_FALSE(look.threads[3].asleep_ns) << "what its carrier did is not its own";
  EXPECT_FALSE(look.threads[4].asleep_ns) << "it is new";
  EXPECT_FALSE(look.threads[5].asleep_ns) << "it was awake at the stop, and has gone to sleep again after it";
}

TEST(Duration, IsInTheUnitThatServes) {
  EXPECT_EQ(duration_words(0), "0.0 s");
  EXPECT_EQ(duration_words(20'190'000'000), "20.1 s");
  EXPECT_EQ(duration_words(179 * kSecond), "179.0 s");
  EXPECT_EQ(duration_words(181 * kSecond), "3 min");
  EXPECT_EQ(duration_words(3 * 3600 * kSecond - 1), "2.9 h");
  EXPECT_EQ(duration_words(108 * 3600 * kSecond), "4.5 days");
}

TEST(Duration, HasTheTimeOfDayOfItsBeginning) {
  Facts facts = facts_of({{}, {}});  // the last look at 2 s
  EXPECT_EQ(lasted_words(facts, 5 * kSecond), "5.0 s");
  facts.clock = ClockAnchor{.monotonic = kSecond, .realtime = 1'795'871'999 * kSecond};  // 2026-11-28 13:19:59
  EXPECT_EQ(lasted_words(facts, kSecond), "1.0 s (since 13:19:59 UTC, or before)");
  facts.looks.back().ns = facts.clock->monotonic = 100'000 * kSecond;
  EXPECT_EQ(lasted_words(facts, 86'400 * kSecond), "24.0 h (since 2026-11-27 13:19:59 UTC, or before)");
}

}  // namespace
}  // namespace jtrace::diagnose
