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

}  // namespace
}  // namespace jtrace
