// A live process, held by descriptors, so that its number cannot refer to a later process.
//
// Process::open opens /proc/PID, /proc/PID/root (if allowed) and a pidfd, and checks that they belong to one process.
// Properties that can change (state, signals, maps) are read anew by each call; ids and the command line are read once.
// Reading most files of /proc/PID takes 10 to 40 us, which matters for a command that takes 1 ms: read them only when
// they are needed. Ownership: owns its descriptors; movable. Threads: const functions from any thread; no setns, no
// chroot, no seteuid. Errors: kNotFound (gone, a thread's id, a zombie), kUsage (not a pid), kSystem with errno (not
// allowed).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "target/memory_map.h"
#include "target/proc_text.h"

namespace jtrace::target {

class Process {
 public:
  static Result<Process> open(pid_t pid);

  pid_t pid() const { return pid_; }      // in this process's pid namespace
  pid_t nspid() const { return nspid_; }  // in the process's innermost pid namespace
  uid_t uid() const { return uid_; }      // effective, in this process's user namespace, when opened
  gid_t gid() const { return gid_; }
  std::uint64_t start_ticks()
      const;  // clock ticks since boot: with pid, an identity within a boot; 0 once the process is gone
  const std::string& comm() const { return comm_; }
  const std::vector<std::string>& cmdline() const { return cmdline_; }  // empty: a kernel thread, or not readable

  // Reads it now.
  Result<ProcessStatus> status() const;
  // Returns the status that was read at opening if that is at most 5 ms ago, otherwise as status().
  Result<ProcessStatus> recent_status() const;
  Result<std::vector<Mapping>> maps() const;
  Result<std::vector<MountEntry>> mounts() const;
  Result<std::vector<pid_t>> threads() const;  // thread ids in this process's pid namespace, ascending
  std::string container() const;               // container_of_cgroup(); "" if none or unknown
  std::uint64_t pid_namespace() const;         // inode of /proc/PID/ns/pid; 0 if it may not be read
  std::uint64_t mount_namespace() const;       // inode of /proc/PID/ns/mnt; 0 if it may not be read

  // True if the process has ended (also a zombie). Never blocks.
  bool has_exited() const;
  // Becomes readable when the process ends, for poll(2). -1 on kernels without pidfd (before 5.3).
  int pidfd() const { return pidfd_.get(); }
  // Sends `signal` to this process, never to a later one with the same number.
  Result<> send_signal(int signal) const;

  // Descriptors of /proc/PID and /proc/PID/root, owned by this object. root_fd is -1 if the root may not be opened
  // (root_error has the reason).
  int proc_fd() const { return proc_.get(); }
  int root_fd() const { return root_.get(); }
  const Error& root_error() const { return root_error_; }
  // A new descriptor of the current directory (O_PATH).
  Result<UniqueFd> open_cwd() const;
  // `path` as the process sees it, resolved inside its root (target/root_directory.h).
  Result<UniqueFd> open_in_root(std::string_view path, int flags, unsigned mode = 0) const;
  // The whole contents of a regular file inside the root; other files (a FIFO, a device) are refused.
  Result<std::string> read_in_root(std::string_view path, std::size_t limit = 1u << 20) const;
  // The whole contents of a file of /proc/PID.
  Result<std::string> read_proc(std::string_view name, std::size_t limit = 64u << 20) const;
  // Opens the mapped file itself: through map_files if allowed (also if it was deleted), otherwise by its path inside
  // the root.
  Result<UniqueFd> open_mapped(const Mapping& mapping) const;
  // Converts a path of maps(), which is relative to this process's root, to the process's view: without the prefix of
  // its chroot.
  std::string path_inside(std::string_view path) const;
  std::string proc_path(std::string_view name) const;  // "/proc/PID/NAME", for messages

 private:
  Process() = default;

  pid_t pid_ = 0;
  pid_t nspid_ = 0;
  uid_t uid_ = 0;
  gid_t gid_ = 0;
  ProcessStatus opening_status_;
  std::chrono::steady_clock::time_point opened_;
  std::string comm_;
  std::vector<std::string> cmdline_;
  std::string root_path_;  // of the chroot, as this process's root sees it; "/" if there is none
  UniqueFd proc_;
  UniqueFd root_;
  UniqueFd pidfd_;
  Error root_error_{};
};

// A process id from its text: only decimal digits, not 0; otherwise kUsage. Above the kernel's PID_MAX_LIMIT (4194304):
// kNotFound.
Result<pid_t> parse_pid(std::string_view text);

std::string boot_id();  // /proc/sys/kernel/random/boot_id; "" if it cannot be read

}  // namespace jtrace::target
