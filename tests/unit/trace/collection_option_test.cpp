#include "trace/collection_option.h"

#include <gtest/gtest.h>

namespace jtrace::trace {
namespace {

constexpr std::uint64_t kFrom = 1'000'000'001, kTo = 2'000'000'000;

TEST(CollectionOption, GoesThereAndBack) {
  const Collection whole{kFrom, kTo, 3, 9, 4, 16, "minor", "odd, cause=x"};
  EXPECT_EQ(collection_text(whole),
            "from=1.000000001,to=2.000000000,pauses=3,before=9,after=4,total=16,kind=minor,cause=odd, cause=x");
  for (const Collection& each : {whole, Collection{.to = kTo, .pauses = 1}, Collection{.to = kTo, .after = 0}})
    EXPECT_EQ(read_collection(collection_text(each)), each);
}

TEST(CollectionOption, WhatIsNoneIsNotRead) {
  for (const char* text : {"", "much", "from=1.000000000", "to=x", "to=2.000000000,after=y", "to=2.000000000,pauses="})
    EXPECT_EQ(read_collection(text), std::nullopt) << text;
  EXPECT_EQ(read_collection("later=1,to=2.000000000"), (Collection{.to = kTo}));
}

}  // namespace
}  // namespace jtrace::trace
