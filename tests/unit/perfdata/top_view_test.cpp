#include "perfdata/top_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace::perfdata {
namespace {

TEST(TopView, SizesTimesAndSparklines) {
  EXPECT_EQ(short_size(0), "0B");
  EXPECT_EQ(short_size(999), "999B");
  EXPECT_EQ(short_size(1000), "1.0K");
  EXPECT_EQ(short_size(64 << 20), "64M");
  EXPECT_EQ(short_size(1.5 * (1 << 30)), "1.5G");
  EXPECT_EQ(short_time(-1), "0s");
  EXPECT_EQ(short_time(119), "119s");
  EXPECT_EQ(short_time(120), "2m");
  EXPECT_EQ(short_time(86400 * 3), "3d");
  EXPECT_EQ(sparkline({0, 0.5, 1, 7}, 5), " \u2581\u2584\u2588\u2588");
}

TEST(TopView, WithoutJvmsThereAreHeadings) {
  TopView view;
  JvmSet none({}, {}, {});
  view.update(none);
  EXPECT_EQ(view.lines(TopOrder::kHeap, 0, 0).size(), 2u);
  EXPECT_THAT(view.lines(TopOrder::kHeap, 0, 0, TopColumns::kPauses)[1], testing::HasSubstr("LONGEST"));
  EXPECT_EQ(view.lines(TopOrder::kHeap, 1, 10), std::vector<std::string>{"hsperf top"});
}

TEST(TopView, ANarrowScreenKeepsTheMainClassAndTheKeyThatEnds) {
  constexpr std::size_t kMain = 40;  // characters of a main class
  for (const TopColumns shown : {TopColumns::kHistories, TopColumns::kPauses}) {
    const std::string heading = top_heading(shown, top_columns(shown, 80, kMain));
    EXPECT_LE(heading.size(), 80u - 20 + 4) << "20 columns are left for it";
    EXPECT_THAT(heading, testing::HasSubstr("PID"));
    EXPECT_TRUE(heading.ends_with(" MAIN"));
    EXPECT_LT(heading.size(), top_heading(shown, top_columns(shown, 200, kMain)).size());
  }
  EXPECT_EQ(top_heading(TopColumns::kHistories, top_columns(TopColumns::kHistories, 80, kMain)),
            "     PID  HEAP   MAX     %   GC%   GC/s   THR   UP MAIN");
  for (const std::size_t columns : {std::size_t{200}, std::size_t{80}, std::size_t{40}}) {
    EXPECT_LE(top_head(12, 3, columns).size(), columns);
    EXPECT_TRUE(top_head(12, 0, columns).ends_with("   q quits")) << columns;
  }
}

TEST(TopView, KeysChooseTheOrder) {
  TopOrder order = TopOrder::kHeap;
  EXPECT_TRUE(top_order_of('g', order));
  EXPECT_EQ(order, TopOrder::kGc);
  EXPECT_FALSE(top_order_of('x', order));
}

}  // namespace
}  // namespace jtrace::perfdata
