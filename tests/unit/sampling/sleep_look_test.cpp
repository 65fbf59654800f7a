// Whether a thread slept all the while that it was looked at.
#include "sampling/sleep_look.h"

#include <gtest/gtest.h>

namespace jtrace::sampling {
namespace {

const ThreadMoment kFutex{.call = "202 0x7f00 0x80 0x7ffd10 0x7f2001\n",
                          .switches = "voluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t1\n"};
const ThreadMoment kRunning{.call = "running\n", .switches = kFutex.switches};

TEST(SleepLook, IsWholeIfNothingChanged) { EXPECT_EQ(sleep_between(kFutex, kFutex), Sleep::kWhole); }

TEST(SleepLook, IsNotOneOfAThreadThatRuns) {
  EXPECT_EQ(sleep_between(kRunning, kRunning), Sleep::kNone);
  EXPECT_EQ(sleep_between(kRunning, kFutex), Sleep::kNone);
}

TEST(SleepLook, IsBrokenIfItRanMeanwhile) {
  ThreadMoment later = kFutex;
  later.switches = "voluntary_ctxt_switches:\t13\nnonvoluntary_ctxt_switches:\t1\n";
  EXPECT_EQ(sleep_between(kFutex, later), Sleep::kBroken) << "it sleeps in the same place again";
  later = kFutex;
  later.call = "202 0x7f00 0x80 0x7ffd20 0x7f2001\n";
  EXPECT_EQ(sleep_between(kFutex, later), Sleep::kBroken);
  EXPECT_EQ(sleep_between(kFutex, kRunning), Sleep::kBroken);
  EXPECT_EQ(sleep_between(kFutex, {}), Sleep::kBroken) << "it ended";
  EXPECT_EQ(sleep_between({.call = kFutex.call, .switches = ""}, {.call = kFutex.call, .switches = ""}), Sleep::kBroken)
      << "its switches cannot be read";
}

TEST(SleepLook, OfOneThatHasEndedIsNone) { EXPECT_EQ(sleep_between({}, {}), Sleep::kGone); }

}  // namespace
}  // namespace jtrace::sampling
