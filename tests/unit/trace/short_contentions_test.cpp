#include "trace/short_contentions.h"

#include <gtest/gtest.h>

namespace jtrace::trace {
namespace {

TEST(ShortContentionsOption, GoesThereAndBack) {
  const ShortContentions sum{12, 1'000'123'456, "shop/Stock"};
  EXPECT_EQ(short_contentions_text(sum), "count=12,total=1.000123456,class=shop/Stock");
  for (const ShortContentions& each : {sum, ShortContentions{1, 2}, ShortContentions{3, 4, "odd,count=7"}})
    EXPECT_EQ(read_short_contentions(short_contentions_text(each)), each);
}

TEST(ShortContentionsOption, WhatIsNoneIsNotRead) {
  for (const char* text : {"many", "count=x", "count=5,total=y"})
    EXPECT_EQ(read_short_contentions(text), std::nullopt) << text;
  EXPECT_EQ(read_short_contentions("later=1,count=4,total=0.5"), (ShortContentions{4, 500'000'000}));
}

}  // namespace
}  // namespace jtrace::trace
