#include "perfdata/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace::perfdata {
namespace {

using ::testing::HasSubstr;

std::optional<double> values(const Expression::Name& name) {
  if (name.rate) return name.text == "a" ? std::optional(0.5) : std::nullopt;
  if (name.text == "a") return 10;
  if (name.text == "sun.b_2") return 20;
  return std::nullopt;
}

bool holds(std::string_view text) {
  auto expression = Expression::parse(text);
  EXPECT_TRUE(expression) << expression.error().message();
  return expression && expression->holds(values);
}

std::string complaint(std::string_view text) {
  auto expression = Expression::parse(text);
  if (expression) return "";
  EXPECT_EQ(exit_status(expression.error()), ExitStatus::kUsage);
  return expression.error().text;
}

TEST(Expression, Comparisons) {
  EXPECT_TRUE(holds("a < sun.b_2"));
  EXPECT_TRUE(holds("a<=10 and a>=10 and a==10 and a=10"));
  EXPECT_FALSE(holds("a != 10"));
  EXPECT_FALSE(holds("a > sun.b_2"));
}

TEST(Expression, ArithmeticBindsBeforeComparison) {
  EXPECT_TRUE(holds("a + 2 * 5 == 20"));
  EXPECT_TRUE(holds("(a + 2) * 5 == 60"));
  EXPECT_TRUE(holds("-a < 0 - 9"));
  EXPECT_TRUE(holds("a - 5 - 5 == 0"));
  EXPECT_TRUE(holds("sun.b_2 / a / 2 == 1"));
}

TEST(Expression, AndBindsBeforeOr) {
  EXPECT_TRUE(holds("a > 5 or a > 100 and a > 200"));
  EXPECT_FALSE(holds("(a > 5 or a > 100) and a > 200"));
  EXPECT_TRUE(holds("not a > 100 && !(a == 3) || a > 7"));
}

TEST(Expression, UnitsOfNumbers) {
  EXPECT_TRUE(holds("a > 5%"));
  EXPECT_TRUE(holds("5% == 0.05"));
  EXPECT_TRUE(holds("1500ms == 1.5s and 2m == 120 and 2min == 120 and 1h == 3600 and 1d == 24h"));
  EXPECT_TRUE(holds("2K == 2048 and 1M == 1048576 and 1G == 1024M"));
  EXPECT_TRUE(holds("2KB == 2048 and 1MiB == 1M and 1GB == 1024MB"));
  EXPECT_THAT(complaint("a > 5kg"), HasSubstr("character 6: no such unit"));
}

TEST(Expression, Rates) {
  EXPECT_TRUE(holds("rate(a) == 0.5"));
  EXPECT_TRUE(holds("rate( a )*2 >= 1"));
  auto expression = Expression::parse("rate(a) > 1 and a > 2 and rate(a) < 5");
  ASSERT_TRUE(expression);
  EXPECT_EQ(expression->names(), (std::vector<Expression::Name>{{"a", true}, {"a", false}}));
}

TEST(Expression, WhatIsUnknownHoldsNeitherWay) {
  EXPECT_FALSE(holds("nowhere > 0"));
  EXPECT_FALSE(holds("not nowhere > 0"));
  EXPECT_TRUE(holds("nowhere > 0 or a == 10"));
  EXPECT_FALSE(holds("nowhere > 0 and a == 10"));
  EXPECT_FALSE(holds("a / 0 > 1"));
}

TEST(Expression, FaultsNameTheirPlace) {
  EXPECT_THAT(complaint(""), HasSubstr("character 1: something is missing"));
  EXPECT_THAT(complaint("a"), HasSubstr("a comparison is missing"));
  EXPECT_THAT(complaint("a >"), HasSubstr("character 4: something is missing"));
  EXPECT_THAT(complaint("a > 1 b"), HasSubstr("character 7: this was not expected"));
  EXPECT_THAT(complaint("(a > 1"), HasSubstr("closing parenthesis"));
  EXPECT_THAT(complaint("a > 1 and 3"), HasSubstr("a comparison is missing"));
  EXPECT_THAT(complaint("(a > 1) + 3 > 2"), HasSubstr("before this must be a number"));
  EXPECT_THAT(complaint("a > ?"), HasSubstr("character 5: a name or a number"));
  EXPECT_THAT(complaint(std::string(5000, '(')), HasSubstr("nested too deep"));
  EXPECT_THAT(complaint(std::string(5000, '!')), HasSubstr("nested too deep"));
}

TEST(Expression, WordsAreNotPartsOfNames) {
  EXPECT_THAT(complaint("a > 1 order"), HasSubstr("this was not expected"));
  EXPECT_FALSE(holds("notes > 1"));
}

}  // namespace
}  // namespace jtrace::perfdata
