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

TEST_F(SlowTrace, WhatMostSlowCallsHaveInCommonIsSaid) {
  define(1, "quote");
  for (std::uint64_t i = 0; i < 5; ++i) {
    const std::string id = std::to_string(i);
    const std::vector<Value> values = {{.type = "INT", .value = id},
                                       {.type = "STRING", .value = "NO, and on"},
                                       {.type = "STRING", .value = i == 2 ? "B" : "A"},
                                       {.type = "OPAQUE"}};
    enter(1, 1000 * i, values);
    leave(1000 * i + 300);
  }
  calls(200, 2);
  EXPECT_THAT(text_, HasSubstr("  in common (quick calls may have it too):\n"
                               "    5 slow calls of quote: argument 2 is \"NO, and on\" in all of them, "
                               "argument 3 is \"A\" in 4 of them\n"));
  const json& common = all_["commonArguments"];
  ASSERT_EQ(common.size(), 1u);
  EXPECT_EQ(common[0]["calls"], 5);
  ASSERT_EQ(common[0]["arguments"].size(), 2u) << "not what differs, nor what could not be read";
  EXPECT_EQ(common[0]["arguments"][1]["position"], 3);
  EXPECT_EQ(common[0]["arguments"][1]["calls"], 4);
}

// Of calls that are shown below their callers too.
TEST_F(SlowTrace, HowTheTextsOfSlowCallsBeginOrEndIsSaid) {
  define(1, "page");
  define(2, "search");
  for (std::uint64_t i = 0; i < 5; ++i) {
    const std::string word = std::string("*") + static_cast<char>('a' + i) + "x.pdf";
    enter(1, 1000 * i);
    enter(2, 1000 * i, {{.type = "STRING", .value = word}, {.type = "INT", .value = std::to_string(i)}});
    leave(1000 * i + 280);
    leave(1000 * i + 300);
  }
  calls(200);
  EXPECT_THAT(text_, HasSubstr("    5 slow calls of search: argument 1 begins with \"*\" in all of them, "
                               "argument 1 ends with \"x.pdf\" in all of them\n"));
  const json& common = all_["commonArguments"][0]["arguments"];
  ASSERT_EQ(common.size(), 2u);
  EXPECT_EQ(common[0]["beginsWith"], "*");
  EXPECT_EQ(common[1]["endsWith"], "x.pdf");
}

TEST_F(SlowTrace, OfFewSlowCallsNothingIsInCommon) {
  define(1, "quote");
  for (std::uint64_t i = 0; i < 3; ++i) {
    enter(1, 1000 * i, {{.type = "INT", .value = "7"}});
    leave(1000 * i + 300);
  }
  calls(200);
  EXPECT_THAT(text_, Not(HasSubstr("in common")));
  EXPECT_TRUE(all_["commonArguments"].empty());
}

}  // namespace
}  // namespace jtrace::trace::io
