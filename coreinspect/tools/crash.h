// Crash: why the JVM of a core ended, if it did so by itself. Values; threads: one at a time.
#pragma once

#include <optional>
#include <string>

#include "coreinspect/model/inspection.h"

namespace jtrace::coreinspect {

struct Crash {
  int signal = 0;                // the one that began it; SIGABRT: the JVM has ended itself
  std::optional<Address> fault;  // of SIGSEGV and SIGBUS, if the processor raised it
  pid_t thread = 0;              // native id, as the core has it
  Address pc = 0;                // where that thread was
};

// Nothing if a signal of another process has ended it, or the core is a copy of a process that lived on.
std::optional<Crash> find_crash(const Inspection& inspection);
// Of a core: the signal whose handler its first thread runs. A JVM that crashes aborts itself in its signal handler:
// the core's own signal is that of the abort.
std::optional<Crash> crash_in_handler(const Inspection& inspection);
std::string signal_name(int number);  // "SIGSEGV"

}  // namespace jtrace::coreinspect
