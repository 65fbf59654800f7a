// Whether a core is that of a process that a signal killed, and not a copy of one that lived on (gcore, jtrace core).
#pragma once

#include <csignal>

#include "target/core_file.h"

namespace jtrace::coreinspect {

// The signals whose default action is a core (signal(7)). False too if the core names no signal.
inline bool died_by_signal(const target::CoreFile& core) {
  const int first = core.threads().empty() ? 0 : core.threads().front().signal;
  switch (core.signal() ? core.signal()->number : first) {
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGFPE:
    case SIGABRT:
    case SIGTRAP:
    case SIGSYS:
    case SIGXCPU:
    case SIGXFSZ:
    case SIGQUIT: return true;
    default: return false;
  }
}

}  // namespace jtrace::coreinspect
