#include "tests/testlib/dead_file_system.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstdint>
#include <vector>

namespace jtrace::test {
namespace {

fuse_attr folder_attributes() {
  fuse_attr attributes{};
  attributes.ino = FUSE_ROOT_ID;
  attributes.mode = S_IFDIR | 0777;
  attributes.nlink = 2;
  return attributes;
}

}  // namespace

Result<std::unique_ptr<DeadFileSystem>> DeadFileSystem::make() {
  UniqueFd fd(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
  if (!fd) return fail(system_error("cannot open /dev/fuse"));
  return std::unique_ptr<DeadFileSystem>(new DeadFileSystem(std::move(fd)));
}

DeadFileSystem::DeadFileSystem(UniqueFd fd) : fd_(std::move(fd)), server_([this] { serve(); }) {}

DeadFileSystem::~DeadFileSystem() {
  end_ = true;
  server_.join();
}

bool DeadFileSystem::mount_at(const std::string& folder) const {
  const std::string options = "fd=" + std::to_string(fd_.get()) + ",rootmode=40000,user_id=0,group_id=0,allow_other";
  return ::mount("dead", folder.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) == 0;
}

void DeadFileSystem::serve() {
  std::vector<char> request(1 << 18);
  while (!end_) {
    pollfd ready{fd_.get(), POLLIN, 0};
    if (::poll(&ready, 1, 20) <= 0 || (ready.revents & POLLIN) == 0) continue;
    const ssize_t size = ::read(fd_.get(), request.data(), request.size());
    if (size >= static_cast<ssize_t>(sizeof(fuse_in_header)) && !dead_) answer(request.data());
  }
}

void DeadFileSystem::answer(const void* request) const {
  const auto& in = *static_cast<const fuse_in_header*>(request);
  if (in.opcode == FUSE_FORGET || in.opcode == FUSE_BATCH_FORGET || in.opcode == FUSE_INTERRUPT) return;
  fuse_out_header out{.len = sizeof out, .error = 0, .unique = in.unique};
  fuse_init_out init{};
  init.major = FUSE_KERNEL_VERSION;
  init.minor = FUSE_KERNEL_MINOR_VERSION;
  init.max_write = 4096;
  fuse_attr_out attributes{};
  attributes.attr = folder_attributes();
  iovec parts[2] = {{&out, sizeof out}, {nullptr, 0}};
  if (in.opcode == FUSE_INIT) parts[1] = {&init, sizeof init};
  else if (in.opcode == FUSE_GETATTR) parts[1] = {&attributes, sizeof attributes};
  else out.error = in.opcode == FUSE_LOOKUP ? -ENOENT : -ENOSYS;
  out.len += static_cast<std::uint32_t>(parts[1].iov_len);
  [[maybe_unused]] const ssize_t written = ::writev(fd_.get(), parts, 2);
}

}  // namespace jtrace::test
