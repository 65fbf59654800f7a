// The socket for which a thread waits in a system call. Pure but for what it reads of the target; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "target/memory_reader.h"

namespace jtrace::target {

// The descriptor with which it reads, writes or connects, or the only one that it polls. It may be of something else
// than a socket. `text`: /proc/PID/task/TID/syscall (proc_pid_syscall(5)); `memory`: of that process. Nothing if the
// thread runs or is in another call.
std::optional<int> descriptor_of_syscall(std::string_view text, const MemoryReader& memory);

}  // namespace jtrace::target
