#include "agent/methods/kept_values.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace jtrace::agent {
namespace {

class KeptValuesTest : public ::testing::Test {
 protected:
  bool keep(std::uint16_t depth, std::uint32_t method, std::uint8_t position, std::uint64_t bits,
            std::string_view text = "") {
    KeptValues::Value value{};
    value.bits = bits;
    value.method = method;
    value.depth = depth;
    value.position = position;
    return kept_->keep(value, text);
  }
  // "position:bits text" of each.
  std::vector<std::string> of(std::uint64_t depth, std::uint32_t method, bool results = false) const {
    std::vector<std::string> found;
    kept_->for_each(depth, method, results, [&](const KeptValues::Value& each, std::string_view text) {
      found.push_back(std::to_string(each.position) + ":" + std::to_string(each.bits) + " " + std::string(text));
    });
    return found;
  }
  using Texts = std::vector<std::string>;
  std::unique_ptr<KeptValues> kept_ = std::make_unique<KeptValues>();
};

constexpr std::uint8_t kResult = 255;

TEST_F(KeptValuesTest, EachCallHasItsOwn) {
  keep(0, 7, 0, 1);
  keep(0, 7, 1, 2, "two");
  keep(1, 7, 0, 3, "three");
  EXPECT_EQ(of(0, 7), (Texts{"0:1 ", "1:2 two"}));
  EXPECT_EQ(of(1, 7), Texts{"0:3 three"});
  EXPECT_EQ(of(1, 8), Texts{});
}

TEST_F(KeptValuesTest, ThoseOfCallsThatHaveEndedMakeRoom) {
  keep(0, 7, 0, 1);
  for (std::uint64_t i = 0; i < 2 * KeptValues::kMostValues; ++i) {
    ASSERT_TRUE(keep(1, 8, 0, i, "some text"));
    ASSERT_TRUE(keep(2, 9, 0, i));
    ASSERT_TRUE(keep(2, 9, kResult, i + 1));
  }
  EXPECT_EQ(of(0, 7), Texts{"0:1 "});
  EXPECT_EQ(of(1, 8), Texts{"0:1023 some text"});
  EXPECT_EQ(of(2, 9), Texts{"0:1023 "});
  EXPECT_EQ(of(2, 9, true), Texts{"255:1024 "});
  keep(1, 8, kResult, 5);
  EXPECT_EQ(of(1, 8), Texts{"0:1023 some text"});
  EXPECT_EQ(of(1, 8, true), Texts{"255:5 "});
  EXPECT_EQ(of(2, 9), Texts{});
  keep(1, 6, kResult, 6);  // a call without arguments in the same place
  EXPECT_EQ(of(1, 8), Texts{});
  EXPECT_EQ(of(1, 6, true), Texts{"255:6 "});
}

TEST_F(KeptValuesTest, WhatFindsNoRoomIsLeftOut) {
  std::uint16_t depth = 0;
  while (keep(depth, 7, 0, depth)) ++depth;
  EXPECT_EQ(depth, KeptValues::kMostValues);
  EXPECT_EQ(of(depth, 7), Texts{});
  EXPECT_EQ(of(3, 7), Texts{"0:3 "});
  EXPECT_TRUE(keep(3, 7, 0, 4));
  kept_->clear();
  const std::string large(KeptValues::kTextRoom, 'x');
  EXPECT_TRUE(keep(0, 7, 0, 1, large));
  EXPECT_FALSE(keep(1, 7, 0, 1, "x"));
  EXPECT_TRUE(keep(1, 7, 0, 1));
}

}  // namespace
}  // namespace jtrace::agent
