// MachineRules: what depends on the machine and the JDK and is not in vmStructs: where frames of generated code have
// their parts, how ZGC colours pointers.
// Slots are words from fp, in an interpreter frame unless noted otherwise. Constants.
#pragma once

#include <cstdint>
#include <optional>

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
  // Where the stub of a safepoint poll has saved a register (VMReg): bytes below the end of its frame; 0: not known.
  std::uint32_t (*saved_registers)(std::int64_t vmreg) = nullptr;
  // Bits of colour below the address in a pointer of generational ZGC; 0: as many as its remapped bit says.
  std::uint32_t z_pointer_shift = 0;
  std::optional<std::uint32_t> saved_register(std::int64_t vmreg) const {
    const std::uint32_t at = saved_registers != nullptr ? saved_registers(vmreg) : 0;
    return at == 0 ? std::nullopt : std::optional(at);
  }
};

}  // namespace jtrace::coreinspect
