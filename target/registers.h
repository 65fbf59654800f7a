// The integer registers of a stopped thread, in the kernel's order for its machine, as returned by PTRACE_GETREGSET and
// stored in NT_PRSTATUS of a core. A value, any thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>

#include "target/isa.h"
#include "target/memory_reader.h"

namespace jtrace::target {

struct Registers {
  std::array<std::uint64_t, kMostRegisterWords> words{};
  Isa isa = kNativeIsa;

  const IsaTraits& traits() const { return traits_of(isa); }
  Address pc() const { return words[traits().pc]; }
  Address sp() const { return words[traits().sp]; }
  Address fp() const { return words[traits().fp]; }
  // As HotSpot uses them (IsaTraits).
  Address bytecodes() const { return words[traits().bytecodes]; }
  Address method() const { return words[traits().method]; }
  Address sender_sp() const { return words[traits().sender_sp]; }
  Address link() const { return words[traits().link]; }

  // With all other registers 0.
  static Registers at(Isa isa, Address pc, Address sp, Address fp = 0) {
    Registers registers{.words = {}, .isa = isa};
    registers.words[registers.traits().pc] = pc;
    registers.words[registers.traits().sp] = sp;
    registers.words[registers.traits().fp] = fp;
    return registers;
  }
};

// One thread with its registers. `tid`: in the target's innermost pid namespace, if that is known.
struct ThreadRegisters {
  pid_t tid = 0;
  Registers registers;
  int signal = 0;            // the signal that stopped it; 0 none
  std::uint64_t cpu_ns = 0;  // user and system time; 0 if unknown
};

}  // namespace jtrace::target
