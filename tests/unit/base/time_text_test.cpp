#include "base/time_text.h"

#include <gtest/gtest.h>

namespace jtrace {
namespace {

TEST(TimeText, HasUnits) {
  EXPECT_EQ(parse_duration("50us"), 50'000u);
  EXPECT_EQ(parse_duration("200ms"), 200'000'000u);
  EXPECT_EQ(parse_duration("1.5s"), 1'500'000'000u);
  EXPECT_EQ(parse_duration("5m"), 300'000'000'000u);
  EXPECT_EQ(parse_duration("1h"), 3'600'000'000'000u);
  EXPECT_EQ(parse_duration("2d"), 172'800'000'000'000u);
}

TEST(TimeText, HasAUnitForPlainNumbers) {
  EXPECT_EQ(parse_duration("5"), 5'000'000'000u);
  EXPECT_EQ(parse_duration("5", PlainUnit::kMilliseconds), 5'000'000u);
  EXPECT_EQ(parse_duration("5s", PlainUnit::kMilliseconds), 5'000'000'000u);
}

TEST(TimeText, RefusesOtherText) {
  for (const char* bad : {"", "s", "5x", "-1", "1e3", "5 s", "99999999999999", "soon"})
    EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
}

TEST(TimeText, IsWrittenInTheLargestWholeUnit) {
  EXPECT_EQ(duration_text(0), "0s");
  EXPECT_EQ(duration_text(7), "7ns");
  EXPECT_EQ(duration_text(50'000), "50us");
  EXPECT_EQ(duration_text(1'500'000'000), "1500ms");
  EXPECT_EQ(duration_text(90'000'000'000), "90s");
  EXPECT_EQ(duration_text(3'600'000'000'000), "1h");
}

}  // namespace
}  // namespace jtrace
