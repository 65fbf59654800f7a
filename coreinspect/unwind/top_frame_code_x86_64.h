// What the instructions at a pc say about the frame: generated code builds and removes its frame in a few known ways,
// so the bytes around the pc show which step was reached. For a pc that is not a return address.
//
// The shapes are those of MacroAssembler, C1 and C2 of JDK 8 to 27 (x86-64). Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace jtrace::coreinspect::x86_64 {

enum class FrameStep {
  kWhole,     // the frame is complete, as far as the code shows
  kOnTop,     // the return address is on top of the stack: no frame yet, or no longer
  kPushed,    // the caller's rbp is on top of the stack, the return address above it
  kReserved,  // the frame has its size, but rbp still is the caller's
  kLeaving,   // rbp leads to the caller's rbp and the return address
};

// `before`: the bytes before the pc, at most from the start of the code; `after`: the bytes from the pc on, as far as
// they could be read. The end of a frame is pop rbp, leave, the safepoint poll, ret; kWhole if it is none of them.
FrameStep step_of_end(std::span<const std::uint8_t> after);
// The start of a compiled method's frame, for a pc before its frame_complete. `frame_bytes`: the size of the complete
// frame. kOnTop if no step was done yet.
FrameStep step_of_begin(std::span<const std::uint8_t> before, std::span<const std::uint8_t> after,
                        std::uint64_t frame_bytes);
// push rbp; mov rbp, rsp (MacroAssembler::enter).
bool is_enter(std::span<const std::uint8_t> code);
// Whether these bytes end in a call, so that what follows is a return address.
bool ends_in_call(std::span<const std::uint8_t> before);
// What is called by the call that these bytes end in, where they say it: a direct call, or one of r10 which was loaded
// just before (C2's calls of stubs; vzeroupper may come between). `pc`: the return address.
std::optional<std::uint64_t> target_of_call(std::span<const std::uint8_t> before, std::uint64_t pc);
inline constexpr std::size_t kLongestCallSequence = 16;  // bytes of such a call

}  // namespace jtrace::coreinspect::x86_64
