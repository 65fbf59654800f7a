#include "agent/classfile/class_rewriter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/classfile/bytecode.h"
#include "tests/unit/agent/classfile/class_text.h"

namespace jtrace::agent::classfile {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// A method before and after.
struct Rewritten {
  Bytes bytes;
  ClassFile klass;
  MethodPlan plan;
  ClassOutcome outcome = ClassOutcome::kMalformed;
  ReadMethod method;
  std::vector<Instruction> instructions;
  std::vector<std::uint32_t> index_at;

  // Name of the helper's method that the call at pc calls; "" if there is none.
  std::string callee(std::uint32_t pc) const {
    if (pc >= method.code.size() || method.code[pc] != kInvokestatic) return "";
    const ClassFile::Reference to = klass.method_reference(u2_at(&method.code[pc + 1]));
    return to.owner == "test/Helper" ? std::string(to.name) : "";
  }
  // Names of all calls of the helper in the order of the code.
  std::vector<std::string> callouts() const {
    std::vector<std::string> names;
    for (const Instruction& each : instructions)
      if (const std::string name = callee(each.old_pc); !name.empty()) names.push_back(name);
    return names;
  }
  std::uint32_t target_pc(const Instruction& jump) const { return instructions[jump.target].old_pc; }
};

// The number of a callee is the length of its name.
std::uint32_t number_of(void*, const ClassFile::Reference& callee, bool) {
  return static_cast<std::uint32_t>(callee.name.size());
}

Rewritten rewrite(Bytes bytes, std::uint32_t callouts, std::uint32_t number = 7, CalleeNumbers callees = {}) {
  Rewritten made;
  ClassFile before;
  EXPECT_TRUE(before.parse(bytes));
  std::vector<MethodPlan> plans(before.methods().size(), MethodPlan{.number = number, .callouts = callouts});
  made.outcome = rewrite_class(before, "test/Helper", plans, made.bytes, callees);
  made.plan = plans.at(0);
  if (made.outcome != ClassOutcome::kRewritten) return made;
  EXPECT_TRUE(made.klass.parse(made.bytes));
  EXPECT_EQ(made.klass.name(), before.name());
  made.method = read_method(made.klass);
  EXPECT_TRUE(decode(made.method.code, made.instructions, made.index_at));
  return made;
}

TEST(ClassRewriter, ValuesOfArgumentsAndOfTheResult) {
  TestMethod method{.code = {9, 173}};  // lconst_0; lreturn
  method.descriptor = "(I[JDLjava/lang/String;F)J";
  const Rewritten done =
      rewrite(test_class(method, 49), kCalloutEntry | kCalloutExit | kCalloutArguments | kCalloutResult);
  ASSERT_EQ(done.outcome, ClassOutcome::kRewritten);
  EXPECT_THAT(done.callouts(),
              ElementsAre("value", "value", "value", "value", "value", "enter", "value", "exit", "leave"));
  std::vector<std::pair<int, int>> loads;  // opcode, local
  for (const Instruction& each : done.instructions)
    if (each.op >= kIload && each.op <= kAload) loads.emplace_back(each.op, done.method.code[each.old_pc + 1]);
  EXPECT_THAT(loads, ElementsAre(Pair(21, 0), Pair(25, 1), Pair(24, 2), Pair(25, 4), Pair(23, 5)));
}

TEST(ClassRewriter, EntryAndExitAroundStraightCode) {
  // nop; nop; return
  const Rewritten done = rewrite(test_class({.code = {0, 0, kReturn}, .lines = {{0, 10}, {2, 11}}, .locals = {{0, 3}}}),
                                 kCalloutEntry | kCalloutExit);
  ASSERT_EQ(done.outcome, ClassOutcome::kRewritten);
  EXPECT_EQ(done.plan.outcome, Outcome::kRewritten);
  EXPECT_THAT(done.callouts(), ElementsAre("enter", "exit", "leave"));
  // bipush 7, invokestatic | nop nop | bipush 7, invokestatic, return | bipush 7, invokestatic, athrow
  ASSERT_EQ(done.method.code.size(), 5u + 2u + 6u + 6u);
  EXPECT_EQ(done.method.code[1], 7);
  EXPECT_EQ(done.method.code[12], kReturn);
  EXPECT_EQ(done.method.code.back(), kAthrow);
  EXPECT_THAT(done.method.lines, ElementsAre(Pair(0, 10), Pair(7, 11)));
  EXPECT_THAT(done.method.locals, ElementsAre(Pair(0, 13)));
  // An exception of the exit's callout is not an exit by exception.
  ASSERT_EQ(done.method.handlers.size(), 1u);
  EXPECT_EQ(done.method.handlers[0].start, 5u);
  EXPECT_EQ(done.method.handlers[0].end, 7u);
  EXPECT_EQ(done.method.handlers[0].target, 13u);
  // One frame: at 13, no locals, a Throwable.
  ASSERT_EQ(done.method.frames.size(), 2u + 1 + 2 + 2 + 2 + 3);
  EXPECT_EQ(done.method.frames[2], 255);
  EXPECT_EQ(u2_at(&done.method.frames[3]), 13);
  EXPECT_EQ(done.klass.class_name(u2_at(&done.method.frames[10])), "java/lang/Throwable");
}

TEST(ClassRewriter, AnInstanceMethodCanPassItsReceiver) {
  const Rewritten instance = rewrite(test_class({.access = 0, .code = {kReturn}}), kCalloutEntry | kCalloutReceiver);
  EXPECT_THAT(instance.callouts(), ElementsAre("received"));
  EXPECT_EQ(instance.method.code[0], kAload0);
  const Rewritten is_static =
      rewrite(test_class({.access = kAccStatic, .code = {kReturn}}), kCalloutEntry | kCalloutReceiver);
  EXPECT_THAT(is_static.callouts(), ElementsAre("enter"));
  const Rewritten constructor =
      rewrite(test_class({.name = "<init>", .access = 0, .code = {kReturn}}), kCalloutEntry | kCalloutReceiver);
  EXPECT_THAT(constructor.callouts(), ElementsAre("enter"));
}

TEST(ClassRewriter, ClassFilesBeforeVersion50GetNoFrames) {
  const Rewritten done = rewrite(test_class({.code = {kReturn}}, 49), kCalloutEntry | kCalloutExit);
  ASSERT_EQ(done.outcome, ClassOutcome::kRewritten);
  EXPECT_TRUE(done.method.frames.empty());
}

TEST(ClassRewriter, NumbersArePushedInTheShortestWay) {
  for (const auto& [number, length] :
       {std::pair{3u, 1u}, {127u, 2u}, {32767u, 3u}, {32768u, 3u}, {32769u, 5u}, {4'000'000'000u, 7u}}) {
    const Rewritten done = rewrite(test_class({.code = {kReturn}}), kCalloutCount, number);
    ASSERT_EQ(done.outcome, ClassOutcome::kRewritten);
    EXPECT_EQ(done.callee(length), "count") << number;
  }
}

TEST(ClassRewriter, JumpsGoBeforeTheCalloutsButAfterThePrologue) {
  // 0: goto 4; 3: nop; 4: iconst_0; 5: ifeq 0; 8: return
  Bytes frames;
  put2(frames, 3);
  put1(frames, 0);  // 0
  put1(frames, 3);  // 4
  put1(frames, 3);  // 8
  const Rewritten done =
      rewrite(test_class({.code = {kGoto, 0, 4, 0, kIconst0, kIfeq, 0xff, 0xfb, kReturn}, .frames = frames}),
              kCalloutEntry | kCalloutExit);
  ASSERT_EQ(done.outcome, ClassOutcome::kRewritten);
  const Instruction& first = done.instructions[2];
  EXPECT_EQ(first.op, kGoto);
  EXPECT_EQ(done.target_pc(first), 9u);
  const Instruction& back = done.instructions[5];
  EXPECT_EQ(back.op, kIfeq);
  EXPECT_EQ(done.target_pc(back), 5u);  // after the entry's callout
  EXPECT_EQ(done.method.frames[2], 5);  // frame at 5
  EXPECT_EQ(done.method.frames[3], 9 - 5 - 1);
  EXPECT_EQ(done.method.frames[4], 13 - 9 - 1);  // before the exit's callout
}

TEST(ClassRewriter, SwitchesKeepTheirTargetsWhateverTheirPadding) {
  for (unsigned shift = 0; shift < 4; ++shift) {
    Bytes code(shift, 0);
    const auto at = static_cast<unsigned>(code.size() + 1);
    put1(code, kIconst0);
    put1(code, kTableswitch);
    while (code.size() % 4 != 0) put1(code, 0);
    const std::size_t targets = code.size();
    put4(code, 0);
    put4(code, 0);
    put4(code, 1);
    put4(code, 0);
    put4(code, 0);
    for (const std::size_t slot : {targets, targets + 12, targets + 16}) {
      set4(code, slot, static_cast<std::uint32_t>(code.size() - at));
      put1(code, kReturn);
    }
    const Rewritten done = rewrite(test_class({.code = code}, 49), kCalloutEntry | kCalloutExit);
    ASSERT_EQ(done.outcome, ClassOutcome::kRewritten);
    const Instruction* found = nullptr;
    for (const Instruction& each : done.instructions)
      if (each.op == kTableswitch) found = &each;
    ASSERT_NE(found, nullptr);
    const std::uint32_t body = found->old_pc + 1 + (3 - found->old_pc % 4);
    std::vector<std::uint32_t> seen;
    for (const std::uint32_t slot : {body, body + 12, body + 16})
      seen.push_back(found->old_pc + static_cast<std::uint32_t>(s4_at(&done.method.code[slot])));
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const std::uint32_t index = done.index_at[seen[i]];
      ASSERT_NE(index, kNoInstruction);
      EXPECT_EQ(done.callee(done.instructions[index + 1].old_pc), "exit");
      EXPECT_EQ(done.instructions[index + 2].op, kReturn);
      if (i > 0) {
        EXPECT_EQ(seen[i] - seen[i - 1], 6u);
      }
    }
  }
}

TEST(ClassRewriter, HandlersLinesAndThrowsGetTheirCallouts) {
  // 0: aconst_null; 1: athrow; 2: pop; 3: return; handler 0..2 -> 2
  const Rewritten done =
      rewrite(test_class({.code = {1, kAthrow, 87, kReturn}, .handlers = {{0, 2, 2}}, .lines = {{0, 5}, {3, 6}}}, 49),
              kCalloutEntry | kCalloutExit | kCalloutThrow | kCalloutCatch | kCalloutLine);
  ASSERT_EQ(done.outcome, ClassOutcome::kRewritten);
  EXPECT_THAT(done.callouts(), ElementsAre("enter", "line", "thrown", "caught", "line", "exit", "unwound"));
  const std::uint32_t handler = done.method.handlers[0].target;
  EXPECT_EQ(done.method.code[handler], kDup);
  // sipush -6: line 5 of a handler that drops the exception
  EXPECT_EQ(done.method.code[handler + 1], kSipush);
  EXPECT_EQ(static_cast<std::int16_t>(u2_at(&done.method.code[handler + 2])), -6);
  EXPECT_EQ(done.callee(handler + 6), "caught");
  EXPECT_EQ(done.method.max_stack, 8u);
}

// An exception of its own callout would enter it again, for ever on a full stack.
TEST(ClassRewriter, AHandlerThatCoversItselfContinuesAfterItsCallouts) {
  // 0: aconst_null; 1: athrow; 2: pop; 3: return; handler 0..3 -> 2
  const TestMethod made{.code = {1, kAthrow, 87, kReturn}, .handlers = {{0, 3, 2}}, .lines = {{2, 5}}};
  const Rewritten done = rewrite(test_class(made, 49), kCalloutCatch | kCalloutLine);
  ASSERT_EQ(done.outcome, ClassOutcome::kRewritten);
  EXPECT_THAT(done.callouts(), ElementsAre("caught", "line"));
  ASSERT_EQ(done.method.handlers.size(), 2u);
  const auto& [first, own] = std::tie(done.method.handlers[0], done.method.handlers[1]);
  EXPECT_EQ(first.start, own.target);
  EXPECT_EQ(first.end, first.target);
  EXPECT_EQ(done.method.code[first.target], 87);
  EXPECT_GT(own.end, first.target);
  EXPECT_EQ(rewrite(test_class(made, 49), kCalloutThrow).method.handlers.size(),
            2u);  // with the rewriter's handler for the whole method
}

// #1 Class "x/Made", #2 its name, #3 Methodref, #4 NameAndType, #5 "<init>", #6 "()V"
std::vector<Bytes> constants_of_new() {
  return {{7, 0, 2},        text_constant("x/Made"), {10, 0, 1, 0, 4},
          {12, 0, 5, 0, 6}, text_constant("<init>"), text_constant("()V")};
}

TEST(ClassRewriter, ArraysAndObjectsAreSeenWhenTheyAreWhole) {
  const Rewritten done = rewrite(test_class({.code = {kNew, 0, 1, kDup, kInvokespecial, 0, 3, 87, kIconst0, kNewarray,
                                                      10, 87, kNew, 0, 1, kInvokespecial, 0, 3, kReturn}},
                                            49, constants_of_new()),
                                 kCalloutArrays | kCalloutNew);
  ASSERT_EQ(done.outcome, ClassOutcome::kRewritten);
  EXPECT_THAT(done.callouts(), ElementsAre("allocated", "allocated"));  // the last new keeps nothing
  EXPECT_EQ(done.plan.unseen_news, 1u);
  EXPECT_EQ(done.method.code[7], kDup);
  EXPECT_EQ(done.callee(10), "allocated");
}

TEST(ClassRewriter, ACallIsBetweenItsCallouts) {
  const Bytes code = {kNew, 0, 1, kDup, kInvokespecial, 0, 3, 87, kReturn};
  const Rewritten done =
      rewrite(test_class({.code = code}, 49, constants_of_new()), kCalloutCalls | kCalloutNew, 7, {number_of, nullptr});
  ASSERT_EQ(done.outcome, ClassOutcome::kRewritten);
  EXPECT_EQ(done.plan.unseen_calls, 0u);
  EXPECT_THAT(done.callouts(), ElementsAre("called", "returned", "allocated"));
  // new, dup | bipush 6, called | <init> | bipush 6, returned | dup...
  EXPECT_EQ(done.method.code[5], 6);
  EXPECT_EQ(done.callee(6), "called");
  EXPECT_EQ(done.method.code[9], kInvokespecial);
  EXPECT_EQ(done.method.code[13], 6);
  EXPECT_EQ(done.callee(14), "returned");
  EXPECT_EQ(done.method.max_stack,
            rewrite(test_class({.code = code}, 49, constants_of_new()), kCalloutCount).method.max_stack);
}

TEST(ClassRewriter, CallsThatHaveNoNumberAreCounted) {
  // invokedynamic #3 (not examined here), and an invokespecial whose callee has no number
  const Bytes code = {kInvokedynamic, 0, 3, 0, 0, kInvokespecial, 0, 3, kReturn};
  const Rewritten done =
      rewrite(test_class({.code = code}, 49, constants_of_new()), kCalloutCalls | kCalloutFrames, 7, {});
  ASSERT_EQ(done.outcome, ClassOutcome::kRewritten);
  EXPECT_THAT(done.callouts(), ElementsAre("begin", "end", "end"));
  EXPECT_EQ(done.plan.unseen_calls, 2u);
}

TEST(ClassRewriter, FramesAreReportedIfNothingElseShowsThem) {
  // 0: aconst_null; 1: athrow; 2: pop; 3: return; handler 0..2 -> 2
  const auto callouts = [](std::uint32_t wanted) {
    return rewrite(test_class({.code = {1, kAthrow, 87, kReturn}, .handlers = {{0, 2, 2}}}, 49), wanted).callouts();
  };
  EXPECT_THAT(callouts(kCalloutFrames), ElementsAre("begin", "handled", "end", "end"));
  EXPECT_THAT(callouts(kCalloutFrames | kCalloutEntry | kCalloutExit),
              ElementsAre("enter", "handled", "exit", "leave"));
  EXPECT_THAT(callouts(kCalloutFrames | kCalloutThrow | kCalloutCatch),
              ElementsAre("begin", "thrown", "caught", "end", "unwound"));
}

TEST(ClassRewriter, AMethodThatGetsTooLargeLosesItsCallsBeforeItsFrames) {
  Bytes code(65'400, 0);
  const Bytes call = {kNew, 0, 1, kDup, kInvokespecial, 0, 3, 87};
  for (int i = 0; i < 20; ++i) put_bytes(code, call.data(), call.size());
  code.erase(code.begin(), code.begin() + 200);
  put1(code, kReturn);
  const Rewritten done = rewrite(test_class({.code = code}, 49, constants_of_new()), kCalloutCalls | kCalloutFrames, 7,
                                 {number_of, nullptr});
  ASSERT_EQ(done.outcome, ClassOutcome::kRewritten);
  EXPECT_EQ(done.plan.outcome, Outcome::kReduced);
  EXPECT_EQ(done.plan.done, kCalloutFrames + 0u);
}

// The int that a constant holds (JVMS 4.4).
std::uint32_t integer_constant(const Bytes& file, unsigned index) {
  std::size_t at = 10;
  for (unsigned i = 1; i < index; ++i) {
    const unsigned tag = file[at];
    if (tag == 1) at += 3u + u2_at(&file[at + 1]);
    else if (tag == 5 || tag == 6) at += 9, ++i;
    else at += tag == 7 || tag == 8 ? 3 : 5;
  }
  EXPECT_EQ(file[at], 3);
  return static_cast<std::uint32_t>(s4_at(&file[at + 1]));
}

TEST(ClassRewriter, AnAllocationCanSayItsSite) {
  // 0: new, dup; 4: nop, invokespecial, pop; 9: iconst_0, newarray long; 12: pop; 13: iconst_0, iconst_0,
  // multianewarray of two
  const Bytes code = {kNew, 0,        1,         kDup, 0,      kInvokespecial, 0,        3,
                      87,   kIconst0, kNewarray, 11,   87,     kIconst0,       kIconst0, kMultianewarray,
                      0,    1,        2,         87,   kReturn};
  const Rewritten done =
      rewrite(test_class({.code = code, .lines = {{0, 40000}, {4, 5}, {10, 6}}}, 49, constants_of_new()),
              kCalloutArrays | kCalloutNew | kCalloutSites);
  ASSERT_EQ(done.outcome, ClassOutcome::kRewritten);
  EXPECT_THAT(done.callouts(), ElementsAre("made", "made", "made"));
  std::vector<std::uint32_t> sites;
  for (std::size_t i = 2; i < done.instructions.size(); ++i) {
    if (done.callee(done.instructions[i].old_pc) != "made") continue;
    const Instruction& push = done.instructions[i - 2];
    ASSERT_EQ(push.op, kLdcW);
    sites.push_back(integer_constant(done.bytes, u2_at(&done.method.code[push.old_pc + 1])));
  }
  // The line of `new`, not the line of the constructor's call.
  EXPECT_THAT(sites, ElementsAre(40000u, Site{6, 11, 0}.bits(), Site{6, 2, 2}.bits()));
  EXPECT_EQ(done.method.max_stack,
            rewrite(test_class({.code = code}, 49, constants_of_new()), kCalloutCount).method.max_stack + 1);
}

TEST(ClassRewriter, AConstructorIsCoveredBeforeAndAfterItsSuperCall) {
  // #1 Methodref Object.<init>, #2 Class, #3 name, #4 NameAndType, #5, #6
  const std::vector<Bytes> first = {
      {10, 0, 2, 0, 4},        {7, 0, 3},           text_constant("java/lang/Object"), {12, 0, 5, 0, 6},
      text_constant("<init>"), text_constant("()V")};
  TestMethod method{.name = "<init>", .access = 1, .code = {kAload0, kInvokespecial, 0, 1, 0, kReturn}};
  Rewritten done = rewrite(test_class(method, 52, first), kCalloutEntry | kCalloutExit);
  ASSERT_EQ(done.outcome, ClassOutcome::kRewritten);
  EXPECT_TRUE(done.plan.open_start);
  ASSERT_EQ(done.method.handlers.size(), 2u);
  EXPECT_EQ(done.method.handlers[0].start, 5u);  // not the callout before it
  EXPECT_EQ(done.method.handlers[0].end, 6u);    // nor the call
  EXPECT_EQ(done.method.handlers[1].start, 9u);
  EXPECT_EQ(done.method.handlers[1].end, 10u);
  // The same code twice: `this` is of another type.
  EXPECT_THAT(done.callouts(), ElementsAre("enter", "exit", "leave", "leave"));
  EXPECT_GT(done.method.handlers[0].target, done.method.handlers[1].target);
  // From there on the receiver is known.
  const Rewritten constructed =
      rewrite(test_class(method, 52, first), kCalloutEntry | kCalloutExit | kCalloutReceiver | kCalloutConstructed);
  EXPECT_THAT(constructed.callouts(), ElementsAre("enter", "constructed", "exit", "leave", "leave"));
  EXPECT_EQ(constructed.method.code[9], kAload0);
  EXPECT_EQ(constructed.method.handlers[1].start, 9u);
  // Local 0 is overwritten by a number before the call: a handler could not say that `this` is there.
  TestMethod with_number = method;
  with_number.code = {kAload0, kIconst0, kIstore0, kInvokespecial, 0, 1, kReturn};
  EXPECT_TRUE(rewrite(test_class(with_number, 52, first), kCalloutEntry | kCalloutExit).method.handlers.empty());
  // Local 0 is overwritten: the receiver is unknown, so there is no handler.
  method.code = {kAload0, kInvokespecial, 0, 1, 1, kAstore0, kReturn};
  done = rewrite(test_class(method, 52, first), kCalloutEntry | kCalloutExit | kCalloutConstructed);
  ASSERT_EQ(done.outcome, ClassOutcome::kRewritten);
  EXPECT_THAT(done.callouts(), ElementsAre("enter", "exit"));
}

// `size` nops between the jump and its target.
Bytes far_jump(std::uint8_t op, unsigned size) {
  Bytes code;
  if (op != kGoto) put1(code, kIconst0);
  put1(code, op);
  put2(code, 3 + size);
  code.resize(code.size() + size, 0);
  put1(code, kReturn);
  return code;
}

TEST(ClassRewriter, AJumpThatGetsTooLongIsWidened) {
  const Rewritten done = rewrite(test_class({.code = far_jump(kGoto, 32760), .lines = {{100, 1}, {200, 2}}}, 49),
                                 kCalloutEntry | kCalloutLine);
  ASSERT_EQ(done.outcome, ClassOutcome::kRewritten);
  const Instruction& jump = done.instructions[2];
  EXPECT_EQ(jump.op, kGotoW);
  EXPECT_EQ(done.instructions[jump.target].op, kReturn);
}

TEST(ClassRewriter, AConditionalJumpThatGetsTooLongLeavesCalloutsOut) {
  const Rewritten done = rewrite(test_class({.code = far_jump(kIfeq, 32760), .lines = {{100, 1}, {200, 2}}}, 49),
                                 kCalloutEntry | kCalloutLine);
  ASSERT_EQ(done.outcome, ClassOutcome::kRewritten);
  EXPECT_EQ(done.plan.outcome, Outcome::kReduced);
  EXPECT_EQ(done.plan.done, kCalloutEntry + 0u);
}

TEST(ClassRewriter, TooLargeForAnyCalloutIsReported) {
  Bytes code(65534, 0);
  put1(code, kReturn);
  const Rewritten done = rewrite(test_class({.code = code}, 49), kCalloutEntry | kCalloutExit);
  EXPECT_EQ(done.outcome, ClassOutcome::kUntouched);
  EXPECT_EQ(done.plan.outcome, Outcome::kTooLarge);
}

TEST(ClassRewriter, AFullConstantPoolIsReported) {
  const Rewritten done = rewrite(test_class({.code = {kReturn}}, 52, {}, 65'500), kCalloutEntry | kCalloutExit, 40'000);
  EXPECT_EQ(done.outcome, ClassOutcome::kRewritten);
  const Rewritten full = rewrite(test_class({.code = {kReturn}}, 52, {}, 65'520), kCalloutEntry | kCalloutExit, 40'000);
  EXPECT_EQ(full.outcome, ClassOutcome::kPoolFull);
}

TEST(ClassRewriter, EveryTruncationAndEveryWrongByteIsSurvived) {
  Bytes frames;
  put2(frames, 1);
  put1(frames, 2);
  const Bytes good = test_class({.code = {1, kAthrow, 87, kReturn},
                                 .handlers = {{0, 2, 2}},
                                 .lines = {{0, 5}},
                                 .locals = {{0, 4}},
                                 .frames = frames});
  Bytes out;
  for (std::size_t size = 0; size < good.size(); ++size) {
    ClassFile klass;
    Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    if (!klass.parse(cut)) continue;
    std::vector<MethodPlan> plans(klass.methods().size(), MethodPlan{.number = 1, .callouts = 255});
    rewrite_class(klass, "test/Helper", plans, out);
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const unsigned value : {0u, 1u, 127u, 128u, 255u}) {
      Bytes wrong = good;
      wrong[at] = static_cast<std::uint8_t>(value);
      ClassFile klass;
      if (!klass.parse(wrong)) continue;
      std::vector<MethodPlan> plans(klass.methods().size(), MethodPlan{.number = 1, .callouts = 255});
      rewrite_class(klass, "test/Helper", plans, out);
    }
  }
}

TEST(ClassRewriter, ATableThatDoesNotFitItsAttributeLeavesTheMethodAlone) {
  Bytes bytes = test_class({.code = {0, kReturn}, .lines = {{0, 5}, {1, 6}}}, 49);
  ClassFile klass;
  ASSERT_TRUE(klass.parse(bytes));
  // The count of the line table: after max_stack, max_locals, the code, no handlers, the attributes' count and header.
  const std::size_t count_at = klass.methods()[0].code.data + 4 + 4 + 2 + 2 + 2 + 6;
  ASSERT_EQ(u2_at(&bytes[count_at]), 2);
  set2(bytes, count_at, 3);
  const Rewritten done = rewrite(bytes, kCalloutEntry);
  EXPECT_EQ(done.outcome, ClassOutcome::kUntouched);
  EXPECT_EQ(done.plan.outcome, Outcome::kMalformed);
}

TEST(LineRange, LeastAndGreatest) {
  const Bytes bytes = test_class({.code = {0, kReturn}, .lines = {{0, 12}, {1, 9}}});
  ClassFile klass;
  ASSERT_TRUE(klass.parse(bytes));
  EXPECT_EQ(line_range(klass, klass.methods()[0]).first, 9);
  EXPECT_EQ(line_range(klass, klass.methods()[0]).last, 12);
}

}  // namespace
}  // namespace jtrace::agent::classfile
