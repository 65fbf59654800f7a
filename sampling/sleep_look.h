// Whether a thread slept while its stack was read in memory, by what the kernel reports of it before and after.
// Pure.
#pragma once

#include <string>

namespace jtrace::sampling {

// What /proc/PID/task/TID has of a thread at a moment.
struct ThreadMoment {
  std::string call;      // "syscall" (proc_pid_syscall): "running", or where it is blocked; "" if not readable
  std::string switches;  // of "status": grow whenever it gives its processor up
  bool operator==(const ThreadMoment&) const = default;
};

enum class Sleep {
  kGone,    // it has ended, or is not readable
  kNone,    // it runs
  kBroken,  // it slept, but ran meanwhile: its stack is not known
  kWhole,
};

inline bool runs(const ThreadMoment& moment) { return moment.call.starts_with("running"); }
inline Sleep sleep_between(const ThreadMoment& before, const ThreadMoment& after) {
  if (before.call.empty()) return Sleep::kGone;
  if (runs(before)) return Sleep::kNone;
  return before == after && !before.switches.empty() ? Sleep::kWhole : Sleep::kBroken;
}

}  // namespace jtrace::sampling
