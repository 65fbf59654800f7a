#include "target/standstill.h"

#include "base/file.h"
#include "target/cgroup.h"
#include "target/stat_line.h"

namespace jtrace::target {

char parse_state(std::string_view stat) { return StatLine(stat).state(); }

FreezerFile freezer_of(std::string_view cgroup, const std::vector<MountEntry>& mounts) {
  for (const MountEntry& mount : mounts) {
    if (mount.type != "cgroup" || !mount.point.ends_with("/freezer")) continue;
    // The root of the hierarchy cannot be frozen.
    const std::string folder = cgroup_folder(mount, cgroup_path(cgroup, "freezer"));
    if (!folder.empty() && folder != mount.point) return {folder + "/freezer.state", "FROZEN"};
  }
  for (const MountEntry& mount : mounts) {
    if (mount.type != "cgroup2") continue;
    const std::string folder = cgroup_folder(mount, cgroup_path(cgroup, ""));
    if (!folder.empty() && folder != mount.point) return {folder + "/cgroup.events", "frozen 1"};
  }
  return {};
}

bool Standstill::is_still() {
  switch (state_of(process_.pid())) {
    case 'T':
    case 't':
    case 'Z': return all_stopped();  // Z: its first thread has ended, others may run
    default: return is_frozen();
  }
}

char Standstill::state_of(pid_t thread) const {
  const auto stat = process_.read_proc("task/" + std::to_string(thread) + "/stat");
  return stat ? parse_state(*stat) : '?';
}

// A debugger stops threads one by one, and a tracer of system calls stops one at a time.
bool Standstill::all_stopped() const {
  const auto threads = process_.threads();
  bool any = false;
  for (const pid_t thread : threads ? *threads : std::vector<pid_t>()) {
    const char state = state_of(thread);
    const bool stopped = state == 'T' || state == 't';
    if (!stopped && state != 'Z' && state != 'X') return false;
    any = any || stopped;
  }
  return any;
}

bool Standstill::is_frozen() {
  const auto cgroup = process_.read_proc("cgroup");
  if (!cgroup) return false;
  if (*cgroup != cgroup_) {
    const auto mounts = read_file("/proc/self/mountinfo");
    freezer_ = freezer_of(*cgroup, mounts ? parse_mountinfo(*mounts) : std::vector<MountEntry>());
    cgroup_ = *cgroup;
  }
  if (freezer_.path.empty()) return false;
  const auto state = read_file(freezer_.path);
  if (!state || state->find(freezer_.word) == std::string::npos) return false;
  // The process may have left that cgroup in the meantime.
  const auto later = process_.read_proc("cgroup");
  return later && *later == cgroup_;
}

}  // namespace jtrace::target
