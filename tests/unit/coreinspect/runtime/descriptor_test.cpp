#include "coreinspect/runtime/descriptor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace::coreinspect {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Descriptor, IsSplitIntoItsParameters) {
  EXPECT_THAT(parameter_types("(I[JLa/B;[[Lc/D;D)V"), ElementsAre("I", "[J", "La/B;", "[[Lc/D;", "D"));
  EXPECT_THAT(parameter_types("()V"), IsEmpty());
  EXPECT_THAT(parameter_types("(ILa/B"), ElementsAre("I"));
  EXPECT_THAT(parameter_types("([["), IsEmpty());
  EXPECT_THAT(parameter_types(""), IsEmpty());
}

TEST(Descriptor, LongAndDoubleTakeTwoSlots) {
  coreinspect::JavaMethod method{.signature = "(IJLa/B;D)V"};
  EXPECT_EQ(argument_words(method), 7u);
  EXPECT_EQ(argument_type(method, 0), "Ljava/lang/Object;");
  EXPECT_EQ(argument_type(method, 1), "I");
  EXPECT_EQ(argument_type(method, 2), "J");
  EXPECT_EQ(argument_type(method, 3), "");
  EXPECT_EQ(argument_type(method, 4), "La/B;");
  EXPECT_EQ(argument_type(method, 9), "");
  method.access = 0x0008;
  EXPECT_EQ(argument_words(method), 6u);
  EXPECT_EQ(argument_type(method, 0), "I");
}

}  // namespace
}  // namespace jtrace::coreinspect
