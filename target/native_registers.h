// The registers of this program's machine, as its kernel has them in samples and hands them to BPF programs. Constants.
#pragma once

#include <algorithm>
#include <span>

#include "target/native_registers_aarch64.h"
#include "target/native_registers_x86_64.h"
#include "target/registers.h"

namespace jtrace::target {

namespace native {
inline constexpr bool kAarch64 = kNativeIsa == Isa::kAarch64;
}
inline constexpr const IsaTraits& kNativeTraits = native::kAarch64 ? aarch64::kTraits : x86_64::kTraits;

// perf_event_open(2): what to ask for (sample_regs_user): pc, sp, and all that a walk of the stack may need.
inline constexpr std::uint64_t kPerfRegisters = native::kAarch64 ? aarch64::kPerfRegisters : x86_64::kPerfRegisters;
// In the order of a sample, the index of each in Registers::words.
inline constexpr std::span<const std::size_t> kPerfOrder = native::kAarch64
                                                               ? std::span<const std::size_t>(aarch64::kPerfOrder)
                                                               : std::span<const std::size_t>(x86_64::kPerfOrder);

// struct pt_regs, the context of a BPF program at a uprobe, begins with Registers::words (asm/ptrace.h of x86-64;
// user_pt_regs of AArch64). So many of them have the general registers, sp and pc.
inline constexpr std::size_t kContextWords = std::max(kNativeTraits.sp, kNativeTraits.pc) + 1;

// The register with the result of a system call.
inline constexpr std::size_t kCallResult = native::kAarch64 ? aarch64::kCallResult : x86_64::kCallResult;

// The note of a core with the vector registers that NT_FPREGSET does not have. On AArch64 it has all but those of SVE,
// which no walk needs: none.
inline constexpr std::uint32_t kVectorsNote = native::kAarch64 ? aarch64::kVectorsNote : x86_64::kVectorsNote;

}  // namespace jtrace::target
