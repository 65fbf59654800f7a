#include "agent/classfile/handler_use.h"

#include <gtest/gtest.h>

#include "tests/unit/agent/classfile/class_text.h"

namespace jtrace::agent::classfile {
namespace {

constexpr std::uint8_t kAload1 = 43, kAstore1 = 76, kAconstNull = 1, kIstore1 = 60, kLstore0 = 63, kPop = 87;

// Of the handler of the first entry.
HandlerUse use_in(const TestMethod& method) {
  const Bytes bytes = test_class(method, 49);
  ClassFile klass;
  EXPECT_TRUE(klass.parse(bytes));
  MethodCode code;
  EXPECT_TRUE(code.read(klass, klass.methods().at(0)));
  HandlerUses uses;
  uses.begin_method();
  return uses.of(code, code.index_at(code.handlers().at(0).target));
}
// A handler at 1, for a nop at 0.
HandlerUse use_by(Bytes handler) {
  handler.insert(handler.begin(), 0);
  return use_in({.code = handler, .handlers = {{0, 1, 1}}});
}

TEST(HandlerUse, WhatIsPoppedOrNeverLoadedIsDropped) {
  EXPECT_EQ(use_by({kPop, kReturn}), HandlerUse::kDrops);
  EXPECT_EQ(use_by({kAstore1, kReturn}), HandlerUse::kDrops);
  EXPECT_EQ(use_by({kAstore, 1, kAload0, kPop, kReturn}), HandlerUse::kDrops);
  EXPECT_EQ(use_by({kWide, kAstore, 0, 1, kAload0, kPop, kReturn}), HandlerUse::kDrops);
}

TEST(HandlerUse, WhatIsLoadedIsUsed) {
  EXPECT_EQ(use_by({kAstore1, kAload1, kPop, kReturn}), HandlerUse::kUses);
  EXPECT_EQ(use_by({kWide, kAstore, 1, 44, kAload, 0xff, kWide, kAload, 1, 44, kPop, kReturn}), HandlerUse::kUses);
  EXPECT_EQ(use_by({kDup, kPop, kPop, kReturn}), HandlerUse::kUses);
  EXPECT_EQ(use_by({kInvokestatic, 0, 1, kReturn}), HandlerUse::kUses);
}

TEST(HandlerUse, ThrowingItOnIsNoUse) {
  EXPECT_EQ(use_by({kAthrow}), HandlerUse::kDrops);
  EXPECT_EQ(use_by({kAstore1, kAload1, kAthrow}), HandlerUse::kDrops);
  EXPECT_EQ(use_by({kAstore1, kIconst0, kIfeq, 0, 5, kAload1, kAthrow, kReturn}), HandlerUse::kDrops);
}

TEST(HandlerUse, ALocalWithAnotherValueIsNotTheException) {
  EXPECT_EQ(use_by({kAstore1, kAconstNull, kAstore1, kAload1, kPop, kReturn}), HandlerUse::kDrops);
  EXPECT_EQ(use_by({kAstore1, kIconst0, kIstore1, kIload, 1, kPop, kReturn}), HandlerUse::kDrops);
  // A long takes two locals.
  EXPECT_EQ(use_by({kAstore1, 9, kLstore0, kAload1, kPop, kReturn}), HandlerUse::kDrops);
}

TEST(HandlerUse, EveryWayOfTheCodeIsFollowed) {
  // 1: astore_1; 2: iconst_0; 3: ifeq 9; 6: aconst_null; 7: astore_1; 8: nop; 9: aload_1; 10: pop; 11: return
  EXPECT_EQ(use_by({kAstore1, kIconst0, kIfeq, 0, 6, kAconstNull, kAstore1, 0, kAload1, kPop, kReturn}),
            HandlerUse::kUses);
  // Back to where the method began: 1: astore_1; 2: goto 0
  EXPECT_EQ(use_by({kAstore1, kGoto, 0xff, 0xfe}), HandlerUse::kDrops);
}

TEST(HandlerUse, WhatTheCallerGetsIsUsed) { EXPECT_EQ(use_by({176}), HandlerUse::kUses); }  // areturn

// 0: nop; 1: astore_1; 2: iconst_0; 3: pop; 4: return; 5: pop; 6: aload_1; 7: pop; 8: return
TEST(HandlerUse, AHandlerWithinTheHandlerMayReadIt) {
  const Bytes code = {0, kAstore1, kIconst0, kPop, kReturn, kPop, kAload1, kPop, kReturn};
  EXPECT_EQ(use_in({.code = code, .handlers = {{0, 1, 1}, {2, 4, 5}}}), HandlerUse::kUses);
  EXPECT_EQ(use_in({.code = code, .handlers = {{0, 1, 1}, {0, 1, 5}}}), HandlerUse::kDrops);
}

TEST(HandlerUse, AMethodOfTooManyHandlersIsNotFollowed) {
  Bytes code(60'000, 0);
  code[1] = kAstore1;
  code.back() = kReturn;
  TestMethod method{.code = code, .handlers = {{0, 1, 1}}};
  for (int i = 0; i < 500; ++i) method.handlers.push_back(method.handlers[0]);
  EXPECT_EQ(use_in(method), HandlerUse::kUnknown);
}

TEST(HandlerUse, LineAndUseAreOneArgument) {
  for (const HandlerUse use : {HandlerUse::kDrops, HandlerUse::kUses})
    for (const std::uint32_t line : {0u, 1u, 0x7ffeu}) {
      EXPECT_EQ(use_of_caught(caught_argument(line, use)), use) << line;
      EXPECT_EQ(line_of_caught(caught_argument(line, use)), line);
    }
  EXPECT_EQ(line_of_caught(caught_argument(40'000, HandlerUse::kDrops)), 0u);
  EXPECT_EQ(use_of_caught(caught_argument(40'000, HandlerUse::kDrops)), HandlerUse::kDrops);
  EXPECT_EQ(use_of_caught(caught_argument(5, HandlerUse::kUnknown)), HandlerUse::kUnknown);
  EXPECT_EQ(line_of_caught(caught_argument(5, HandlerUse::kUnknown)), 0u);
}

}  // namespace
}  // namespace jtrace::agent::classfile
