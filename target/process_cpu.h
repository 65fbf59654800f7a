// The processor time of a whole process, threads that have ended included. Header only. Any thread.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace jtrace::target {

// ns; nothing if it has ended. Unlike /proc/PID/stat it has no ticks, and the times of running threads up to now.
inline std::optional<std::uint64_t> process_cpu_ns(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(time.tv_sec) * kNanosPerSecond + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace jtrace::target
