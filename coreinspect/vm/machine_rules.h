// MachineRules: what depends on the machine and the JDK and is not in vmStructs: where frames of generated code have
// their parts, how ZGC colours pointers.
// Slots are words from fp, in an interpreter frame if nothing else is said. Constants.
#pragma once

#include <cstdint>

namespace jtrace::coreinspect {

struct MachineRules {
  int sender_sp = 0;
  int method = 0;
  int bcp = 0;                            // the slot above it has the locals
  int initial_sp = 0;                     // the monitor block begins there
  int entry_wrapper = 0;                  // the JavaCallWrapper in the frame of the call stub
  std::uint32_t frame_pointer_vmreg = 0;  // VMReg of the one register that compiled code preserves over calls
  // A call leaves the return address in a register: a frame that runs can be without any stack.
  bool calls_by_link = false;
  // Bits of colour below the address in a pointer of generational ZGC; 0: as many as its remapped bit says.
  std::uint32_t z_pointer_shift = 0;
};

}  // namespace jtrace::coreinspect
