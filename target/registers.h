// The integer registers of a stopped thread, in the kernel's order (user_regs_struct of <sys/user.h>, x86-64), as
// returned by PTRACE_GETREGSET and stored in NT_PRSTATUS of a core. A value, any thread.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>

#include "target/memory_reader.h"

namespace jtrace::target {

struct Registers {
  user_regs_struct values{};

  Address pc() const { return values.rip; }
  Address sp() const { return values.rsp; }
  Address fp() const { return values.rbp; }
  Address r13() const { return values.r13; }  // the interpreter's bytecode pointer
};

// One thread with its registers. `tid`: in the target's innermost pid namespace, if that is known.
struct ThreadRegisters {
  pid_t tid = 0;
  Registers registers;
  int signal = 0;            // the signal that stopped it; 0 none
  std::uint64_t cpu_ns = 0;  // user and system time; 0 if unknown
};

}  // namespace jtrace::target
