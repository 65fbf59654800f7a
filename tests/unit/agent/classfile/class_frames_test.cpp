#include "agent/classfile/class_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/agent/classfile/class_text.h"

namespace jtrace::agent::classfile {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

// Base <- Left <- Deep, Base <- Right; Face is an interface; Lost cannot be found.
class Family final : public ClassHierarchy {
 public:
  Answer super_of(std::string_view name) override {
    static const std::map<std::string, std::string, std::less<>> kSupers = {{"Base", "java/lang/Object"},
                                                                            {"Left", "Base"},
                                                                            {"Right", "Base"},
                                                                            {"Deep", "Left"},
                                                                            {"Face", "java/lang/Object"},
                                                                            {"java/lang/String", "java/lang/Object"}};
    const auto found = kSupers.find(name);
    if (found == kSupers.end()) return {};
    return {true, name == "Face", found->second};
  }
};

// Class constants of these names, at the indices 2, 4, 6...
std::vector<Bytes> classes(std::initializer_list<std::string_view> names) {
  std::vector<Bytes> made;
  for (const std::string_view name : names) {
    made.push_back(text_constant(name));
    Bytes klass;
    put1(klass, 7);
    put2(klass, static_cast<unsigned>(made.size()));
    made.push_back(klass);
  }
  return made;
}

struct Completed {
  Bytes bytes;
  ClassFile klass;
  FrameReport report;
  bool done = false;
  ReadMethod method;

