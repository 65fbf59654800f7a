#include "trace/io/flame_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace::trace::io {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(FlameSvg, EachFrameHasItsNameAndShareAsTooltip) {
  const StackProfile profile{"samples", {{"main;a.B.f", 30}, {"main;a.B.f;a.C.<init>", 60}, {"worker;x", 10}}};
  const std::string svg = flame_svg(profile, "Shop & Co (1)", "99 Hz");
  EXPECT_THAT(svg, HasSubstr("<title>all (100 samples, 100.00 %)</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>a.B.f (90 samples, 90.00 %)</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>a.C.&lt;init&gt; (60 samples, 60.00 %)</title>"));
  EXPECT_THAT(svg, HasSubstr("Shop &amp; Co (1)"));
  EXPECT_THAT(svg, HasSubstr(">99 Hz</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_EQ(count(svg, "<g>"), 6u);  // all, main, f, C, worker, x
  EXPECT_EQ(count(svg, "<g>"), count(svg, "</g>"));
}

TEST(FlameSvg, SaysWhatIsTooNarrow) {
  const StackProfile profile{"samples", {{"main", 1'000'000}, {"main;rare;rarer", 1}}};
  const std::string svg = flame_svg(profile, "t", "");
  EXPECT_THAT(svg, HasSubstr("1 frame too narrow to see is left out"));
  EXPECT_THAT(svg, Not(HasSubstr("rarer")));
}

TEST(FlameSvg, OfNothingIsAPicture) {
  const std::string svg = flame_svg({"samples", {}}, "t", "");
  EXPECT_THAT(svg, HasSubstr("all (0 samples"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace jtrace::trace::io
