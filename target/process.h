// A live process, held by descriptors so that the number cannot come to mean another one.
//
// Process::open takes /proc/PID, /proc/PID/root (where we may) and a pidfd, and checks that they are of one process.
// What can change (state, signals, maps) is read anew by each call; ids and the command line are read once. Most of
// what is in /proc/PID costs 10 to 40 us to read, which counts against a command that takes 1 ms: read on demand.
// Ownership: owns its descriptors; movable. Threads: const functions from any thread; no setns, no chroot, no seteuid.
// Errors: kNotFound (gone, a thread's id, a zombie), kUsage (not a pid), kSystem with errno (not allowed).
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

  pid_t pid() const { return pid_; }      // ours
  pid_t nspid() const { return nspid_; }  // the process's own, in its innermost pid namespace
  uid_t uid() const { return uid_; }      // effective, in our user namespace, when opened
  gid_t gid() const { return gid_; }
  std::uint64_t start_ticks() const;  // clock ticks since boot: with pid, an identity within a boot; 0 once it is gone
  const std::string& comm() const { return comm_; }
  const std::vector<std::string>& cmdline() const { return cmdline_; }  // empty: a kernel thread, or not readable

  // Read now.
  Result<ProcessStatus> status() const;
  // The one that was read at opening while that is not longer ago than 5 ms, else as status().
  Result<ProcessStatus> recent_status() const;
  Result<std::vector<Mapping>> maps() const;
  Result<std::vector<MountEntry>> mounts() const;
  Result<std::vector<pid_t>> threads() const;  // thread ids, ours, ascending
  std::string container() const;               // container_of_cgroup(); "" where none or unknown
  std::uint64_t pid_namespace() const;         // inode of /proc/PID/ns/pid; 0 where we may not look
  std::uint64_t mount_namespace() const;       // inode of /proc/PID/ns/mnt; 0 where we may not look

  // True once the process has ended (a zombie too). Never blocks.
  bool has_exited() const;
  // Becomes readable when the process ends: to poll beside other descriptors. -1 on kernels without pidfd (before 5.3).
  int pidfd() const { return pidfd_.get(); }
  // Sends `signal` to this process and to no later one of the same number.
  Result<> send_signal(int signal) const;

  // Descriptors of /proc/PID and /proc/PID/root, owned by this object. root_fd is -1 where we may not look inside
  // (root_error says why).
  int proc_fd() const { return proc_.get(); }
  int root_fd() const { return root_.get(); }
  const Error& root_error() const { return root_error_; }
  // A new descriptor of the current directory (O_PATH).
  Result<UniqueFd> open_cwd() const;
  // `path` as the process sees it, resolved inside its root (target/root_directory.h).
  Result<UniqueFd> open_in_root(std::string_view path, int flags, unsigned mode = 0) const;
  // A regular file inside the root, whole; anything else (a FIFO, a device) is refused.
  Result<std::string> read_in_root(std::string_view path, std::size_t limit = 1u << 20) const;
  // A file of /proc/PID, whole.
  Result<std::string> read_proc(std::string_view name, std::size_t limit = 64u << 20) const;
  // The mapped file itself: through map_files where we may (also when it was deleted), else by path inside the root.
  Result<UniqueFd> open_mapped(const Mapping& mapping) const;
  // A path of maps(), which is as our root sees it, as the process sees it: without the prefix of its chroot.
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
  std::string root_path_;  // of the chroot, as our root sees it; "/" where there is none
  UniqueFd proc_;
  UniqueFd root_;
  UniqueFd pidfd_;
  Error root_error_{};
};

// The text of a process id: decimal digits alone, not 0; else kUsage. Beyond the kernel's PID_MAX_LIMIT (4194304) there
// is no such process: kNotFound.
Result<pid_t> parse_pid(std::string_view text);

std::string boot_id();  // /proc/sys/kernel/random/boot_id; "" where it cannot be read

}  // namespace jtrace::target
