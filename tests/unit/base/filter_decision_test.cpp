#include "base/filter_decision.h"

#include <gtest/gtest.h>

#include <vector>

namespace jtrace {
namespace {

struct Rule {
  std::string_view class_pattern, method_pattern;
  bool include;
};
using Rules = std::vector<Rule>;

TEST(FilterDecision, APatternHasOneStarAtTheStartOrTheEnd) {
  EXPECT_TRUE(matches_filter("*", "anything"));
  EXPECT_TRUE(matches_filter("java/util/*", "java/util/List"));
  EXPECT_FALSE(matches_filter("java/util/*", "java/lang/String"));
  EXPECT_TRUE(matches_filter("*Test", "a/b/MyTest"));
  EXPECT_FALSE(matches_filter("*Test", "a/Tests"));
  EXPECT_TRUE(matches_filter("a/B", "a/B"));
  EXPECT_FALSE(matches_filter("a/B", "a/BC"));
  EXPECT_FALSE(matches_filter("a/?", "a/B"));
}

TEST(FilterDecision, TheFirstRuleThatMatchesDecides) {
  const Rules rules = {{"java/util/List", "*", true}, {"java/*", "*", false}};
  EXPECT_TRUE(includes_class(rules, "java/util/List"));
  EXPECT_FALSE(includes_class(rules, "java/util/Map"));
  EXPECT_TRUE(includes_class(rules, "app/Main")) << "no rule matches";
  EXPECT_FALSE(includes_method(rules, "java/util/Map", "get"));
  EXPECT_TRUE(includes_method(rules, "java/util/List", "get"));
}

TEST(FilterDecision, ARuleForOneMethodKeepsItsClass) {
  const Rules rules = {{"app/A", "run", true},
                       {"app/B", "run", false},
                       {"app/C", "run", false},
                       {"app/C", "*", true},
                       {"*", "*", false}};
  EXPECT_TRUE(includes_class(rules, "app/A"));
  EXPECT_FALSE(includes_class(rules, "app/B")) << "the last rule decides, not that for a method";
  EXPECT_TRUE(includes_class(rules, "app/C"));
  EXPECT_TRUE(includes_method(rules, "app/A", "run"));
  EXPECT_FALSE(includes_method(rules, "app/A", "stop"));
  EXPECT_FALSE(includes_method(rules, "app/C", "run"));
  EXPECT_TRUE(includes_method(rules, "app/C", "stop"));
}

}  // namespace
}  // namespace jtrace
