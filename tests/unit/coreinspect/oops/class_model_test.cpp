// Names of classes.
#include "coreinspect/oops/class_model.h"

#include <gtest/gtest.h>

namespace jtrace::coreinspect {
namespace {

TEST(ClassNames, AsJavaPrintsThem) {
  EXPECT_EQ(java_class_name("java/lang/String"), "java.lang.String");
  EXPECT_EQ(java_class_name("[[I"), "int[][]");
  EXPECT_EQ(java_class_name("[Ljava/lang/String;"), "java.lang.String[]");
  EXPECT_EQ(java_class_name("a/B$$Lambda$4+0x00007f75"), "a.B$$Lambda$4/0x00007f75");
}

}  // namespace
}  // namespace jtrace::coreinspect