  std::string name_at(std::size_t at) const { return std::string(klass.class_name(u2_at(&method.frames[at]))); }
};

Completed complete(const Bytes& bytes) {
  Completed made;
  ClassFile before;
  EXPECT_TRUE(before.parse(bytes));
  Family family;
  made.done = complete_frames(before, family, made.report, made.bytes);
  if (!made.done) return made;
  EXPECT_TRUE(made.klass.parse(made.bytes));
  made.method = read_method(made.klass);
  return made;
}

constexpr std::uint8_t kNull = 1, kAload1 = 43, kAstore1 = 76, kCheckcast = 192, kAreturn = 176;

// static Object work(int): one of two null references, cast to the classes at `a` and `b`; it is returned where they
// merge.
Bytes two_ways(std::uint8_t a, std::uint8_t b, const std::vector<Bytes>& constants) {
  return test_class({.descriptor = "(I)Ljava/lang/Object;",
                     .code = {kIload0, kIfeq, 0, 11, kNull, kCheckcast, 0, a, kAstore1, kGoto, 0, 8,  // to 17
                              kNull, kCheckcast, 0, b, kAstore1, kAload1, kAreturn}},
                    52, constants);
}

TEST(ClassFrames, ABranchGetsItsFrame) {
  const Completed made = complete(
      test_class({.descriptor = "(I)I", .code = {kIload0, kIfeq, 0, 5, kIconst0, kIreturn, kIconst0, kIreturn}}, 52));
  ASSERT_TRUE(made.done);
  EXPECT_EQ(made.report.completed, 1u);
  EXPECT_THAT(made.method.frames, ElementsAre(0, 1, 6));  // same_frame at 6
}

TEST(ClassFrames, WhereTwoClassesMeetTheirNearestSuperclassHolds) {
  const std::vector<Bytes> names = classes({"Deep", "Right", "Face", "Lost", "Left"});
  const auto met = [&](std::uint8_t a, std::uint8_t b) {
    const Completed made = complete(two_ways(a, b, names));
    // Frames at 12 (as at the start) and 17: 255, delta, 2 locals: int, object, no stack.
    EXPECT_TRUE(made.done);
    EXPECT_EQ(made.method.frames.size(), 2u + 1 + 3 + 2 + 1 + 3 + 2);
    return made.name_at(10) + " " + std::to_string(made.report.guesses);
  };
  EXPECT_EQ(met(2, 4), "Base 0");
  EXPECT_EQ(met(2, 10), "Left 0");
  EXPECT_EQ(met(2, 2), "Deep 0");
  EXPECT_EQ(met(2, 6), "java/lang/Object 0");
  EXPECT_EQ(met(8, 8), "Lost 0");
  EXPECT_EQ(met(2, 8), "java/lang/Object 1");
}

TEST(ClassFrames, ArraysMeetByTheirElements) {
  const std::vector<Bytes> names = classes({"[LDeep;", "[LRight;", "[I", "[[I", "[J", "[[J", "Base"});
  const auto met = [&](std::uint8_t a, std::uint8_t b) { return complete(two_ways(a, b, names)).name_at(10); };
  EXPECT_EQ(met(2, 4), "[LBase;");
  EXPECT_EQ(met(2, 6), "java/lang/Object");
  EXPECT_EQ(met(2, 8), "[Ljava/lang/Object;");
  EXPECT_EQ(met(6, 10), "java/lang/Object");
  EXPECT_EQ(met(8, 12), "[Ljava/lang/Object;");
  EXPECT_EQ(met(2, 14), "java/lang/Object");
}

TEST(ClassFrames, HalfMadeObjectsAreNamedByTheirNew) {
  // new Base; dup; iload_0; ifeq 11; nop; goto 11; 11: pop2; return
  const Completed made = complete(
      test_class({.descriptor = "(I)V", .code = {kNew, 0, 2, kDup, kIload0, kIfeq, 0, 6, kGoto, 0, 3, 88, kReturn}}, 52,
                 classes({"Base"})));
  ASSERT_TRUE(made.done);
  // full frame at 11: one int; stack: two made at 0
  EXPECT_THAT(made.method.frames, ElementsAre(0, 1, 255, 0, 11, 0, 1, 1, 0, 2, 8, 0, 0, 8, 0, 0));
}

TEST(ClassFrames, AConstructorBeforeItsSuperCall) {
  // iload_1; ifeq 4; 4: return (the JVM would refuse it later; only the types matter here)
  const Completed made = complete(
      test_class({.name = "<init>", .descriptor = "(I)V", .access = 1, .code = {27, kIfeq, 0, 3, kReturn}}, 52));
  ASSERT_TRUE(made.done);
  EXPECT_THAT(made.method.frames, ElementsAre(0, 1, 4));  // same as at the start
}

TEST(ClassFrames, AHandlerKnowsWhatHoldsEverywhereInItsRange) {
  // iconst_0; istore_1; aconst_null; astore_1; return; 5: athrow, handler of [1, 5)
  const Completed made = complete(test_class(
      {.descriptor = "(I)V", .code = {kIconst0, 60, kNull, kAstore1, kReturn, kAthrow}, .handlers = {{1, 5, 5}}}, 52));
  ASSERT_TRUE(made.done);
  ASSERT_EQ(made.method.frames.size(), 2u + 4);
  EXPECT_THAT(Bytes(made.method.frames.begin(), made.method.frames.begin() + 4), ElementsAre(0, 1, 64 + 5, 7));
  EXPECT_EQ(made.name_at(4), "java/lang/Throwable");
}

TEST(ClassFrames, LongsHaveTwoPlaces) {
  // lconst_0; lstore_1; 2: iload_0; ifeq 2; return
  const Completed made =
      complete(test_class({.descriptor = "(I)V", .code = {9, 64, kIload0, kIfeq, 0xff, 0xff, kReturn}}, 52));
  ASSERT_TRUE(made.done);
  EXPECT_THAT(made.method.frames, ElementsAre(0, 1, 255, 0, 2, 0, 2, 1, 4, 0, 0));
  // lconst_0; lstore_1; 2: iconst_0; istore_2; iload_0; ifeq 2; return: half of a long is nothing
  const Completed half =
      complete(test_class({.descriptor = "(I)V", .code = {9, 64, 3, 61, kIload0, kIfeq, 0xff, 0xfd, kReturn}}, 52));
  ASSERT_TRUE(half.done);
  EXPECT_THAT(half.method.frames, ElementsAre(0, 1, 2));  // only the argument
}

TEST(ClassFrames, WhatNothingReachesBecomesAThrowThatNoHandlerCovers) {
  // goto 6; 3: iconst_0; pop; nop; 6: return; 7: athrow, handler of [0, 7)
  const Completed made =
      complete(test_class({.code = {kGoto, 0, 6, kIconst0, 87, 0, kReturn, kAthrow}, .handlers = {{0, 7, 7}}}, 52));
  ASSERT_TRUE(made.done);
  EXPECT_THAT(made.method.code, ElementsAreArray(Bytes{kGoto, 0, 6, 0, 0, kAthrow, kReturn, kAthrow}));
  ASSERT_EQ(made.method.handlers.size(), 2u);
  EXPECT_EQ(made.method.handlers[0].end, 3u);
  EXPECT_EQ(made.method.handlers[1].start, 6u);
  EXPECT_EQ(u2_at(made.method.frames.data()), 3);
}

TEST(ClassFrames, TablesThatFitStayAndOthersGo) {
  TestMethod method{.descriptor = "(I)I", .code = {kIload0, kIfeq, 0, 5, kIconst0, kIreturn, kIconst0, kIreturn}};
  method.frames = {0, 1, 6};
  EXPECT_FALSE(complete(test_class(method, 52)).done);
  method.frames = {0, 1, 2};  // inside an instruction
  EXPECT_THAT(complete(test_class(method, 52)).method.frames, ElementsAre(0, 1, 6));
  method.frames = {0, 1, 4};  // at an instruction that needs no frame
  EXPECT_THAT(complete(test_class(method, 52)).method.frames, ElementsAre(0, 1, 6));
  method.frames = {0, 9, 6};  // truncated
  EXPECT_THAT(complete(test_class(method, 52)).method.frames, ElementsAre(0, 1, 6));
}

TEST(ClassFrames, WhatNeedsNoneOrCannotBeFollowedIsLeftAlone) {
  const TestMethod branch{.descriptor = "(I)I", .code = {kIload0, kIfeq, 0, 5, kIconst0, kIreturn, kIconst0, kIreturn}};
  EXPECT_FALSE(complete(test_class(branch, 50)).done);  // the JVM uses the old verifier for it
  EXPECT_FALSE(complete(test_class({.code = {kReturn}}, 52)).done);
  const Completed routine = complete(test_class({.code = {kJsr, 0, 3, kReturn}}, 52));
  EXPECT_FALSE(routine.done);
  EXPECT_EQ(routine.report.left, 1u);
  const Completed underflow = complete(test_class({.code = {87, kGoto, 0xff, 0xff}}, 52));
  EXPECT_FALSE(underflow.done);
  EXPECT_EQ(underflow.report.left, 1u);
}

}  // namespace
}  // namespace jtrace::agent::classfile
