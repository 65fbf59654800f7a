// frame_aarch64.hpp, zAddress_aarch64.hpp (ZPointerLoadShift), vmreg_aarch64.hpp (two VMRegs for each register; x29 is
// the frame pointer). Nothing of it is in this machine's vmStructs.
#pragma once

#include "coreinspect/vm/machine_rules.h"

namespace jtrace::coreinspect::aarch64 {

// JDK 9 added the mirror and a word of padding (from 20 on: extended sp) that keeps sp a multiple of 16.
constexpr MachineRules machine_rules(int feature) {
  const int more = feature < 9 ? 0 : 2;
  return {.sender_sp = -1,
          .method = -3,
          .bcp = -7 - more,
          .initial_sp = -8 - more,
          .entry_wrapper = -8,
          .frame_pointer_vmreg = 58,
          .calls_by_link = true,
          .z_pointer_shift = 16};
}

}  // namespace jtrace::coreinspect::aarch64
