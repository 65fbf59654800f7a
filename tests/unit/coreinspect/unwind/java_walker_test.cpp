// The sequence of a thread's frames: interpreted, compiled, stubs, entry frames, chunks of virtual threads: by the
// rules of each family of JDKs, on made-up stacks.
#include "coreinspect/unwind/java_walker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/coreinspect/code/made_up_code.h"

namespace jtrace::coreinspect {
namespace {

using test::MadeUpCode;
using ::testing::HasSubstr;

constexpr Address kStack = 0x70000000;  // its low end; words below are given as offsets from it
constexpr Address kNative = 0x7e0000001234;
constexpr Address kWrapper = 0x78000000;  // a JavaCallWrapper
constexpr Address kAnchor = 16;           // in it

class Stacks : public ::testing::TestWithParam<int> {
 protected:
  Stacks() : made(GetParam()) {
    made.vm.field("JavaCallWrapper", "_anchor", kAnchor);
    made.vm.field("JavaFrameAnchor", "_last_Java_sp", 0);
    made.vm.field("JavaFrameAnchor", "_last_Java_pc", 8);
    made.vm.field("JavaFrameAnchor", "_last_Java_fp", 16);
    made.vm.field("BasicObjectLock", "_obj", 8);
    made.vm.type("BasicObjectLock", 16);
    made.vm.words(kWrapper, std::vector<Address>(8));
  }
  void word(Address at, Address value) { made.vm.word(kStack + at, value); }

  // An interpreted frame: its slots are at fixed places below fp. Those of the bytecode pointer and of the monitors are
  // one lower from JDK 9 on, which put the mirror in between.
  void interpreted(Address fp, Address method, Address bcp, Address caller_fp, Address caller_pc) {
    const Address below = GetParam() < 9 ? 0 : 8;
    word(fp, caller_fp);
    word(fp + 8, caller_pc);
    word(fp - 8, kStack + fp + 16);  // sender sp
    word(fp - 24, method);
    word(fp - 56 - below, bcp);
    word(fp - 64 - below, kStack + fp - 64 - below);  // no monitors
  }
  // The frame of the call stub, through which the VM called Java.
  void entry(Address fp, Address caller_fp) {
    word(fp - 48, kWrapper);
    word(fp, caller_fp);
    word(fp + 8, kNative);
  }

  JavaWalker::Segment walk(FrameStart start, StackRange stack = {kStack, kStack + 0x10000}) {
    open();
    start.sp += kStack;
    if (!stack.in_heap) start.fp += kStack;
    return walker_->segment(stack, stack.in_heap ? walker_->from_chunk(start) : start);
  }
  const JavaWalker& open() {
    code_.emplace(made.open());
    classes_.emplace(made.vm.opened());
    objects_.emplace(*classes_);
    methods_.emplace(*classes_);
    walker_.emplace(*methods_, *objects_, *code_);
    return *walker_;
  }
  // "interpreted A.a:3, stub ICache, entry"
  static std::string story(const std::vector<Frame>& frames) {
    std::string text;
    for (const Frame& frame : frames) {
      text += (text.empty() ? "" : ", ") + std::string(to_string(frame.kind));
      if (frame.method != nullptr)
        text += " " + frame.method->class_name + "." + frame.method->name + ":" + std::to_string(frame.bci);
      else if (frame.kind == FrameKind::kStub) text += " " + frame.name;
    }
    return text;
  }

  MadeUpCode made;

