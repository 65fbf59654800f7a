// The arguments of slow calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/trace/io/slow_trace.h"
#include "trace/io/slow_text.h"

namespace jtrace::trace::io {
namespace {

TEST_F(SlowTrace, ArgumentsThatExplainNothingAreExplainedOnce) {
  define(1, "serve");
  write(ClassDef{.classId = ClassId(8), .name = "shop/Order"});
  write(ObjDef{.objId = ObjectId(16), .classIdRef = ClassId(8)});
  const std::vector<Value> values = {{.objIdRef = ObjectId(16), .type = "OPAQUE"},
                                     {.objIdRef = ObjectId(17), .type = "OPAQUE"},
                                     {.objIdRef = ObjectId::none(), .type = "OPAQUE"},
                                     {.type = "OPAQUE"},
                                     {.type = "STRING", .value = "why?, #1"}};
  enter(1, 0, values);
  leave(300);
  EXPECT_EQ(calls()[0]["arguments"], "shop.Order#16, #17, null, ?, \"why?, #1\"");
  EXPECT_THAT(text_, HasSubstr("  #7: an object, by its number in the trace"));
  EXPECT_THAT(text_,
              HasSubstr("  a type (or ?) in the place of an argument: an array, or an object of a class without "));
  EXPECT_FALSE(opaque_arguments("\"a #1\", \"b?\", 7").objects);
  EXPECT_FALSE(opaque_arguments("\"?\"").unread);
}

TEST_F(SlowTrace, ArgumentsAreShownByTheirDeclaredTypeIfTheyHaveNoValue) {
  write(ClassDef{.classId = ClassId(8), .name = "shop/Order"});
  write(MethodDef{.name = "sell",
                  .signature = "(I[[JLjava/util/List;[Ljava/lang/String;)V",
                  .classIdRef = ClassId(8),
                  .methodId = MethodId(1)});
  const std::vector<Value> values = {
      {.type = "INT", .value = "7"}, {.type = "OPAQUE"}, {.type = "OPAQUE"}, {.type = "OPAQUE"}, {.type = "OPAQUE"}};
  enter(1, 0, values);
  leave(300);
  EXPECT_EQ(calls()[0]["arguments"], "7, long[][], java.util.List, java.lang.String[], ?");
  EXPECT_TRUE(opaque_arguments("7, long[][]").unread);
  EXPECT_TRUE(opaque_arguments("7, java.util.List").unread);
  EXPECT_FALSE(opaque_arguments("7, -1.5, \"a.b\", x.Y#7, NaN, true").unread);
}

TEST_F(SlowTrace, ATextCannotLookLikeTwoArguments) {
  define(1, "serve");
  const std::vector<Value> values = {{.type = "STRING", .value = "a\", \"b"},
                                     {.type = "STRING", .value = "\\\n\x01\x1b[1m"}};
  enter(1, 0, values);
  leave(300);
  EXPECT_EQ(calls()[0]["arguments"], R"("a\", \"b", "\\\n\u0001\u001b[1m")");
  EXPECT_FALSE(opaque_arguments(R"("a\", #1, \"b")").objects);
  EXPECT_TRUE(opaque_arguments(R"("a\", \"b", #1)").objects);
}

TEST_F(SlowTrace, ATextThatWasCutDoesNotLookWhole) {
  define(1, "serve");
  const std::vector<Value> values = {{.serializationFormat = "cut length=300", .type = "STRING", .value = "abc, d"},
                                     {.type = "INT", .value = "7"}};
  enter(1, 0, values);
  leave(300);
  EXPECT_EQ(calls()[0]["arguments"], R"("abc, d"..., 7)");
  EXPECT_FALSE(opaque_arguments(R"("abc, d"..., 7)").objects);
  EXPECT_TRUE(opaque_arguments(R"("abc, d"..., #7)").objects);
}

TEST_F(SlowTrace, TextOfTheTargetHasNoControlCharacters) {
  define(1, "a\x1b[2Jb");
  const std::vector<Value> values = {{.type = "STRING", .value = "x\ny"}};
  enter(1, 0, values);
  leave(900);
  calls();
  EXPECT_THAT(text_, HasSubstr("a?[2Jb(\"x\\ny\")"));
  EXPECT_THAT(text_, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace jtrace::trace::io
