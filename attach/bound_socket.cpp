#include "attach/bound_socket.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <memory>

#include "attach/unix_table.h"

namespace jtrace::attach {
namespace {

// Pids repeat in containers that share a network namespace, so the name alone does not identify the socket.
bool holds_socket(const target::Process& process, std::uint64_t inode) {
  const int fd = ::openat(process.proc_fd(), "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd), ::closedir);
  if (!folder) return false;
  const std::string wanted = "socket:[" + std::to_string(inode) + "]";
  while (const dirent* entry = ::readdir(folder.get())) {
    char link[64];
    const ssize_t size = ::readlinkat(fd, entry->d_name, link, sizeof link);
    if (size > 0 && std::string_view(link, static_cast<std::size_t>(size)) == wanted) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> bound_socket(const target::Process& process, std::string_view socket_name) {
  const auto table = process.read_proc("net/unix");
  if (!table) return std::nullopt;
  for (const UnixSocket& socket : parse_unix_table(*table)) {
    std::string_view path = socket.path;
    if (path.ends_with(".tmp")) path.remove_suffix(4);
    const std::size_t slash = path.rfind('/');
    if (!socket.listening || slash == path.npos || path.substr(slash + 1) != socket_name) continue;
    if (path.starts_with('/') && holds_socket(process, socket.inode)) return std::string(path);
  }
  return std::nullopt;
}

}  // namespace jtrace::attach
