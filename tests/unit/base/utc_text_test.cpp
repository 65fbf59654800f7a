#include "base/utc_text.h"

#include <gtest/gtest.h>

namespace jtrace {
namespace {

TEST(UtcText, IsAMomentWithoutItsFraction) {
  EXPECT_EQ(utc_text(1'700'000'000'999'999'999, kIsoSeconds), "2023-11-14T22:13:20Z");
  EXPECT_EQ(utc_text(1'700'000'000'999'999'999, "%Y%m%d-%H%M%S"), "20231114-221320");
  EXPECT_EQ(utc_text(0, kIsoSeconds), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc_text(-2'000'000'000, kIsoSeconds), "1969-12-31T23:59:58Z");
}

}  // namespace
}  // namespace jtrace
