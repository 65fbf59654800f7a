#include "target/standstill.h"

#include "base/file.h"
#include "base/strings.h"

namespace jtrace::target {
namespace {

// The path after "N:CONTROLLERS:" in the line of these controllers; "" if there is none. Version 2 has no controllers
// there ("0::").
std::string_view path_of(std::string_view cgroup, std::string_view controller) {
  for (const std::string_view line : split(cgroup, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() < 3) continue;
    for (const std::string_view each : split(fields[1], ','))
      if (each == controller) return line.substr(fields[0].size() + fields[1].size() + 2);
  }
  return {};
}

// Path of the cgroup below that mount; "" if it is not below it.
std::string folder_of(const MountEntry& mount, std::string_view path) {
  const std::string_view root = mount.root == "/" ? std::string_view() : std::string_view(mount.root);
  if (path.empty() || !path.starts_with(root)) return {};
  path.remove_prefix(root.size());
  if (!path.empty() && path.front() != '/') return {};
  return path == "/" ? mount.point : mount.point + std::string(path);
}

}  // namespace

char parse_state(std::string_view stat) {
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string_view::npos || name_end + 2 >= stat.size() ? '?' : stat[name_end + 2];
}

FreezerFile freezer_of(std::string_view cgroup, const std::vector<MountEntry>& mounts) {
  for (const MountEntry& mount : mounts) {
    if (mount.type != "cgroup" || !mount.point.ends_with("/freezer")) continue;
    // The root of the hierarchy cannot be frozen.
    const std::string folder = folder_of(mount, path_of(cgroup, "freezer"));
    if (!folder.empty() && folder != mount.point) return {folder + "/freezer.state", "FROZEN"};
  }
  for (const MountEntry& mount : mounts) {
    if (mount.type != "cgroup2") continue;
    const std::string folder = folder_of(mount, path_of(cgroup, ""));
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
