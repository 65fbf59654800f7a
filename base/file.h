// Small files and whole writes. Any thread.
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

// Everything up to the end of the file, at most `limit` bytes (more is an error). For /proc files: read until 0.
Result<std::string> read_whole(int fd, std::string_view path, std::size_t limit = 64u << 20);
Result<std::string> read_file(const std::string& path, std::size_t limit = 64u << 20);

// The text of a small file of /proc or /sys without blanks at its ends; "" if it cannot be read.
std::string read_setting(const std::string& path);

// All bytes, over short writes and EINTR.
Result<> write_whole(int fd, std::string_view bytes, std::string_view path);

}  // namespace jtrace
