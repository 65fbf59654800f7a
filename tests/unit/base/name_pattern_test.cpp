#include "base/name_pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace jtrace {
namespace {

TEST(NamePattern, MatchesTheWholeName) {
  EXPECT_TRUE(matches_pattern("", ""));
  EXPECT_TRUE(matches_pattern("gc__begin", "gc__begin"));
  EXPECT_FALSE(matches_pattern("gc__begin", "gc__begin2"));
  EXPECT_FALSE(matches_pattern("gc__begin2", "gc__begin"));
  EXPECT_FALSE(matches_pattern("", "x"));
}

TEST(NamePattern, AStarTakesAnyPartAndAQuestionMarkOneCharacter) {
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_TRUE(matches_pattern("*", "java.lang.String"));
  EXPECT_TRUE(matches_pattern("java.*", "java."));
  EXPECT_TRUE(matches_pattern("*Map", "java.util.HashMap"));
  EXPECT_FALSE(matches_pattern("*Map", "java.util.HashMap$Node"));
  EXPECT_TRUE(matches_pattern("*a*b*", "xxaxxabxx"));
  EXPECT_TRUE(matches_pattern("*ab", "aab"));  // the star must match one character more than at first
  EXPECT_FALSE(matches_pattern("*ab*c", "aabbb"));
  EXPECT_TRUE(matches_pattern("gc__??d", "gc__end"));
  EXPECT_FALSE(matches_pattern("?", ""));
}

TEST(NamePattern, BracketsAreCharacters) {
  EXPECT_TRUE(matches_pattern("[Ljava*", "[Ljava.lang.Object;"));
  EXPECT_FALSE(matches_pattern("[ab]", "a"));
}

TEST(NamePattern, ManyStarsTakeNoLongTime) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_FALSE(matches_pattern(pattern + "b", std::string(10'000, 'a')));
}

TEST(NamePattern, WithoutStarsAPartOfTheNameIsEnoughToBeChosen) {
  EXPECT_TRUE(is_chosen("", "any"));
  EXPECT_TRUE(is_chosen("worker", "my worker 1"));
  EXPECT_FALSE(is_chosen("work?r", "my worker 1"));
  EXPECT_TRUE(is_chosen("*work?r*", "my worker 1"));
}

TEST(NamePattern, AShortNameIsTheEndAfterADotOrADollar) {
  EXPECT_TRUE(is_short_name("Order", "shop.Order"));
  EXPECT_TRUE(is_short_name("Order", "shop.Till$Order"));
  EXPECT_TRUE(is_short_name("Till$Order", "shop.Till$Order"));
  EXPECT_TRUE(is_short_name("Order[]", "shop.Order[]"));
  EXPECT_FALSE(is_short_name("Order", "java.nio.ByteOrder"));
  EXPECT_FALSE(is_short_name("Order", "Order")) << "that is the whole name";
  EXPECT_FALSE(is_short_name("", "shop."));
}

}  // namespace
}  // namespace jtrace
