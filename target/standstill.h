// Standstill: whether a whole process is stopped, as opposed to idle: by a signal (SIGSTOP and similar), by a debugger,
// or by the freezer of its cgroup. The kernel does not report since when.
//
// Ownership: borrows the process. One thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "target/process.h"

namespace jtrace::target {

// The file in which a cgroup reports that it is frozen, and the word in it that means so.
struct FreezerFile {
  std::string path;  // "": none
  std::string_view word;
};
// `cgroup`: the text of /proc/PID/cgroup; `mounts`: only those of cgroup file systems are used. Returns the file of a
// hierarchy of version 1 with a freezer, otherwise of version 2 (cgroups(7), cgroup-v1/freezer-subsystem.rst,
// cgroup-v2.rst).
FreezerFile freezer_of(std::string_view cgroup, const std::vector<MountEntry>& mounts);

// Field 3 of /proc/PID/stat; '?' if the text is not a stat line (proc(5)).
char parse_state(std::string_view stat);

class Standstill {
 public:
  explicit Standstill(const Process& process) : process_(process) {}
  // The state now; false also if it cannot be read. Four reads of /proc and the cgroup; for a stopped process one for
  // each thread.
  bool is_still();

 private:
  char state_of(pid_t thread) const;
  bool all_stopped() const;
  bool is_frozen();

  const Process& process_;
  std::string cgroup_;  // the text from which freezer_ was determined
  FreezerFile freezer_;
};

}  // namespace jtrace::target
