// frame_x86.hpp, vmreg_x86.hpp (two VMRegs for each register; rbp has number 5).
#pragma once

#include "coreinspect/vm/machine_rules.h"

namespace jtrace::coreinspect::x86_64 {

// Below the end of the frame: the return address, rbp, the flags, a word to align, then rax, rcx, rdx, rbx, rsp, rbp,
// rsi, rdi, r8 to r15 (RegisterSaver of sharedRuntime_x86_64.cpp; MacroAssembler::push_IU_state). Two VMRegs each.
constexpr std::uint32_t saved_register(std::int64_t vmreg) {
  constexpr std::int64_t kRegisters = 16, kStackPointer = 4;
  const std::int64_t number = vmreg / 2;
  if (vmreg < 0 || vmreg % 2 != 0 || number >= kRegisters || number == kStackPointer) return 0;
  return static_cast<std::uint32_t>(40 + 8 * number);
}

// JDK 9 added the mirror, which moved the slots below it by one.
constexpr MachineRules machine_rules(int feature) {
  const int mirror = feature < 9 ? 0 : 1;
  return {.sender_sp = -1,
          .method = -3,
          .bcp = -7 - mirror,
          .initial_sp = -8 - mirror,
          .entry_wrapper = -6,
          .frame_pointer_vmreg = 10,
          .saved_registers = saved_register};
}

}  // namespace jtrace::coreinspect::x86_64
