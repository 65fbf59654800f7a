#include "trace/gap_option.h"

#include <gtest/gtest.h>

namespace jtrace::trace {
namespace {

TEST(GapOption, GoesThereAndBack) {
  const Gap whole{.thread = 5, .from = 1'100'000'000'000'000'001, .to = 1'100'000'001'000'000'000, .lost = 17};
  EXPECT_EQ(gap_text(whole), "thread=5,from=1100000000.000000001,to=1100000001.000000000,lost=17");
  for (const Gap& gap : {whole, Gap{}, Gap{.thread = 7, .from = 1}, Gap{.lost = 3}})
    EXPECT_EQ(read_gap(gap_text(gap)), gap);
}

TEST(GapOption, WhatIsNoneIsNotRead) {
  for (const char* text : {"thread=x", "from=5", "from=1.5", "to=a.123456789", "from=99999999999999999999.000000000"})
    EXPECT_EQ(read_gap(text), std::nullopt) << text;
  EXPECT_EQ(read_gap("later=1,thread=4"), (Gap{.thread = 4}));
}

}  // namespace
}  // namespace jtrace::trace
