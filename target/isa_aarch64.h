// Registers and notes of aarch64: user_pt_regs (arch/arm64/include/uapi/asm/ptrace.h): x0 to x30, sp, pc, pstate.
#pragma once

#include <elf.h>

#include "target/isa.h"

namespace jtrace::target::aarch64 {

enum Word : std::size_t {
  kX0 = 0,
  kX1,
  kX2,
  kX8 = 8,
  kX12 = 12,
  kX19 = 19,
  kX22 = 22,
  kX29 = 29,
  kX30 = 30,
  kSp,
  kPc,
  kState,
  kWords
};

// In each thread's notes (owner LINUX): the bits of pointers to data and to code that hold signatures, two words.
inline constexpr std::uint32_t kNotePacMask = 0x406;  // NT_ARM_PAC_MASK

// Pointer authentication with addresses of 48 bits: bits 48 to 54.
inline constexpr std::uint64_t kUsualSignatureBits = 0x007f'0000'0000'0000;

inline constexpr IsaTraits kTraits{.name = "AArch64",
                                   .machine = EM_AARCH64,
                                   .register_words = kWords,
                                   .prstatus_size = 392,
                                   .pc = kPc,
                                   .sp = kSp,
                                   .fp = kX29,
                                   .first_general = kX0,
                                   .last_general = kX30,
                                   .bytecodes = kX22,
                                   .method = kX12,
                                   .sender_sp = kX19,
                                   .link = kX30,
                                   .syscall = kX8,
                                   .arguments = {kX0, kX1, kX2},
                                   .futex = 98,
                                   .signature_bits = kUsualSignatureBits};

}  // namespace jtrace::target::aarch64
