#include "base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/strings.h"

namespace jtrace {

Result<UniqueFd> open_file(const std::string& path, int flags, unsigned mode) {
  return open_file_at(AT_FDCWD, path, flags, mode);
}

Result<UniqueFd> open_file_at(int directory, const std::string& path, int flags, unsigned mode) {
  UniqueFd fd(::openat(directory, path.c_str(), flags | O_CLOEXEC, mode));
  if (!fd) return fail(system_error("cannot open", path));
  return fd;
}

Result<std::string> read_whole(int fd, std::string_view path, std::size_t limit) {
  std::string out;
  char buffer[16384];
  for (;;) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(system_error("cannot read", path));
    if (count == 0) return out;
    if (out.size() + static_cast<std::size_t>(count) > limit)
      return fail(Error{
          .category = ErrorCategory::kMalformed, .text = "file is larger than expected", .path = std::string(path)});
    out.append(buffer, static_cast<std::size_t>(count));
  }
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  JTRACE_ASSIGN_OR_RETURN(UniqueFd fd, open_file(path, O_RDONLY));
  return read_whole(fd.get(), path, limit);
}

std::string read_setting(const std::string& path) {
  constexpr std::size_t kMostBytes = 4096;
  return std::string(trimmed(read_file(path, kMostBytes).value_or("")));
}

Result<> write_whole(int fd, std::string_view bytes, std::string_view path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(system_error("cannot write", path));
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

PathParts split_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  return {path.substr(0, name), path.substr(name)};
}

}  // namespace jtrace
