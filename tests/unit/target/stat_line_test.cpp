#include "target/stat_line.h"

#include <gtest/gtest.h>

namespace jtrace::target {
namespace {

TEST(StatLine, HasItsFieldsAfterAHostileName) {
  const StatLine line("7 (a) b) (S 3) Z 1 7 7 0 -1 4194304 21 0 42 3 500 60 7 8 20 0 1 0 12345 999 88\n");
  EXPECT_EQ(line.state(), 'Z');
  EXPECT_EQ(line.field(3), "Z");
  EXPECT_EQ(line.field(8), "-1");
  EXPECT_EQ(line.number(StatLine::kMajorFaults), 42u);
  EXPECT_EQ(line.number(StatLine::kUserTicks), 500u);
  EXPECT_EQ(line.number(StatLine::kSystemTicks), 60u);
  EXPECT_EQ(line.number(StatLine::kStartTicks), 12345u);
  EXPECT_EQ(line.field(24), "88");
  EXPECT_EQ(line.field(25), "");
  EXPECT_EQ(line.number(StatLine::kWaitStatus), 0u);
}

TEST(StatLine, OfAnotherTextHasNothing) {
  for (const char* text : {"", "nonsense", "7 (a)", "7 (a) "}) {
    EXPECT_EQ(StatLine(text).state(), '?') << text;
    EXPECT_EQ(StatLine(text).field(3), "") << text;
    EXPECT_EQ(StatLine(text).number(StatLine::kStartTicks), 0u) << text;
  }
  EXPECT_EQ(StatLine("7 (x) S 1").number(StatLine::kStartTicks), 0u);
}

}  // namespace
}  // namespace jtrace::target
