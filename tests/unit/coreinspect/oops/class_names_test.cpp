// One rule for the names of classes.
#include "coreinspect/oops/class_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testlib/must.h"

namespace jtrace::coreinspect {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kNames = {"java.nio.ByteOrder", "a.Order", "b.Till$Order", "Pair", "c.Pair",
                                         "a.OrderBook",        "a.Order"};

std::vector<std::size_t> meant(const std::string& word) { return test::must(classes_meant(kNames, word)); }

TEST(ClassNames, AWholeNameMeansThatClassOfEachLoader) {
  EXPECT_THAT(meant("a.Order"), ElementsAre(1, 6));
  EXPECT_THAT(meant("Pair"), ElementsAre(3)) << "and not c.Pair";
}

TEST(ClassNames, AShortNameMeansAllThatHaveIt) { EXPECT_THAT(meant("Order"), ElementsAre(1, 2, 6)); }

TEST(ClassNames, APatternMatchesTheWholeName) {
  EXPECT_THAT(meant("a.*"), ElementsAre(1, 5, 6));
  EXPECT_THAT(meant("*Order"), ElementsAre(0, 1, 2, 6));
}

TEST(ClassNames, APartOfANameMeansNothingAndIsAnswered) {
  const auto near = classes_meant(kNames, "a.Ordr");
  ASSERT_FALSE(near);
  EXPECT_EQ(near.error().category, ErrorCategory::kNotFound);
  EXPECT_EQ(near.error().help, "did you mean a.Order?");
  const auto part = classes_meant(kNames, "der");
  ASSERT_FALSE(part);
  EXPECT_THAT(part.error().message(), HasSubstr("'*der*' means 4 classes (a.Order, a.OrderBook, b.Till$Order, "));
}

TEST(ClassNames, AreNamedInASentence) {
  EXPECT_EQ(classes_text(std::vector<std::string>{"a.Order"}), "a.Order");
  EXPECT_EQ(classes_text(std::vector<std::string>{"a.Order", "b.Order"}), "2 classes (a.Order, b.Order)");
  EXPECT_EQ(classes_text(std::vector<std::string>{"a", "b", "c", "d", "e"}), "5 classes (a, b, c, d, ...)");
}

}  // namespace
}  // namespace jtrace::coreinspect
