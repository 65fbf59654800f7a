#include "target/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <memory>

#include "base/file.h"
#include "base/strings.h"
#include "target/root_directory.h"

namespace jtrace::target {
namespace {

constexpr std::chrono::milliseconds kRecent{5};
constexpr pid_t kPidMaxLimit = 4 * 1024 * 1024;  // PID_MAX_LIMIT, include/linux/threads.h

Error no_process(pid_t pid) {
  return Error{.category = ErrorCategory::kNotFound, .text = "no such process " + std::to_string(pid)};
}

// It had that number when it was opened.
Error has_ended(pid_t pid) {
  return Error{.category = ErrorCategory::kNotFound,
               .text = "process " + std::to_string(pid) + " has ended, or is ending"};
}

Result<std::string> read_at(int directory, const std::string& name, std::string_view shown, std::size_t limit) {
  const UniqueFd fd(::openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail(system_error("cannot open", shown));
  return read_whole(fd.get(), shown, limit);
}

std::string link_at(int directory, const char* name) {
  char text[PATH_MAX];
  const ssize_t size = ::readlinkat(directory, name, text, sizeof text);
  return size < 0 ? std::string() : std::string(text, static_cast<std::size_t>(size));
}

std::uint64_t namespace_inode(int proc, const char* name) {
  struct stat facts {};
  return ::fstatat(proc, name, &facts, 0) == 0 ? facts.st_ino : 0;
}

Result<UniqueFd> open_proc_directory(pid_t pid) {
  UniqueFd proc(::open(("/proc/" + std::to_string(pid)).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (proc) return proc;
  const int errnum = errno;
  if (errnum != ENOENT && errnum != ESRCH)
    return fail(system_error(errnum, "cannot open", "/proc/" + std::to_string(pid)));
  // With hidepid, /proc reports "no such file" for another user's process.
  if (::kill(pid, 0) != 0 && errno == EPERM)
    return fail(ErrorCategory::kPermission, "process " + std::to_string(pid) + " is hidden from this user in /proc",
                "run as its user or root");
  return fail(no_process(pid));
}

Result<> check_identity(pid_t pid, const ProcessStatus& status) {
  if (status.tgid != 0 && status.tgid != pid)
    return fail(ErrorCategory::kNotFound,
                std::to_string(pid) + " is a thread of process " + std::to_string(status.tgid) + ", not a process",
                "use " + std::to_string(status.tgid));
  if (status.has_exited())
    return fail(ErrorCategory::kNotFound, "process " + std::to_string(pid) + " (" + status.name +
                                              ") has exited (zombie), its parent is " + std::to_string(status.ppid));
  return {};
}

}  // namespace

Result<pid_t> parse_pid(std::string_view text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  if (!digits || text.find_first_not_of('0') == text.npos)
    return fail(ErrorCategory::kUsage, "not a process id: '" + std::string(text) + "'");
  const auto pid = parse_decimal<pid_t>(text);
  if (!pid || *pid > kPidMaxLimit) return fail(ErrorCategory::kNotFound, "no such process " + std::string(text));
  return *pid;
}

Result<Process> Process::open(pid_t pid) {
  JTRACE_ASSIGN_OR_RETURN(pid, parse_pid(std::to_string(pid)));
  Process process;
  process.pid_ = pid;
  JTRACE_ASSIGN_OR_RETURN(process.proc_, open_proc_directory(pid));
  // If /proc/PID still answers after pidfd_open, both are the same process. (pidfd_open fails for the id of a thread
  // that is not the first.)
  process.pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  auto text = process.read_proc("status");
  if (!text && (text.error().errnum == ESRCH || text.error().errnum == ENOENT)) return fail(no_process(pid));
  if (!text) return fail(std::move(text).error());
  process.opening_status_ = parse_status(*text);
  process.opened_ = std::chrono::steady_clock::now();
  const ProcessStatus& status = process.opening_status_;
  JTRACE_RETURN_IF_ERROR(check_identity(pid, status));
  process.nspid_ = status.nspid.empty() ? pid : status.nspid.back();
  process.uid_ = status.uid;
  process.gid_ = status.gid;
  process.comm_ = status.name;
  if (auto cmdline = process.read_proc("cmdline")) process.cmdline_ = parse_cmdline(*cmdline);
  process.root_.reset(::openat(process.proc_.get(), "root", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!process.root_) process.root_error_ = system_error("cannot open", process.proc_path("root"));
  process.root_path_ = link_at(process.proc_.get(), "root");
  return process;
}

std::string Process::proc_path(std::string_view name) const {
  return "/proc/" + std::to_string(pid_) + "/" + std::string(name);
}

Result<std::string> Process::read_proc(std::string_view name, std::size_t limit) const {
  return read_at(proc_.get(), std::string(name), proc_path(name), limit);
}

Result<ProcessStatus> Process::status() const {
  JTRACE_ASSIGN_OR_RETURN(const std::string text, read_proc("status"));
  return parse_status(text);
}

Result<ProcessStatus> Process::recent_status() const {
  if (std::chrono::steady_clock::now() - opened_ <= kRecent) return opening_status_;
  return status();
}

std::uint64_t Process::start_ticks() const {
  const auto text = read_proc("stat");
  return text ? parse_start_ticks(*text) : 0;
}

Result<std::vector<Mapping>> Process::maps() const {
  const auto text = read_proc("maps");
  if (!text && exit_status(text.error()) == ExitStatus::kPermission)
    return fail(text.error().with_help("run as its user, as root or with CAP_SYS_PTRACE"));
  if (!text) return text.error().errnum == ESRCH ? fail(has_ended(pid_)) : fail(text.error());
  // The mappings go first when a process ends. A kernel thread has no command line either.
  if (text->empty() && !cmdline_.empty()) return fail(has_ended(pid_));
  return parse_memory_map(*text);
}

Result<std::vector<MountEntry>> Process::mounts() const {
  JTRACE_ASSIGN_OR_RETURN(const std::string text, read_proc("mountinfo"));
  return parse_mountinfo(text);
}

Result<std::vector<pid_t>> Process::threads() const {
  const int fd = ::openat(proc_.get(), "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && (errno == ENOENT || errno == ESRCH)) return fail(has_ended(pid_));
  if (fd < 0) return fail(system_error("cannot open", proc_path("task")));
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::fdopendir(fd), ::closedir);
  std::vector<pid_t> ids;
  while (const dirent* entry = ::readdir(directory.get()))
    if (const auto id = parse_decimal<pid_t>(entry->d_name)) ids.push_back(*id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::string Process::container() const {
  const auto text = read_proc("cgroup");
  return text ? container_of_cgroup(*text) : std::string();
}

std::uint64_t Process::pid_namespace() const { return namespace_inode(proc_.get(), "ns/pid"); }
std::uint64_t Process::mount_namespace() const { return namespace_inode(proc_.get(), "ns/mnt"); }

bool Process::has_exited() const {
  if (pidfd_) {
    pollfd poll{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&poll, 1, 0) > 0;
  }
  const auto now = status();
  return !now || now->has_exited();
}

Result<> Process::send_signal(int signal) const {
  // Uses the descriptor of /proc/PID (pidfd_send_signal(2), Linux 5.1), which refers to the right process even if /proc
  // belongs to another pid namespace.
  if (::syscall(SYS_pidfd_send_signal, proc_.get(), signal, nullptr, 0) == 0) return {};
  if (errno != ENOSYS)
    return fail(system_error("cannot send signal " + std::to_string(signal) + " to process " + std::to_string(pid_)));
  if (!read_proc("stat")) return fail(no_process(pid_));  // through the descriptor, so of the process that was opened
  if (::kill(pid_, signal) != 0)
    return fail(system_error("cannot send signal " + std::to_string(signal) + " to process " + std::to_string(pid_)));
  return {};
}

Result<UniqueFd> Process::open_cwd() const {
  UniqueFd cwd(::openat(proc_.get(), "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!cwd) return fail(system_error("cannot open", proc_path("cwd")));
  return cwd;
}

Result<UniqueFd> Process::open_in_root(std::string_view path, int flags, unsigned mode) const {
  if (!root_) return fail(root_error_);
  auto fd = target::open_in_root(root_.get(), path, flags, mode);
  if (!fd) {
    Error error = fd.error();
    error.path = proc_path("root") + (path.starts_with('/') ? "" : "/") + std::string(path);
    return fail(std::move(error));
  }
  return fd;
}

Result<std::string> Process::read_in_root(std::string_view path, std::size_t limit) const {
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd fd, open_in_root(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return fail(Error{.category = ErrorCategory::kPermission, .text = "not a regular file", .path = std::string(path)});
  return read_whole(fd.get(), path, limit);
}

Result<UniqueFd> Process::open_mapped(const Mapping& mapping) const {
  char name[64];
  std::snprintf(name, sizeof name, "map_files/%lx-%lx", static_cast<unsigned long>(mapping.start),
                static_cast<unsigned long>(mapping.end));
  UniqueFd fd(::openat(proc_.get(), name, O_RDONLY | O_CLOEXEC));
  if (fd) return fd;
  if (mapping.deleted)
    return fail(system_error("cannot open the deleted file", proc_path(name)).with_help("run as root"));
  return open_in_root(path_inside(mapping.path), O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

std::string Process::path_inside(std::string_view path) const {
  if (root_path_.size() > 1 && path.starts_with(root_path_) && path.size() > root_path_.size() &&
      path[root_path_.size()] == '/')
    path.remove_prefix(root_path_.size());
  return std::string(path);
}

std::string boot_id() {
  const auto text = read_file("/proc/sys/kernel/random/boot_id");
  return text ? std::string(trimmed(*text)) : std::string();
}

}  // namespace jtrace::target
