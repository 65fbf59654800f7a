// Makes a file or a socket in the target's file system, for a short time.
//
// The place is a directory of the target that its user may write, that other users cannot tamper with (sticky if it is
// open to all), that is not noexec if the file is code, and that has room: /tmp, /var/tmp, /dev/shm, the user's runtime
// folder, then the other mounts in its mountinfo. Files are made with the target's user and group, so that they exist
// in its user namespace; paths are given as the target sees them. Ownership: the objects remove their files when they
// are destroyed. They borrow the Process. Threads: any, one object one thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "attach/waiter.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "target/process.h"

namespace jtrace::attach {

// A directory of the target, opened, with its path as the target sees it.
struct TargetDirectory {
  UniqueFd fd;
  std::string path;
};
// Errors: kAgent, with the reason for each place.
Result<TargetDirectory> choose_directory(const target::Process& process, std::size_t size, bool for_code,
                                         std::size_t longest_path = 4096);

class DeliveredFile {
 public:
  DeliveredFile(DeliveredFile&&) noexcept = default;
  DeliveredFile& operator=(DeliveredFile&&) = delete;
  ~DeliveredFile();

  const std::string& path() const { return path_; }  // as the target sees it
  // The inode, in the target's file system, by which its mapping is recognised.
  std::uint64_t inode() const { return inode_; }

 private:
  friend Result<DeliveredFile> deliver(const target::Process&, std::span<const std::byte>, std::string_view);
  DeliveredFile() = default;

  const target::Process* process_ = nullptr;
  UniqueFd directory_;
  std::string name_;
  std::string path_;
  std::uint64_t inode_ = 0;
  UniqueFd in_use_;  // of the file; see base/leftovers.h
};

// Writes `library` (mode 0700) under the name "<stem>-<random>.<extension>", from `name`. A library of
// our own that a jtrace left there when it was killed is removed. Errors: kAgent, kPermission.
Result<DeliveredFile> deliver(const target::Process& process, std::span<const std::byte> library,
                              std::string_view name);

// A listening AF_UNIX stream socket that the target can reach by a path: mode 0600, owned by its user, with a random
// name.
class MeetingSocket {
 public:
  static Result<MeetingSocket> listen(const target::Process& process);
  MeetingSocket(MeetingSocket&&) noexcept = default;
  MeetingSocket& operator=(MeetingSocket&&) = delete;
  ~MeetingSocket() { close(); }

  const std::string& path() const { return path_; }  // as the target sees it; fits sun_path
  int fd() const { return socket_.get(); }           // to poll for POLLIN
  // Accepts the next connection of the target itself; others are closed. Errors: kTimeout, kNotFound (the target
  // ended).
  Result<UniqueFd> accept(const Waiter& waiter) const;
  // Removes the name and stops listening; accepted connections stay.
  void close();

 private:
  MeetingSocket() = default;

  const target::Process* process_ = nullptr;
  UniqueFd directory_;
  UniqueFd socket_;
  std::string name_;
  std::string path_;
};

}  // namespace jtrace::attach
