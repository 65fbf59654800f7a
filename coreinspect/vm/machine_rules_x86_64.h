// frame_x86.hpp, vmreg_x86.hpp (two VMRegs for each register; rbp has number 5).
#pragma once

#include "coreinspect/vm/machine_rules.h"

namespace jtrace::coreinspect::x86_64 {

// JDK 9 added the mirror, which moved the slots below it by one.
constexpr MachineRules machine_rules(int feature) {
  const int mirror = feature < 9 ? 0 : 1;
  return {.sender_sp = -1,
          .method = -3,
          .bcp = -7 - mirror,
          .initial_sp = -8 - mirror,
          .entry_wrapper = -6,
          .frame_pointer_vmreg = 10};
}

}  // namespace jtrace::coreinspect::x86_64
