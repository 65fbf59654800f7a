#include "attach/delivery.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "attach/credentials.h"
#include "base/file.h"
#include "base/leftovers.h"
#include "base/size_text.h"
#include "base/strings.h"

namespace jtrace::attach {
namespace {

constexpr std::uint64_t kSlack = 1u << 20;  // stays free for the target itself
constexpr std::size_t kSunPathLimit = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::string_view kOwnLibraries = "libjtrace_agent-";
constexpr std::size_t kNameRoom = 48;  // for "/" and the names made here

std::string random_hex() {
  std::uint64_t bits = 0;
  // getrandom(2) never returns fewer than 8 bytes. Without that call the clock is used; O_EXCL keeps the names apart.
  if (::getrandom(&bits, sizeof bits, 0) != sizeof bits)
    bits = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
  std::string text;
  append_hex(text, bits);
  return text.substr(2);
}

// File systems of the kernel that look like storage (a tmpfs above the cgroups).
bool is_kernels(std::string_view path) { return path.starts_with("/sys/") || path.starts_with("/proc/"); }

// Directories in the order in which they are tried, each once; absolute paths, as the target sees them.
std::vector<std::string> candidates(const target::Process& process) {
  std::vector<std::string> paths = {"/tmp", "/var/tmp", "/dev/shm", "/run/user/" + std::to_string(process.uid())};
  constexpr std::string_view kStorage[] = {"tmpfs", "ext4", "ext3", "ext2", "xfs", "btrfs", "overlay", "zfs", "f2fs"};
  if (const auto mounts = process.mounts())
    for (const target::MountEntry& mount : *mounts)
      if (mount.writable && !is_kernels(mount.point) &&
          std::find(std::begin(kStorage), std::end(kStorage), mount.type) != std::end(kStorage) &&
          std::find(paths.begin(), paths.end(), mount.point) == paths.end())
        paths.push_back(mount.point);
  return paths;
}

struct Wish {
  std::uint64_t size = 0;
  bool for_code = false;
};

// Why the directory cannot be used; empty if it can. Called with the target's credentials.
std::string objection(int directory, const Wish& wish, uid_t uid) {
  struct stat facts {};
  struct statfs system {};
  if (::fstat(directory, &facts) != 0 || ::fstatfs(directory, &system) != 0) return std::strerror(errno);
  const auto flags = static_cast<unsigned long>(system.f_flags);
  if ((flags & ST_RDONLY) != 0) return "read-only";
  if (wish.for_code && (flags & ST_NOEXEC) != 0) return "noexec";
  const std::uint64_t room = static_cast<std::uint64_t>(system.f_bavail) * static_cast<std::uint64_t>(system.f_bsize);
  if (room < wish.size + kSlack) return "no room (" + size_text(room) + " free)";
  const bool open_to_others = (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (facts.st_mode & S_ISVTX) == 0;
  if (open_to_others) return "writable by others and not sticky";
  if (facts.st_uid != uid && facts.st_uid != 0 && (facts.st_mode & S_ISVTX) == 0)
    return "owned by uid " + std::to_string(facts.st_uid);
  if (::faccessat(directory, ".", W_OK | X_OK, AT_EACCESS) != 0) return std::strerror(errno);
  return {};
}

Error no_place(const target::Process& process, bool for_code, const std::string& reasons) {
  Error error{.category = ErrorCategory::kAgent};
  error.text = "no directory of process " + std::to_string(process.pid()) + " can take " +
               (for_code ? "the library" : "a socket") + " (" + reasons + ")";
  error.help = "mount a writable" + std::string(for_code ? ", executable" : "") + " tmpfs there";
  return error;
}

}  // namespace

Result<TargetDirectory> choose_directory(const target::Process& process, std::size_t size, bool for_code,
                                         std::size_t longest_path) {
  std::string reasons;
  const Wish wish{.size = size, .for_code = for_code};
  for (const std::string& path : candidates(process)) {
    if (path.size() + kNameRoom > longest_path) continue;
    auto directory = process.open_in_root(path, O_PATH | O_DIRECTORY);
    if (!directory && directory.error().errnum == ENOENT) continue;
    std::string why;
    if (directory) {
      JTRACE_ASSIGN_OR_RETURN(const auto as_user, ScopedCredentials::become_or_stay_root(process.uid(), process.gid()));
      why = objection(directory->get(), wish, process.uid());
    } else {
      why = std::strerror(directory.error().errnum);
    }
    if (why.empty()) return TargetDirectory{.fd = std::move(*directory), .path = path == "/" ? "" : path};
    reasons += (reasons.empty() ? "" : "; ") + path + ": " + why;
  }
  return fail(no_place(process, for_code, reasons));
}

Result<DeliveredFile> deliver(const target::Process& process, std::span<const std::byte> library,
                              std::string_view name) {
  JTRACE_ASSIGN_OR_RETURN(TargetDirectory directory, choose_directory(process, library.size(), true));
  const std::size_t dot = std::min(name.rfind('.'), name.size());
  DeliveredFile file;
  file.process_ = &process;
  const std::string file_name = std::string(name.substr(0, dot)) + "-" + random_hex() + std::string(name.substr(dot));
  file.path_ = directory.path + "/" + file_name;
  JTRACE_ASSIGN_OR_RETURN(const auto as_user, ScopedCredentials::become_or_stay_root(process.uid(), process.gid()));
  JTRACE_ASSIGN_OR_RETURN(UniqueFd fd,
                          open_file_at(directory.fd.get(), file_name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0700));
  mark_in_use(fd.get());
  if (name.starts_with(kOwnLibraries)) remove_leftovers(directory.fd.get(), kOwnLibraries);
  file.directory_ = std::move(directory.fd);  // from here on the destructor removes it
  file.name_ = file_name;
  const std::string_view bytes(reinterpret_cast<const char*>(library.data()), library.size());
  if (auto written = write_whole(fd.get(), bytes, file.path_); !written) {
    Error error =
        written.error().with_context("cannot deliver the library to process " + std::to_string(process.pid()));
    error.category = ErrorCategory::kAgent;
    return fail(std::move(error));
  }
  struct stat facts {};
  if (::fstat(fd.get(), &facts) == 0) file.inode_ = facts.st_ino;
  file.in_use_ = std::move(fd);
  return file;
}

DeliveredFile::~DeliveredFile() {
  if (!directory_) return;
  const auto as_user = ScopedCredentials::become_or_stay_root(process_->uid(), process_->gid());
  ::unlinkat(directory_.get(), name_.c_str(), 0);
}

Result<MeetingSocket> MeetingSocket::listen(const target::Process& process) {
  JTRACE_ASSIGN_OR_RETURN(TargetDirectory directory, choose_directory(process, 0, false, kSunPathLimit));
  MeetingSocket meeting;
  meeting.process_ = &process;
  meeting.socket_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!meeting.socket_) return fail(system_error("cannot make a socket"));
  const std::string name = ".jtrace-" + random_hex();
  meeting.path_ = directory.path + "/" + name;
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string through = "/proc/self/fd/" + std::to_string(directory.fd.get()) + "/" + name;
  std::memcpy(address.sun_path, through.c_str(), through.size() + 1);
  // The socket gets the mode of the file that bind(2) makes (unix_bind_bsd), less the umask. So it is never open to
  // others, not even briefly.
  ::fchmod(meeting.socket_.get(), 0600);
  JTRACE_ASSIGN_OR_RETURN(const auto as_user, ScopedCredentials::become_or_stay_root(process.uid(), process.gid()));
  if (::bind(meeting.socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail(system_error("cannot bind a socket", process.proc_path("root") + meeting.path_));
  meeting.directory_ = std::move(directory.fd);
  meeting.name_ = name;
  if (::listen(meeting.socket_.get(), 4) != 0) return fail(system_error("cannot listen", meeting.path_));
  return meeting;
}

Result<UniqueFd> MeetingSocket::accept(const Waiter& waiter) const {
  for (;;) {
    switch (waiter.wait_fd_or_exit(fd(), POLLIN)) {
      case Woken::kTimeout:
        return fail(ErrorCategory::kTimeout,
                    "process " + std::to_string(process_->pid()) + " did not connect to " + path_);
      case Woken::kCancelled: return fail(ErrorCategory::kRefused, "interrupted");
      case Woken::kExited:
        return fail(ErrorCategory::kNotFound,
                    "process " + std::to_string(process_->pid()) + " ended before it connected");
      case Woken::kReady: break;
    }
    UniqueFd connection(::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection) continue;
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
        (peer.pid == process_->pid() || peer.pid == 0) && peer.uid == process_->uid())
      return connection;
  }
}

void MeetingSocket::close() {
  socket_.reset();
  if (!directory_) return;
  const auto as_user = ScopedCredentials::become_or_stay_root(process_->uid(), process_->gid());
  ::unlinkat(directory_.get(), name_.c_str(), 0);
  directory_.reset();
}

}  // namespace jtrace::attach
