// Parses the texts of /proc/PID (proc_pid_status(5), proc_pid_stat(5), proc_pid_mountinfo(5), cgroups(7)). Pure
// functions, any thread. Missing values keep their defaults, because kernels differ in what they write.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jtrace::target {

// /proc/PID/status
struct ProcessStatus {
  std::string name;  // comm, at most 15 bytes
  char state = '?';  // R S D T t Z X I
  pid_t tgid = 0;    // the process to which the id belongs
  pid_t pid = 0;
  pid_t ppid = 0;
  pid_t tracer = 0;          // 0: not traced
  uid_t uid = 0;             // effective
  gid_t gid = 0;             // effective
  std::vector<pid_t> nspid;  // by pid namespace, this process's first, the innermost last; empty before Linux 4.1
  std::uint64_t signals_pending = 0;         // SigPnd: of the main thread; bit N-1 is signal N
  std::uint64_t signals_pending_shared = 0;  // ShdPnd: of the process
  std::uint64_t signals_caught = 0;          // SigCgt

  bool catches(int signal) const { return (signals_caught >> (signal - 1) & 1) != 0; }
  bool has_pending(int signal) const { return ((signals_pending | signals_pending_shared) >> (signal - 1) & 1) != 0; }
  bool is_stopped() const { return state == 'T' || state == 't'; }
  bool has_exited() const { return state == 'Z' || state == 'X'; }
};
ProcessStatus parse_status(std::string_view text);

// Field 22 of /proc/PID/stat: start time in clock ticks since boot; 0 if the text is not a stat line.
std::uint64_t parse_start_ticks(std::string_view stat);
// The sum of fields 14 and 15: processor time in clock ticks.
std::uint64_t parse_cpu_ticks(std::string_view stat);

// The soft limit of this name, from the text of /proc/PID/limits (proc_pid_limits(5)); nothing if it is unlimited or
// missing.
std::optional<std::uint64_t> soft_limit(std::string_view limits, std::string_view name);

// The bytes of a line of the text of /proc/PID/status: "VmSwap:      16 kB"; nothing if it is missing.
std::optional<std::uint64_t> bytes_of_status(std::string_view status, std::string_view name);

// The arguments in /proc/PID/cmdline.
std::vector<std::string> parse_cmdline(std::string_view text);

// One line of /proc/PID/mountinfo.
struct MountEntry {
  dev_t device = 0;
  std::string root;       // mounted directory of the file system
  std::string point;      // mount point, relative to the process's root
  bool writable = false;  // neither the mount nor the file system is read-only
  bool noexec = false;
  std::string type;  // "ext4", "tmpfs", "overlay"
};
std::vector<MountEntry> parse_mountinfo(std::string_view text);
// The mount that contains `path` (absolute, without links): the last one with the longest matching mount point. Null if
// there is none.
const MountEntry* mount_of(const std::vector<MountEntry>& mounts, std::string_view path);

// The container's id, from /proc/PID/cgroup: 12 to 64 hex digits as docker, containerd, cri-o, podman write it, or a
// name of lxc or nspawn, with the pod before it if there is one ("pod<uid>/<id>"); "" outside containers.
std::string container_of_cgroup(std::string_view text);

}  // namespace jtrace::target
