// The control groups of a process: their folders, and the limit and use of memory, for versions 1 and 2.
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

// The path after "N:CONTROLLERS:" in the line of `controller`; "" if there is none. Version 2 has an empty controller
// ("0::"): pass "".
std::string_view cgroup_path(std::string_view cgroup, std::string_view controller);
// The folder of the cgroup `path` below the mount; "" if it is not below it.
std::string cgroup_folder(const MountEntry& mount, std::string_view path);

// Whether a process is in a group: one of its paths has the components of `group` one after the other, or that is the
// name of its container or pod, or "POD/ID" (container_of_cgroup). `cgroup`: the text of /proc/PID/cgroup. False for an
// empty `group`.
bool is_in_group(std::string_view cgroup, std::string_view group);
// Of a process that is not in the group, but in a container whose id begins so: the container as container_of_cgroup()
// names it; otherwise "". A beginning has four digits at least. Names have no beginnings: web1 is not part of web10.
std::string container_with_beginning(std::string_view cgroup, std::string_view group);

// `read`: reads a file by its path; an error if it does not exist.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

// Where a process's groups of one controller are seen: the folder of its own group first, then those above it, up to
// the mount.
struct GroupView {
  int version = 0;
  std::vector<std::string> folders;
  ReadFile read;  // of a file in these folders; borrows the process
};
// The views that may show them, the best first: this process's own, then the target's in its root, where a container
// usually has its group mounted as the root of the hierarchy. `controller` as version 1 calls it: "cpu", "memory",
// "pids". A file that a view does not have may be in the next one.
std::vector<GroupView> group_views(const Process& process, std::string_view controller);

struct MemoryGroup {
  int version = 0;     // 0: none is visible
  std::string point;   // the mount point
  std::string folder;  // of the process's group: point, or below it
};
// `cgroup`: the text of /proc/PID/cgroup. Returns the hierarchy of version 1 with the controller memory, otherwise that
// of version 2.
MemoryGroup memory_group(std::string_view cgroup, const std::vector<MountEntry>& mounts);

struct GroupMemory {
  MemoryGroup group;
  std::uint64_t used = 0;              // bytes, of the group that has the limit; with page cache
  std::uint64_t inactive_file = 0;     // its page cache that the kernel reclaims first
  std::uint64_t active_file = 0;       // the rest of its page cache, which the kernel reclaims too before it kills
  std::uint64_t killed = 0;            // processes of the group that the kernel has ended for memory
  std::optional<std::uint64_t> limit;  // the lowest limit of the group and those above it; none: unlimited
  std::string limit_folder;            // the group with that limit; if there is none, the process's
  // What it uses without page cache.
  std::uint64_t kept() const {
    const std::uint64_t cache = inactive_file + active_file;
    return used > cache ? used - cache : 0;
  }
};

// Parses a figure of these files: nothing for "max", and for values beyond any machine (version 1 writes its largest
// number).
std::optional<std::uint64_t> parse_group_limit(std::string_view text);

// Errors: kNotFound if the process's group is not visible.
Result<GroupMemory> read_group_memory(const MemoryGroup& group, const ReadFile& read);
// The same for a process: with this process's view of the hierarchy, otherwise with the target's view in its root.
Result<GroupMemory> read_group_memory(const Process& process);

}  // namespace jtrace::target
