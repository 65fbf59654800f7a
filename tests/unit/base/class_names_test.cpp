// One rule for the names of classes; more of it in tests/unit/coreinspect/oops/class_names_test.cpp.
#include "base/class_names.h"

#include <gtest/gtest.h>

namespace jtrace {
namespace {

TEST(ClassNames, AnArrayIsMeantByItsElements) {
  const std::vector<std::string> names = {"java.lang.Byte", "byte[]", "byte[][]"};
  const auto near = classes_meant(names, "byte", "ask");
  ASSERT_FALSE(near);
  EXPECT_EQ(near.error().category, ErrorCategory::kNotFound);
  EXPECT_EQ(near.error().help, "did you mean byte[]?");
  EXPECT_EQ(classes_meant(names, "zoo.Elephant", "ask").error().help, "ask");
}

TEST(ClassNames, APatternIsOfTheWholeName) {
  const std::vector<std::string> names = {"shop.Order", "shop.OrderBook", "shop.Till"};
  EXPECT_EQ(classes_meant(names, "Order*", "ask").error().help,
            "a pattern is of the whole name: '*Order*' means 2 classes (shop.Order, shop.OrderBook)");
  EXPECT_EQ(classes_meant(names, "*Book?", "ask").error().help, "ask");
  EXPECT_EQ(classes_meant(names, "rder", "ask").error().help, "'*rder*' means 2 classes (shop.Order, shop.OrderBook)");
}

}  // namespace
}  // namespace jtrace