 private:
  std::optional<CodeCache> code_;
  std::optional<ClassModel> classes_;
  std::optional<ObjectModel> objects_;
  std::optional<MethodModel> methods_;
  std::optional<JavaWalker> walker_;
};
const auto name_of = [](const auto& test) { return "jdk" + std::to_string(test.param); };
INSTANTIATE_TEST_SUITE_P(Jdks, Stacks, ::testing::Values(8, 11, 17, 21, 25, 27), name_of);

class Chunks : public Stacks {};  // of virtual threads
INSTANTIATE_TEST_SUITE_P(Jdks, Chunks, ::testing::Values(21, 25, 27), name_of);

TEST_P(Stacks, InterpretedFramesLeadToTheCallStub) {
  const Address a = made.method("p/A", "a"), b = made.method("p/B", "b");
  interpreted(0x800, a, MadeUpCode::code_of_method(a) + 3, kStack + 0x900, MadeUpCode::kInterpreter + 5);
  interpreted(0x900, b, MadeUpCode::code_of_method(b) + 10, kStack + 0xa00, MadeUpCode::kCallStubReturn);
  entry(0xa00, 0xabcd);
  const auto segment = walk({.pc = MadeUpCode::kInterpreter + 1, .sp = 0x700, .fp = 0x800});
  EXPECT_EQ(story(segment.frames), "interpreted p.A.a:3, interpreted p.B.b:10, entry");
  EXPECT_EQ(segment.stopped, "");
  EXPECT_TRUE(segment.at_entry);
  EXPECT_EQ(segment.next.sp, 0u) << "the anchor in the wrapper is empty: nothing in Java further out";
  EXPECT_EQ(segment.native.pc, kNative);
  EXPECT_EQ(segment.native.fp, 0xabcdu);
  EXPECT_EQ(segment.native.sp, kStack + 0xa10);
  EXPECT_EQ(segment.frames[1].sp, kStack + 0x810);
}

// Compiled frames have no frame pointer: the frame size in the blob leads to the return address.
TEST_P(Stacks, CompiledFramesHaveTheSizeInTheirCode) {
  const Address outer = made.method("Outer", "run"), inner = made.method("Inner", "get"), main = made.method("M", "m");
  const Address code = made.nmethod(100, outer, 8, {{40, {{inner, 2}, {outer, 9}}}});
  const Address stub = made.blob(200, 4, "ICache", 4);
  // The stub's four words, then the eight of the compiled frame, then an interpreted one.
  word(0x700 + 16, 0x1111);
  word(0x700 + 24, MadeUpCode::code_of(code) + 40);
  word(0x720 + 48, kStack + 0x900);
  word(0x720 + 56, MadeUpCode::kInterpreter + 5);
  interpreted(0x900, main, MadeUpCode::code_of_method(main) + 1, kStack + 0xa00, MadeUpCode::kCallStubReturn);
  entry(0xa00, 0);
  const auto segment = walk({.pc = MadeUpCode::code_of(stub) + 8, .sp = 0x700});
  EXPECT_EQ(story(segment.frames), "stub ICache, inlined Inner.get:2, compiled Outer.run:9, interpreted M.m:1, entry");
  EXPECT_EQ(segment.stopped, "");
  EXPECT_EQ(segment.frames[2].sp, kStack + 0x720);
}

TEST_P(Stacks, ADeoptimisedFrameIsKnownByTheRealPcInIt) {
  const Address method = made.method("Outer", "run");
  const Address code = made.nmethod(100, method, 8, {{20, {{method, 7}}}});
  word(0x700 + MadeUpCode::kOriginalPc, MadeUpCode::code_of(code) + 20);
  word(0x700 + 48, kStack + 0xa00);
  word(0x700 + 56, MadeUpCode::kCallStubReturn);
  entry(0xa00, 0);
  EXPECT_EQ(story(walk({.pc = MadeUpCode::deopt_handler(code), .sp = 0x700}).frames), "compiled Outer.run:7, entry");
}

// From registers: until its code has built the frame, the return address is on top of the stack.
TEST_P(Stacks, AFrameThatIsNotBuiltYetReturnsFromTheTopOfTheStack) {
  const Address method = made.method("Outer", "run");
  const Address code = made.nmethod(100, method, 8, {{40, {{method, 7}}}}, 12);
  word(0x700, MadeUpCode::kCallStubReturn);
  entry(0xa00, 0);
  const FrameStart registers{.pc = MadeUpCode::code_of(code) + 4, .sp = 0x700, .fp = 0xa00, .running = true};
  EXPECT_EQ(story(walk(registers).frames), "compiled Outer.run:7, entry");
}

// From registers: a safepoint poll is described by its own pc, a call by the pc after it.
TEST_P(Stacks, ARunningFrameIsWhereItsInstructionIs) {
  const Address outer = made.method("Outer", "run"), inner = made.method("Inner", "get");
  const Address code = made.nmethod(100, outer, 8, {{40, {{inner, 2}, {outer, 9}}}, {60, {{outer, 12}}}});
  word(0x700 + 48, kStack + 0xa00);
  word(0x700 + 56, MadeUpCode::kCallStubReturn);
  entry(0xa00, 0);
  const auto at = [&](Address offset) {
    return story(walk({.pc = MadeUpCode::code_of(code) + offset, .sp = 0x700, .running = true}).frames);
  };
  EXPECT_EQ(at(40), "inlined Inner.get:2, compiled Outer.run:9, entry") << "a poll";
  EXPECT_EQ(at(60), "compiled Outer.run:12, entry");
  EXPECT_EQ(at(61), "compiled Outer.run:12, entry") << "after the last place";
  made.vm.put(MadeUpCode::code_of(code) + 35, std::uint8_t{0xe8});
  EXPECT_EQ(at(40), "compiled Outer.run:12, entry") << "after a call that has returned";
}

// A stub without a fixed frame: which caller is right is not known here, so each can be asked for.
TEST_P(Stacks, AStubThatRunsHasItsCallerInTheFramePointerOrOnTop) {
  const Address stub = made.blob(200, 4, "StubRoutines (2)", 0);
  word(0x700, 0x1111);
  word(0x900, kStack + 0xa00);
  word(0x908, MadeUpCode::kCallStubReturn);
  entry(0xa00, 0);
  FrameStart registers{.pc = MadeUpCode::code_of(stub) + 20, .sp = 0x700, .fp = 0x900, .running = true};
  std::size_t whole = 0;
  const std::size_t attempts = walk(registers).attempts;
  for (; registers.attempt < attempts; ++registers.attempt) whole += walk(registers).stopped.empty();
  EXPECT_GT(attempts, 0u);
  EXPECT_LE(whole, 1u) << "only one leads on";
}

// From registers: the interpreter keeps its bytecode pointer in a register and stores it only before it calls.
TEST_P(Stacks, ARunningInterpreterHasItsBytecodePointerInARegister) {
  const Address a = made.method("A", "a");
  interpreted(0x800, a, MadeUpCode::code_of_method(a) + 3, kStack + 0xa00, MadeUpCode::kCallStubReturn);
  entry(0xa00, 0);
  FrameStart start{.pc = MadeUpCode::kInterpreter, .sp = 0x700, .fp = 0x800};
  start.bcp = MadeUpCode::code_of_method(a) + 5;
  EXPECT_EQ(story(walk(start).frames), "interpreted A.a:3, entry") << "not running: the frame's own counts";
  start.running = true;
  EXPECT_EQ(story(walk(start).frames), "interpreted A.a:5, entry");
  start.bcp = 0x1234;
  EXPECT_EQ(story(walk(start).frames), "interpreted A.a:3, entry") << "the register has something else";
}

// frame::gc_prologue of JDK 8, as long as a full collection runs.
TEST_P(Stacks, OfAFullCollectionHaveIndicesForBytecodePointers) {
  const Address a = made.method("A", "a");
  interpreted(0x800, a, 3, kStack + 0xa00, MadeUpCode::kCallStubReturn);
  entry(0xa00, 0);
  const auto segment = walk({.pc = MadeUpCode::kInterpreter, .sp = 0x700, .fp = 0x800});
  if (GetParam() < 9) {
    EXPECT_EQ(story(segment.frames), "interpreted A.a:3, entry");
  } else {
    EXPECT_NE(segment.stopped, "") << "there it is no bytecode pointer";
  }
}

TEST_P(Stacks, ANativeMethodHasNoBytecode) {
  const Address a = made.method("A", "a", 0, 0x0100);
  interpreted(0x800, a, 0, kStack + 0xa00, MadeUpCode::kCallStubReturn);
  entry(0xa00, 0);
  EXPECT_EQ(story(walk({.pc = MadeUpCode::kInterpreter, .sp = 0x700, .fp = 0x800}).frames), "interpreted A.a:0, entry");
}

// The monitor block of an interpreted frame: its end is an address up to JDK 21, and words from fp later; both are
// accepted.
TEST_P(Stacks, LocksOfAnInterpretedFrameAreThoseOfItsMonitorBlock) {
  const Address a = made.method("A", "a");
  const Address bottom = GetParam() < 9 ? 0x800 - 64 : 0x800 - 72;
  interpreted(0x800, a, MadeUpCode::code_of_method(a), kStack + 0xa00, MadeUpCode::kCallStubReturn);
  entry(0xa00, 0);
  word(bottom - 16 + 8, 0x1000);  // locked first
  word(bottom - 32 + 8, 0);       // unlocked
  word(bottom - 48 + 8, 0x3000);
  const auto words = (static_cast<std::int64_t>(bottom) - 48 - 0x800) / 8;
  for (const Address end : {kStack + bottom - 48, static_cast<Address>(words)}) {
    word(bottom, end);
    const auto segment = walk({.pc = MadeUpCode::kInterpreter, .sp = 0x600, .fp = 0x800});
    ASSERT_EQ(segment.stopped, "");
    EXPECT_THAT(segment.frames[0].locks, ::testing::ElementsAre(0x3000u, 0x1000u)) << "the last taken first";
  }
}

// Java called the VM, which called Java again: the wrapper of the call keeps the start of the outer frames.
TEST_P(Stacks, FramesFurtherOutAreFoundThroughTheCallWrapper) {
  const Address a = made.method("A", "a"), b = made.method("B", "b");
  interpreted(0x800, a, MadeUpCode::code_of_method(a), kStack + 0x900, MadeUpCode::kCallStubReturn);
  entry(0x900, 0);
  made.vm.words(kWrapper + kAnchor, {kStack + 0x1000, 0, kStack + 0x1100});
  word(0x1000 - 8, MadeUpCode::kInterpreter + 9);  // an anchor without a pc: the pc is below the sp
  interpreted(0x1100, b, MadeUpCode::code_of_method(b) + 1, kStack + 0x1200, MadeUpCode::kCallStubReturn);
  constexpr Address kOuter = kWrapper + 0x100;
  made.vm.words(kOuter, std::vector<Address>(8));
  entry(0x1200, 0);
  word(0x1200 - 48, kOuter);
  JavaThread thread;
  thread.last_sp = kStack + 0x700;
  thread.last_pc = MadeUpCode::kInterpreter;
  thread.last_fp = kStack + 0x800;
  thread.stack_base = kStack + 0x10000;
  thread.stack_size = 0x10000;
  const Walk walk = open().walk(thread, nullptr);
  EXPECT_EQ(story(walk.frames), "interpreted A.a:0, entry, interpreted B.b:1, entry");
  EXPECT_EQ(walk.stopped, "");
}

// A frame that was taken back from a chunk returns to the barrier. The saved frame pointer in it is of another time,
// and between it and the carrier's frames is the entry of the continuation; old return addresses may be in its unused
// words.
TEST_P(Chunks, OfARunningThreadBeginAtTheReturnBarrier) {
  constexpr Address kEntry = 0x740, kEntrySize = 64;
  const Address leaf = made.method("A", "leaf"), old = made.method("B", "old");
  const Address run = made.method("jdk/internal/vm/Continuation", "run");
  const Address leaf_code = made.nmethod(100, leaf, 8, {{40, {{leaf, 2}}}});
  const Address old_code = made.nmethod(120, old, 8, {{40, {{old, 4}}}});
  const Address run_code = made.nmethod(140, run, 8, {{40, {{run, 9}}}});
  const Address stubs =
      made.blob(200, 8, GetParam() == 25 ? "StubRoutines (continuationstubs)" : "StubRoutines (continuation stubs)", 0);
  const Address barrier = MadeUpCode::code_of(stubs) + 0x80;
  if (GetParam() >= 27) made.vm.variable("StubRoutines", "_cont_returnBarrier", barrier);
  word(0x700 + 48, kStack + 0x6f0);  // of another time
  word(0x700 + 56, barrier);
  word(kEntry + 56, MadeUpCode::code_of(old_code) + 40);  // unused
  word(kEntry + kEntrySize, kStack + 0xa00);
  word(kEntry + kEntrySize + 8, MadeUpCode::code_of(run_code) + 40);
  word(kEntry + kEntrySize + 16 + 56, MadeUpCode::kCallStubReturn);
  word(kEntry + kEntrySize + 16 + 48, kStack + 0xa00);
  entry(0xa00, 0);
  const auto segment = walk({.pc = MadeUpCode::code_of(leaf_code) + 40, .sp = 0x700, .fp = 0x123});
  EXPECT_EQ(story(segment.frames), "compiled A.leaf:2, stub " + std::string(kFramesInChunks) +
                                       ", compiled jdk.internal.vm.Continuation.run:9, entry");
  EXPECT_EQ(segment.stopped, "");
  ASSERT_EQ(segment.frames.size(), 4u);
  EXPECT_TRUE(are_in_chunks(segment.frames[1]));
  EXPECT_EQ(segment.frames[1].sp, kStack + kEntry) << "where the continuation is found";
}

// While the VM copies frames from the heap, their place is between the stub and the entry; what they hold is not
// walked.
TEST_P(Chunks, ThatAreBeingCopiedAreLeftOut) {
  constexpr Address kEntry = 0x900, kEntrySize = 64;
  const Address yield = made.method("jdk/internal/vm/Continuation", "yield");
  const Address run = made.method("jdk/internal/vm/Continuation", "run");
  const Address yield_code = made.nmethod(120, yield, 8, {{40, {{yield, 4}}}});
  const Address run_code = made.nmethod(140, run, 8, {{40, {{run, 9}}}});
  const std::string name = GetParam() == 25 ? "StubRoutines (continuationstubs)" : "StubRoutines (continuation stubs)";
  const Address stubs = made.blob(200, 8, name, 0);
  const Address after_call = MadeUpCode::code_of(stubs) + 0x80;
  made.vm.put(after_call - 5, std::uint8_t{0xe8});
  if (GetParam() >= 27) made.vm.variable("StubRoutines", "_cont_returnBarrier", MadeUpCode::code_of(stubs) + 0xc0);
  word(0x740 + kEntrySize, 0);
  word(0x740 + kEntrySize + 8, MadeUpCode::code_of(yield_code) + 40);  // of a frame that was copied
  word(kEntry + kEntrySize, kStack + 0xa00);
  word(kEntry + kEntrySize + 8, MadeUpCode::code_of(run_code) + 40);
  word(kEntry + kEntrySize + 16 + 48, kStack + 0xa00);
  word(kEntry + kEntrySize + 16 + 56, MadeUpCode::kCallStubReturn);
  entry(0xa00, 0);
  const auto segment = walk({.pc = after_call, .sp = 0x700, .fp = 0x123});
  EXPECT_EQ(story(segment.frames), "stub " + name + ", compiled jdk.internal.vm.Continuation.run:9, entry");
  EXPECT_EQ(segment.stopped, "");
}

// In the chunk of a virtual thread the saved frame pointer and the sender's sp are distances. The chunk ends where the
// thread was mounted.
TEST_P(Chunks, HaveDistancesForAddresses) {
  const Address a = made.method("A", "a"), b = made.method("B", "b");
  interpreted(0x800, a, 3, (0x900 - 0x810 + 16) / 8, MadeUpCode::kInterpreter + 5);
  word(0x800 - 8, 2);
  interpreted(0x900, b, 10, 0, 0);
  word(0x900 - 8, 2);
  const StackRange chunk{.low = kStack, .high = kStack + 0x910, .in_heap = true};
  const auto segment = walk({.pc = MadeUpCode::kInterpreter + 1, .sp = 0x700, .fp = (0x800 - 0x700 + 16) / 8}, chunk);
  EXPECT_EQ(story(segment.frames), "interpreted A.a:3, interpreted B.b:10");
  EXPECT_EQ(segment.stopped, "");
}

TEST_P(Stacks, ADamagedStackEndsTheWalkWithAReason) {
  const Address a = made.method("A", "a");
  const FrameStart start{.pc = MadeUpCode::kInterpreter, .sp = 0x7f0, .fp = 0x7e0};
  // Two frames that lead to each other: the walk would never end.
  interpreted(0x7e0, a, MadeUpCode::code_of_method(a), kStack + 0x7e0, MadeUpCode::kInterpreter);
  EXPECT_THAT(walk(start).stopped, HasSubstr("the next frame is not further up on the thread's stack"));
  interpreted(0x7e0, a, 0x1234, 0, 0);
  EXPECT_THAT(walk(start).stopped, HasSubstr("an interpreted frame without a bytecode pointer"));
  interpreted(0x7e0, 0x1235, 0x1234, 0, 0);
  EXPECT_THAT(walk(start).stopped, HasSubstr("an interpreted frame without a method"));
  EXPECT_THAT(walk({.pc = kNative, .sp = 0x700}).stopped, HasSubstr("a return to native code"));
  EXPECT_THAT(walk({.pc = MadeUpCode::kCode + 99 * MadeUpCode::kSegment, .sp = 0x700}).stopped,
              HasSubstr("a return to freed code"));
}

}  // namespace
}  // namespace jtrace::coreinspect
