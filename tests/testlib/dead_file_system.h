// DeadFileSystem: a file system of FUSE that first answers (an empty folder) and then no longer does, as one of a
// network whose server is gone: who asks it waits in the kernel, and not even SIGKILL ends that.
//
// Mount it in a child (mount_at), for example as /tmp of a JVM with mounts of its own. At its end all that wait get an
// error. Threads: one calls it; it has one of its own.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::test {

class DeadFileSystem {
 public:
  // Errors: /dev/fuse cannot be opened.
  static Result<std::unique_ptr<DeadFileSystem>> make();
  DeadFileSystem(const DeadFileSystem&) = delete;
  DeadFileSystem& operator=(const DeadFileSystem&) = delete;
  ~DeadFileSystem();

  // Also in a child of this process. False: it may not.
  bool mount_at(const std::string& folder) const;
  void die() { dead_ = true; }

 private:
  explicit DeadFileSystem(UniqueFd fd);
  void serve();
  void answer(const void* request) const;

  UniqueFd fd_;
  std::atomic<bool> dead_ = false, end_ = false;
  std::thread server_;
};

}  // namespace jtrace::test
