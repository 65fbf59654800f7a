// Whether a process is frozen by its control group (`docker pause`, systemd's freezer): it does not run, and handles
// signals when it is thawed. Reads files only; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "target/process.h"

namespace jtrace::attach {

// The files with the state, from the text of /proc/PID/cgroup: cgroup.events (v2) and freezer.state (v1) below
// /sys/fs/cgroup.
std::vector<std::string> freezer_files(std::string_view cgroups);
// True if the text of such a file means frozen: "frozen 1" among the events (cgroups(7)), "FROZEN" or "FREEZING"
// (freezer-subsystem.rst).
bool shows_frozen(std::string_view text);

// False too if the groups are not visible.
bool is_frozen(const target::Process& process);

}  // namespace jtrace::attach
