// HeldThread: a thread that another tracer holds (gdb, strace, another jtrace), so that it cannot be stopped from here:
// the tracer, and what the kernel still reports about the thread.
//
// A thread has at most one tracer (ptrace(2)). Values; functions from any thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "target/process.h"
#include "target/registers.h"

namespace jtrace::target {

struct HeldThread {
  pid_t tid = 0;     // as this process sees it
  pid_t nstid = 0;   // in its innermost pid namespace; 0 unknown
  std::string name;  // comm
  pid_t tracer = 0;  // its process; 0: a process that is not visible here
  std::string tracer_name;
  bool stands = false;  // the tracer has stopped it; otherwise it is traced but runs
};
// "another tracer, process 4711 (gdb)".
std::string describe_tracer(const HeldThread& thread);

// Nothing if the thread has ended, or no other process holds it. A thread in a ptrace stop counts as held also if its
// tracer is not visible.
std::optional<HeldThread> find_holder(const Process& process, pid_t tid);

// Stack pointer and pc of a thread that is blocked or stopped, with all other registers 0; nothing for a running
// thread. `text`: /proc/PID/task/TID/syscall (proc_pid_syscall(5)).
std::optional<Registers> parse_syscall(std::string_view text);
std::optional<Registers> registers_if_blocked(const Process& process, pid_t tid);

}  // namespace jtrace::target
