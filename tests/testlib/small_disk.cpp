#include "tests/testlib/small_disk.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

namespace jtrace::test {

Result<std::unique_ptr<SmallDisk>> SmallDisk::make(std::size_t kibibytes, const std::string& options) {
  std::unique_ptr<SmallDisk> disk(new SmallDisk);
  const std::string size = options + ",size=" + std::to_string(kibibytes) + "k";
  CommandOptions command;
  command.in_child = [path = disk->path(), size] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", path.c_str(), "tmpfs", 0, size.c_str()) != 0)
      ::_exit(125);
  };
  JTRACE_ASSIGN_OR_RETURN(disk->keeper_,
                          BackgroundCommand::start({"sh", "-c", "echo MOUNTED; exec sleep infinity"}, command));
  if (!disk->keeper_->wait_out_line("MOUNTED", std::chrono::seconds(10)))
    return fail(ErrorCategory::kPermission, "mounting a small disk in a namespace of its own");
  return disk;
}

std::function<void()> SmallDisk::enter() const {
  return [name = "/proc/" + std::to_string(keeper_->pid()) + "/ns/mnt"] {
    const int ns = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (ns < 0 || ::setns(ns, CLONE_NEWNS) != 0) ::_exit(125);
  };
}

}  // namespace jtrace::test
