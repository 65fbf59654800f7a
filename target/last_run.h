// How long threads of a live process have not run: the kernel notes when a thread ran last (se.exec_start in
// /proc/PID/task/TID/sched, kernel/sched/debug.c), by the clock of the processor it ran on. Needs CONFIG_SCHED_DEBUG,
// which distributions have. Any thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "target/process.h"

namespace jtrace::target {

// ns of the processor's clock; nothing if the text does not have it. A kernel with delayed dequeueing (Linux 6.12 and
// later) writes 0 when it moves a thread that has just gone to sleep to another processor: then it is not known.
std::optional<std::uint64_t> parse_last_run(std::string_view sched);

// Of threads that sleep: the least time for which each has not run. The clocks of processors stand still while those
// handle interrupts, or a hypervisor has taken them away, so it may be longer. What is longer than the thread's life is
// of no clock, and left out. Whatever makes a thread run begins it anew: a signal, and a tracer that stops it. The
// calling thread visits the processors for it; threads of one that it may not use are left out, and those that `limit`
// leaves no time for.
std::map<pid_t, std::chrono::nanoseconds> times_asleep(const Process& process, std::span<const pid_t> tids,
                                                       std::chrono::nanoseconds limit);

}  // namespace jtrace::target
