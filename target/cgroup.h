// The control group of a process: where it is, and its limit and use of memory, in version 1 and 2.
//
// cgroups(7), Documentation/admin-guide/cgroup-v1/memory.rst, cgroup-v2.rst. A path in /proc/PID/cgroup is relative to
// the reader's cgroup namespace: one that begins with "/.." cannot be seen from here. Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "target/process.h"

namespace jtrace::target {

// The path after "N:CONTROLLERS:" in the line of that controller; "" if there is none. Version 2 has no controllers
// there ("0::"): ask for "".
std::string_view cgroup_path(std::string_view cgroup, std::string_view controller);
// Path of that cgroup below that mount; "" if it is not below it.
std::string cgroup_folder(const MountEntry& mount, std::string_view path);

struct MemoryGroup {
  int version = 0;     // 0: there is none that can be seen
  std::string point;   // of the mount
  std::string folder;  // of the process's group: point, or below it
};
// `cgroup`: /proc/PID/cgroup. A hierarchy of version 1 with the controller memory, else version 2.
MemoryGroup memory_group(std::string_view cgroup, const std::vector<MountEntry>& mounts);

struct GroupMemory {
  MemoryGroup group;
  std::uint64_t used = 0;              // bytes, of the group that has the limit; with page cache
  std::uint64_t inactive_file = 0;     // page cache of it that the kernel gives back first
  std::optional<std::uint64_t> limit;  // the lowest of the group and those above it; none: unlimited
  std::string limit_folder;            // the group that has it; without one the process's
};

// A figure of these files: "max" and what no machine has (version 1 writes its largest number) are none.
std::optional<std::uint64_t> parse_group_limit(std::string_view text);

// `read`: a file by its path; an error where it is not there. Errors: kNotFound if the process's group cannot be seen.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;
Result<GroupMemory> read_group_memory(const MemoryGroup& group, const ReadFile& read);
// The same of a process: as this process sees the hierarchy, else as the target does in its root.
Result<GroupMemory> read_group_memory(const Process& process);

}  // namespace jtrace::target
