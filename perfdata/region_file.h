// RegionFile: an hsperfdata file, opened by us and read by pread(2).
//
// pread cannot raise SIGBUS when a JVM cuts the file (HotSpot reuses a stale file by ftruncate(0)), and leaves the file
// as it is: nothing is created, locked, mapped or deleted. Address 0 is the file's first byte.
// Ownership: owns the descriptor. Threads: any.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "target/memory_reader.h"

namespace jtrace::perfdata {

struct FileFacts {
  dev_t device = 0;
  ino_t inode = 0;
  uid_t owner = 0;
  mode_t mode = 0;
  nlink_t links = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;  // since the epoch
};

FileFacts facts_of(const struct stat& stat);

class RegionFile final : public target::MemoryReader {
 public:
  // Errors: kPermission where it is not a regular file.
  static Result<RegionFile> adopt(UniqueFd fd, std::string path);

  Result<std::size_t> read_some(target::Address address, std::span<std::byte> out) const override;

  const std::string& path() const { return path_; }  // for messages
  const FileFacts& facts() const { return facts_; }  // of the moment it was opened
  int fd() const { return fd_.get(); }

 private:
  RegionFile(UniqueFd fd, std::string path, FileFacts facts)
      : fd_(std::move(fd)), path_(std::move(path)), facts_(facts) {}

  UniqueFd fd_;
  std::string path_;
  FileFacts facts_;
};

// What HotSpot itself demands of a file it attaches to (perfMemory_posix.cpp, is_file_secure): owned by `owner` (any
// owner where nothing is given) or root, not writable by group or others, one name at most. kPermission with the
// reason.
Result<> check_secure(const FileFacts& facts, const std::string& path, std::optional<uid_t> owner);

// Opens a file that the user named. A path into a directory hsperfdata_USER, where any user may have put something in
// place, is opened link by link: the directory and the file must be no symlinks and pass check_secure, unless `trust`.
// Anything but a regular file is refused in any case.
Result<RegionFile> open_region_file(const std::string& path, bool trust);

// True of ".../hsperfdata_USER/123": where a live JVM keeps its file.
bool is_live_location(std::string_view path);

}  // namespace jtrace::perfdata
