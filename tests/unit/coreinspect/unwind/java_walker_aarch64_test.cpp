// Java frames by the rules of aarch64: other slots, return addresses in x30 and signed ones, on made-up stacks.
#include <gtest/gtest.h>

#include <optional>

#include "coreinspect/unwind/java_walker.h"
#include "coreinspect/unwind/top_frame_aarch64.h"
#include "tests/unit/coreinspect/code/made_up_code.h"

namespace jtrace::coreinspect {
namespace {

using test::MadeUpCode;

constexpr Address kStack = 0x70000000, kNative = 0x7e0000001234, kWrapper = 0x78000000, kSigned = 0x0055'0000'0000'0000;
constexpr std::uint32_t kSubSp64 = 0xd10103ff, kStorePair48 = 0xa9037bfd, kLoadPair48 = 0xa9437bfd,
                        kAddSp64 = 0x910103ff;
constexpr std::uint32_t kPushPair16 = 0xa9bf7bfd, kMoveFp = 0x910003fd, kRet = 0xd65f03c0, kCall = 0x94000000,
                        kNop = 0xd503201f;

class AarchStacks : public ::testing::TestWithParam<int> {
 protected:
  AarchStacks() : made(GetParam()) {
    made.vm.isa = target::Isa::kAarch64;
    made.vm.field("JavaCallWrapper", "_anchor", 16);
    made.vm.field("JavaFrameAnchor", "_last_Java_sp", 0);
    made.vm.field("JavaFrameAnchor", "_last_Java_pc", 8);
    made.vm.field("JavaFrameAnchor", "_last_Java_fp", 16);
    made.vm.words(kWrapper, std::vector<Address>(8));
  }
  void word(Address at, Address value) { made.vm.word(kStack + at, value); }
  void interpreted(Address fp, Address method, Address bcp, Address caller_fp, Address caller_pc) {
    word(fp, caller_fp);
    word(fp + 8, caller_pc);
    word(fp - 8, kStack + fp + 16);
    word(fp - 24, method);
    word(fp - (GetParam() < 9 ? 56 : 72), bcp);
  }
  void entry(Address fp, Address caller_fp) {
    word(fp - 64, kWrapper);
    word(fp, caller_fp);
    word(fp + 8, kNative | kSigned);
  }
  void code(Address at, std::vector<std::uint32_t> instructions) {
    made.vm.put_bytes(at, std::as_bytes(std::span(instructions)));
  }
  JavaWalker::Segment walk(FrameStart start) {
    start.sp += kStack;
    start.fp += kStack;
    const CodeCache cache = made.open();
    classes.emplace(made.vm.opened());
    const ObjectModel objects(*classes);
    methods.emplace(*classes);
    return JavaWalker(*methods, objects, cache).segment({kStack, kStack + 0x10000}, start);
  }
  static std::string story(const JavaWalker::Segment& segment) {
    std::string text;
    for (const Frame& frame : segment.frames) {
      text += (text.empty() ? "" : ", ") + std::string(to_string(frame.kind));
      if (frame.method != nullptr) text += " " + frame.method->name + ":" + std::to_string(frame.bci);
    }
    return text + (segment.stopped.empty() ? "" : "; " + segment.stopped);
  }

  MadeUpCode made;
  std::optional<ClassModel> classes;
  std::optional<MethodModel> methods;  // own what the frames of a walk point to
};
INSTANTIATE_TEST_SUITE_P(Jdks, AarchStacks, ::testing::Values(8, 11, 17, 21, 25, 27),
                         [](const auto& test) { return "jdk" + std::to_string(test.param); });

TEST_P(AarchStacks, InterpretedFramesLeadToTheCallStubWithoutSignatures) {
  const Address a = made.method("A", "a"), b = made.method("B", "b");
  interpreted(0x800, a, MadeUpCode::code_of_method(a) + 3, kStack + 0x900, (MadeUpCode::kInterpreter + 4) | kSigned);
  interpreted(0x900, b, MadeUpCode::code_of_method(b) + 10, kStack + 0xa00, MadeUpCode::kCallStubReturn | kSigned);
  entry(0xa00, 0xabcd);
  const auto segment = walk({.pc = MadeUpCode::kInterpreter, .sp = 0x700, .fp = 0x800});
  EXPECT_EQ(story(segment), "interpreted a:3, interpreted b:10, entry");
  EXPECT_EQ(segment.native.pc, kNative);
  EXPECT_EQ(segment.native.fp, 0xabcdu);
}

// bl leaves the return address in x30; the prologue makes room, then stores the pair.
TEST_P(AarchStacks, AFrameThatIsNotBuiltYetReturnsToTheLinkRegister) {
  const Address method = made.method("Outer", "run"), main = made.method("M", "m");
  const Address blob = made.nmethod(100, method, 8, {{40, {{method, 7}}}}, 12), begin = MadeUpCode::code_of(blob);
  code(begin, {kSubSp64, kStorePair48, kNop, kNop, kLoadPair48, kAddSp64, kRet});
  interpreted(0x900, main, MadeUpCode::code_of_method(main) + 1, kStack + 0xa00, MadeUpCode::kCallStubReturn);
  entry(0xa00, 0);
  FrameStart registers{.pc = begin, .sp = 0x740, .fp = 0x900, .running = true};
  registers.link = (MadeUpCode::kInterpreter + 8) | kSigned;
  EXPECT_EQ(story(walk(registers)), "compiled run:7, interpreted m:1, entry") << "nothing was done yet";
  registers.pc = begin + 4, registers.sp = 0x700;
  EXPECT_EQ(story(walk(registers)), "compiled run:7, interpreted m:1, entry") << "there is room";
  registers.pc = begin + 20;
  EXPECT_EQ(story(walk(registers)), "compiled run:7, interpreted m:1, entry") << "the pair is loaded again";
  registers.pc = begin + 24, registers.sp = 0x740;
  EXPECT_EQ(story(walk(registers)), "compiled run:7, interpreted m:1, entry") << "at the ret";
  registers.pc = begin + 12, registers.sp = 0x700, registers.link = 0x1234;
  word(0x730, kStack + 0x900);
  word(0x738, (MadeUpCode::kInterpreter + 8) | kSigned);
  EXPECT_EQ(story(walk(registers)), "compiled run:7, interpreted m:1, entry") << "the frame stands";
}

TEST(FrameOfAarch64, IsMadeAndLeftByKnownInstructions) {
  using namespace aarch64;
  EXPECT_EQ(frame_made({}).reserved, 0u);
  const std::uint32_t pushing[] = {kPushPair16, kMoveFp, kSubSp64};
  const FrameChange pushed = frame_made(pushing);
  EXPECT_EQ(pushed.reserved, 80u);
  EXPECT_TRUE(pushed.saved && pushed.pointed);
  EXPECT_FALSE(frame_made(std::span(pushing).first(1)).pointed);
  const std::uint32_t leaving[] = {kNop, kAddSp64, kRet}, standing[] = {kLoadPair48, kAddSp64, kRet},
                      calls[] = {kCall, kRet};
  EXPECT_EQ(frame_left(leaving), 64u);
  EXPECT_EQ(frame_left(standing), std::nullopt);
  EXPECT_EQ(frame_left(calls), std::nullopt);
  EXPECT_EQ(frame_left({}), std::nullopt);
  EXPECT_TRUE(is_call(kCall) && is_call(0xd63f0100));
  EXPECT_FALSE(is_call(kRet) || is_call(kNop));
}

}  // namespace
}  // namespace jtrace::coreinspect
