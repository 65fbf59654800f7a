#include "perfdata/region_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "base/file.h"
#include "base/strings.h"

namespace jtrace::perfdata {
namespace {

auto refused(const std::string& path, std::string why) {
  Error error{.category = ErrorCategory::kPermission, .text = "refused: " + std::move(why)};
  error.path = path;
  error.help = "copy it elsewhere and read the copy, or --trust";
  return fail(std::move(error));
}

Result<> check_directory(int fd, const std::string& path) {
  struct stat stat {};
  if (::fstat(fd, &stat) != 0) return fail(system_error("cannot look at", path));
  if ((stat.st_mode & (S_IWGRP | S_IWOTH)) != 0) return refused(path, "the directory is writable by others");
  return {};
}

// O_NOFOLLOW gives ELOOP for a symlink (ENOTDIR with O_DIRECTORY).
Error open_error(int errnum, const std::string& path, std::string_view what) {
  if (errnum == ELOOP || errnum == ENOTDIR) {
    Error error{.category = ErrorCategory::kPermission, .text = "refused: " + std::string(what) + " is a symlink"};
    error.path = path;
    error.help = "copy it elsewhere and read the copy, or --trust";
    return error;
  }
  Error error = system_error(errnum, "cannot open", path);
  if (errnum == EACCES) error.help = "run as its owner or as root";
  return error;
}

constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

Result<RegionFile> open_live_location(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = path.substr(0, slash);
  const UniqueFd folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return fail(open_error(errno, directory, "the directory"));
  JTRACE_RETURN_IF_ERROR(check_directory(folder.get(), directory));
  UniqueFd fd(::openat(folder.get(), path.c_str() + slash + 1, kReadFlags | O_NOFOLLOW));
  if (!fd) return fail(open_error(errno, path, "the file"));
  JTRACE_ASSIGN_OR_RETURN(RegionFile file, RegionFile::adopt(std::move(fd), path));
  struct stat owner {};
  if (::fstat(folder.get(), &owner) != 0) return fail(system_error("cannot look at", directory));
  JTRACE_RETURN_IF_ERROR(check_secure(file.facts(), path, owner.st_uid));
  return file;
}

}  // namespace

FileFacts facts_of(const struct stat& stat) {
  return {.device = stat.st_dev,
          .inode = stat.st_ino,
          .owner = stat.st_uid,
          .mode = stat.st_mode,
          .links = stat.st_nlink,
          .size = static_cast<std::uint64_t>(stat.st_size),
          .modified_ns = stat.st_mtim.tv_sec * static_cast<std::int64_t>(kNanosPerSecond) + stat.st_mtim.tv_nsec};
}

bool is_live_location(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos || slash + 1 == path.size()) return false;
  if (path.substr(slash + 1).find_first_not_of("0123456789") != path.npos) return false;
  const std::string_view directory = path.substr(0, slash);
  return directory.substr(directory.rfind('/') + 1).starts_with("hsperfdata_");
}

Result<RegionFile> RegionFile::adopt(UniqueFd fd, std::string path) {
  struct stat stat {};
  if (::fstat(fd.get(), &stat) != 0) return fail(system_error("cannot look at", path));
  if (!S_ISREG(stat.st_mode)) return refused(path, "not a regular file");
  return RegionFile(std::move(fd), std::move(path), facts_of(stat));
}

Result<std::size_t> RegionFile::read_some(target::Address address, std::span<std::byte> out) const {
  for (;;) {
    const ssize_t count = ::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(address));
    if (count > 0) return static_cast<std::size_t>(count);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(system_error("cannot read", path_));
    Error error{.category = ErrorCategory::kMalformed,
                .text = address == 0 ? "the file is empty" : "the file ends here"};
    error.path = path_;
    if (address != 0) error.address = address;
    return fail(std::move(error));
  }
}

Result<> check_secure(const FileFacts& facts, const std::string& path, std::optional<uid_t> owner) {
  if (owner && facts.owner != *owner && facts.owner != 0)
    return refused(path, "owned by user " + std::to_string(facts.owner) + " instead of " + std::to_string(*owner));
  if ((facts.mode & (S_IWGRP | S_IWOTH)) != 0) return refused(path, "the file is writable by others");
  if (facts.links > 1) return refused(path, "the file has " + counted(facts.links, "name"));
  return {};
}

Result<RegionFile> open_region_file(const std::string& path, bool trust) {
  if (is_live_location(path) && !trust) return open_live_location(path);
  JTRACE_ASSIGN_OR_RETURN(UniqueFd fd, open_file(path, kReadFlags));
  return RegionFile::adopt(std::move(fd), path);
}

}  // namespace jtrace::perfdata
