// Standstill: whether a process as a whole stands still, and has not merely nothing to do: stopped by a signal (SIGSTOP
// and the like), held by a debugger, or frozen with its cgroup. The kernel tells that it is so, not since when.
//
// Ownership: borrows the process. One thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "target/process.h"

namespace jtrace::target {

// Where a cgroup says whether it is frozen, and the word by which it does.
struct FreezerFile {
  std::string path;  // "": none
  std::string_view word;
};
// `cgroup`: /proc/PID/cgroup; `mounts`: those of the cgroup file systems are looked at. A hierarchy of version 1 with a
// freezer, else version 2 (cgroups(7), cgroup-v1/freezer-subsystem.rst, cgroup-v2.rst).
FreezerFile freezer_of(std::string_view cgroup, const std::vector<MountEntry>& mounts);

// Field 3 of /proc/PID/stat, '?' where the text is none (proc(5)).
char parse_state(std::string_view stat);

class Standstill {
 public:
  explicit Standstill(const Process& process) : process_(process) {}
  // Now; false also where that cannot be seen. Four reads of /proc and the cgroup, of a stopped process one for each
  // thread.
  bool is_still();

 private:
  char state_of(pid_t thread) const;
  bool all_stopped() const;
  bool is_frozen();

  const Process& process_;
  std::string cgroup_;  // what freezer_ was found by
  FreezerFile freezer_;
};

}  // namespace jtrace::target
