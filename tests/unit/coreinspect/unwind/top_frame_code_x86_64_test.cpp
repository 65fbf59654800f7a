// What instructions say of the frame they stand in: bytes as C1, C2 and the stub generators of JDK 8 to 27 write them.
#include "coreinspect/unwind/top_frame_code_x86_64.h"

#include <gtest/gtest.h>

#include <vector>

namespace jtrace::coreinspect::x86_64 {
namespace {

using Code = std::vector<std::uint8_t>;

// mov [rsp-0x14000], eax; push rbp; sub rsp, 0x20; cmp dword [r15+0x20], 1; jne
const Code kWithBang = {0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83, 0xec, 0x20, 0x41,
                        0x81, 0x7f, 0x20, 0x01, 0x00, 0x00, 0x00, 0x0f, 0x85, 0x10, 0x00, 0x00, 0x00};
// sub rsp, 0x18; mov [rsp+0x10], rbp; mov eax, esi
const Code kLeaf = {0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x6c, 0x24, 0x10, 0x8b, 0xc6};
// push rbp; mov rbp, rsp; sub rsp, 0x1000
const Code kWithPointer = {0x55, 0x48, 0x8b, 0xec, 0x48, 0x81, 0xec, 0x00, 0x10, 0x00, 0x00, 0x8b, 0xc6};

FrameStep begin_at(const Code& code, std::size_t at, std::uint64_t frame_bytes) {
  const std::span<const std::uint8_t> all(code);
  return step_of_begin(all.first(at), all.subspan(at), frame_bytes);
}

TEST(TopFrameCode, FollowsHowACompiledFrameIsBuilt) {
  EXPECT_EQ(begin_at(kWithBang, 0, 0x30), FrameStep::kOnTop);
  EXPECT_EQ(begin_at(kWithBang, 7, 0x30), FrameStep::kOnTop) << "at the push";
  EXPECT_EQ(begin_at(kWithBang, 8, 0x30), FrameStep::kPushed);
  EXPECT_EQ(begin_at(kWithBang, 12, 0x30), FrameStep::kWhole) << "the entry barrier, before frame_complete";
  EXPECT_EQ(begin_at(kWithBang, 20, 0x30), FrameStep::kWhole);
  EXPECT_EQ(begin_at(kLeaf, 0, 0x20), FrameStep::kOnTop);
  EXPECT_EQ(begin_at(kLeaf, 4, 0x20), FrameStep::kReserved) << "rbp is stored only now";
  EXPECT_EQ(begin_at(kLeaf, 9, 0x20), FrameStep::kWhole);
  EXPECT_EQ(begin_at(kWithPointer, 1, 0x1010), FrameStep::kPushed);
  EXPECT_EQ(begin_at(kWithPointer, 4, 0x1010), FrameStep::kPushed);
  EXPECT_EQ(begin_at(kWithPointer, 11, 0x1010), FrameStep::kWhole);
  EXPECT_EQ(begin_at({0x48, 0x83, 0xec, 0x08, 0x90}, 4, 0x100), FrameStep::kOnTop) << "the sub of no such frame";
  EXPECT_EQ(begin_at({}, 0, 0x100), FrameStep::kOnTop) << "nothing could be read";
}

TEST(TopFrameCode, FollowsHowAFrameIsTakenDown) {
  const Code pop_poll_17 = {0x5d, 0x49, 0x3b, 0xa7, 0x48, 0x03, 0, 0, 0x0f, 0x87, 1, 0, 0, 0, 0xc3};
  EXPECT_EQ(step_of_end(pop_poll_17), FrameStep::kPushed);
  EXPECT_EQ(step_of_end(std::span(pop_poll_17).subspan(1)), FrameStep::kOnTop) << "at the poll";
  EXPECT_EQ(step_of_end(std::span(pop_poll_17).subspan(8)), FrameStep::kOnTop) << "at its jump";
  EXPECT_EQ(step_of_end(std::span(pop_poll_17).subspan(14)), FrameStep::kOnTop) << "at ret";
  const Code poll_11 = {0x5d, 0x4d, 0x8b, 0x97, 0x08, 0x01, 0, 0, 0x41, 0x85, 0x02, 0xc3};
  EXPECT_EQ(step_of_end(poll_11), FrameStep::kPushed);
  EXPECT_EQ(step_of_end(std::span(poll_11).subspan(8)), FrameStep::kOnTop);
  const Code poll_8 = {0x5d, 0x85, 0x05, 1, 2, 3, 4, 0xc3};
  EXPECT_EQ(step_of_end(poll_8), FrameStep::kPushed);
  EXPECT_EQ(step_of_end(std::span(poll_8).subspan(1)), FrameStep::kOnTop);
  EXPECT_EQ(step_of_end(Code{0xc9, 0xc3}), FrameStep::kLeaving);
}

TEST(TopFrameCode, TakesNothingElseForAnEnd) {
  EXPECT_EQ(step_of_end(Code{0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3}), FrameStep::kWhole) << "the frame is still there";
  EXPECT_EQ(step_of_end(Code{0x5d, 0x90}), FrameStep::kWhole);
  EXPECT_EQ(step_of_end(Code{0x49, 0x3b, 0xa7, 0, 0, 0, 0, 0x0f, 0x87, 0, 0, 0, 0, 0x90}), FrameStep::kWhole)
      << "the poll of a loop";
  EXPECT_EQ(step_of_end({}), FrameStep::kWhole);
}

TEST(TopFrameCode, KnowsCallsByTheirForms) {
  EXPECT_TRUE(ends_in_call(Code{0x90, 0x90, 0xe8, 1, 2, 3, 4}));
  EXPECT_TRUE(ends_in_call(Code{0, 0, 0, 0, 0x41, 0xff, 0xd2})) << "call r10";
  EXPECT_TRUE(ends_in_call(Code{0, 0, 0, 0, 0xff, 0x50, 0x10})) << "call [rax+0x10]";
  EXPECT_FALSE(ends_in_call(Code{0, 0, 0, 0, 0, 0xff, 0xe0})) << "jmp rax";
  EXPECT_FALSE(ends_in_call(Code{0, 0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(ends_in_call({}));
}

TEST(TopFrameCode, ACallSaysWhatItCalls) {
  EXPECT_EQ(target_of_call(Code{0x90, 0x90, 0xe8, 1, 2, 0, 0}, 0x1000), 0x1201u);
  EXPECT_EQ(target_of_call(Code{0xe8, 0xfe, 0xff, 0xff, 0xff}, 0x1000), 0xffeu);
  const Code through_constant{0x49, 0xba, 8, 7, 6, 5, 4, 3, 0, 0, 0x41, 0xff, 0xd2};
  EXPECT_EQ(target_of_call(through_constant, 0x1000), 0x030405060708u);
  const Code through_lea{0x4c, 0x8d, 0x15, 0x10, 0, 0, 0, 0xc5, 0xf8, 0x77, 0x41, 0xff, 0xd2};
  EXPECT_EQ(target_of_call(through_lea, 0x1000), 0x1000u - 6 + 0x10) << "from the end of the lea on";
  EXPECT_EQ(target_of_call(Code{0, 0, 0, 0, 0x41, 0xff, 0xd2}, 0x1000), std::nullopt);
  EXPECT_EQ(target_of_call(Code{0x41, 0xff, 0xd2}, 0x1000), std::nullopt);
  EXPECT_EQ(target_of_call(Code{0xe8, 0, 0}, 0x1000), std::nullopt);
}

}  // namespace
}  // namespace jtrace::coreinspect::x86_64
