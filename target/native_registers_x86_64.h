// Part of target/native_registers.h: arch/x86/include/uapi/asm/perf_regs.h: ax bx cx dx si di bp sp ip (0 to 8), r8 to
// r15 (16 to 23).
#pragma once

#include <array>
#include <cstdint>

#include "target/isa_x86_64.h"

namespace jtrace::target::x86_64 {

inline constexpr std::uint64_t kPerfRegisters = 0xff01ff;
inline constexpr std::array<std::size_t, 17> kPerfOrder = {kRax, kRbx, kRcx, kRdx, kRsi, kRdi, kRbp, kRsp, kRip,
                                                           kR8,  kR9,  kR10, kR11, kR12, kR13, kR14, kR15};

inline constexpr std::uint32_t kVectorsNote = NT_X86_XSTATE;

// The result of a system call.
inline constexpr std::size_t kCallResult = kRax;

}  // namespace jtrace::target::x86_64
