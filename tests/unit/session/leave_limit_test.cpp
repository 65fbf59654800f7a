// How long jtrace waits for the agent to leave, depending on the processor time that the JVM gets.
#include "session/leave_limit.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace jtrace::session {
namespace {

constexpr std::uint64_t kSecond = kNanosPerSecond;

// Seconds until the limit is over, checked every half second; the JVM has `share` of a processor in the first `busy`
// seconds.
double seconds_until_over(double share, double busy = 1e9) {
  LeaveLimit limit(100 * kSecond, 7 * kSecond);
  for (std::uint64_t half = 1;; ++half) {
    const double time = static_cast<double>(half) / 2;
    const double cpu = 7 + share * std::min(time, busy);
    if (limit.is_over(100 * kSecond + half * kSecond / 2, static_cast<std::uint64_t>(cpu * 1e9))) return time;
  }
}

TEST(LeaveLimit, IsShortWhereTheJvmHasProcessors) {
  EXPECT_EQ(seconds_until_over(1), 15);
  EXPECT_EQ(seconds_until_over(16), 15);
}

TEST(LeaveLimit, IsShortWhereTheJvmHangs) {
  EXPECT_EQ(seconds_until_over(0), 15);
  EXPECT_EQ(seconds_until_over(0.1, 30), 35);  // later it gets none
}

TEST(LeaveLimit, IsLongerWhereItHasLittle) {
  EXPECT_EQ(seconds_until_over(0.5), 30);
  EXPECT_EQ(seconds_until_over(0.01), 120);
}

}  // namespace
}  // namespace jtrace::session
