#include "diagnose/condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/testlib/must.h"

namespace jtrace::diagnose {
namespace {

using test::must;
using ::testing::HasSubstr;

TEST(Condition, ThresholdsOfTheKernelAreToldFromExpressionsOverCounters) {
  EXPECT_EQ(must(threshold_of("rss > 1500M"))->bytes, 1500u << 20);
  EXPECT_EQ(must(threshold_of(" rss>2G "))->bytes, 2ull << 30);
  EXPECT_DOUBLE_EQ(must(threshold_of("group > 90%"))->share, 0.9);
  EXPECT_FALSE(must(threshold_of("old.share > 90% and gc.pause_share > 5%")));
  for (const char* wrong : {"rss", "rss > ", "rss > 90%", "rss > 1 > 2", "group > 5", "group > 0%", "group > 101%"})
    EXPECT_THAT(threshold_of(wrong).error().message(), HasSubstr("not a condition")) << wrong;
}

TEST(Condition, TheMemoryOfThisProcessIsAboveOneByteAndBelowOneTerabyte) {
  Condition small = must(Condition::open(::getpid(), "rss > 1"));
  EXPECT_THAT(must(small.holds()).value_or(""), HasSubstr("rss > 1: "));
  Condition large = must(Condition::open(::getpid(), "rss > 1024G"));
  EXPECT_FALSE(must(large.holds()));
}

}  // namespace
}  // namespace jtrace::diagnose
