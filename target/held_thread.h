// HeldThread: a thread that another tracer holds (gdb, strace, another jtrace), so that it cannot be stopped from here:
// who that is, and what the kernel tells of it all the same.
//
// A thread has one tracer at most (ptrace(2)). Values; functions from any thread.
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
  pid_t tracer = 0;  // its process; 0: one that this process cannot see
  std::string tracer_name;
  bool stands = false;  // the tracer has stopped it; else it goes on under its eyes
};
// "another tracer, process 4711 (gdb)".
std::string describe_tracer(const HeldThread& thread);

// Nothing where the thread has ended, or nobody else holds it. A thread that stands in a stop of ptrace is held also
// where its tracer cannot be seen.
std::optional<HeldThread> find_holder(const Process& process, pid_t tid);

// Stack pointer and pc of a thread that is blocked or stopped, as registers whose others are 0; nothing of one that
// runs. `text`: /proc/PID/task/TID/syscall (proc_pid_syscall(5)).
std::optional<Registers> parse_syscall(std::string_view text);
std::optional<Registers> standing_at(const Process& process, pid_t tid);

}  // namespace jtrace::target
