// TopFrame for aarch64: a call leaves the return address in x30; the prologue stores x29 and x30 as a pair at the top
// of the frame, the epilogue loads them. So the caller is in x30 before and after that, else in the frame.
#pragma once

#include <span>

#include "coreinspect/unwind/top_frame.h"
#include "target/target.h"

namespace jtrace::coreinspect::aarch64 {

std::vector<Caller> callers(const target::MemoryReader& memory, const target::Target& target, const CodeCache& code,
                            const CodeBlob& blob, const TopFrame::At& at);
std::vector<Caller> callers_without_frame(const target::MemoryReader& memory, const target::Target& target,
                                          const CodeCache& code, const TopFrame::At& at);

// The code from that address on, as far as it is readable, in whole instructions.
std::vector<std::uint32_t> instructions(const target::MemoryReader& memory, Address at, std::size_t bytes);

// What a run of instructions does to the frame.
struct FrameChange {
  std::uint64_t reserved = 0;  // bytes by which sp is lower than before it
  bool saved = false;          // x29 and x30 are on the stack
  bool pointed = false;        // x29 is this frame's
};
// Of a prologue, from the start of the code to the pc.
FrameChange frame_made(std::span<const std::uint32_t> before);
// Bytes by which sp rises from the pc to the ret if the pair is loaded already; nothing if the frame is still there.
std::optional<std::uint64_t> frame_left(std::span<const std::uint32_t> after);
// bl or blr
bool is_call(std::uint32_t instruction);
bool is_after_call(const target::MemoryReader& memory, Address pc);

}  // namespace jtrace::coreinspect::aarch64
