// Reads small files; writes completely. Any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace {

// open(2) with O_CLOEXEC; the error names `path`.
Result<UniqueFd> open_file(const std::string& path, int flags, unsigned mode = 0);
Result<UniqueFd> open_file_at(int directory, const std::string& path, int flags, unsigned mode = 0);

// Reads to the end of the file, also if its size is not known (/proc). More than `limit` bytes are an error.
Result<std::string> read_whole(int fd, std::string_view path, std::size_t limit = 64u << 20);
Result<std::string> read_file(const std::string& path, std::size_t limit = 64u << 20);

// The text of a small file of /proc or /sys, trimmed; "" if it cannot be read.
std::string read_setting(const std::string& path);

// A path in two parts: up to its last slash, with it ("" if there is none), and the name after it.
struct PathParts {
  std::string folder, name;
};
PathParts split_path(const std::string& path);

// Writes all bytes, with as many write(2) calls as needed (short writes, EINTR).
Result<> write_whole(int fd, std::string_view bytes, std::string_view path);

}  // namespace jtrace
