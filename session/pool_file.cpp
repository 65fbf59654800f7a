#include "session/pool_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/log.h"
#include "base/size_text.h"
#include "base/strings.h"
#include "base/uuid.h"
#include "trace/record/layout.h"
#include "trace/record/pool_format.h"

namespace jtrace::session {
namespace {

constexpr const char* kSharedMemory = "/dev/shm";
constexpr std::string_view kPrefix = "jtrace-";
constexpr std::string_view kSuffix = ".pool";
constexpr std::size_t kIdLength = 8;  // hexadecimal digits, by chance

bool has_room(const char* folder, std::uint64_t size) {
  struct statvfs info {};
  if (::statvfs(folder, &info) != 0) return false;
  return std::uint64_t{info.f_bavail} * info.f_frsize >= size + size / 8;
}

}  // namespace

PoolFile::PoolFile(PoolFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      shared_fd_(std::move(other.shared_fd_)),
      path_(std::move(other.path_)),
      owns_name_(std::exchange(other.owns_name_, false)),
      memory_(std::exchange(other.memory_, {})),
      guard_(std::move(other.guard_)) {}

PoolFile::~PoolFile() {
  remove();
  guard_ = {};
  if (!memory_.empty()) ::munmap(memory_.data(), memory_.size());
}

void PoolFile::remove() {
  if (std::exchange(owns_name_, false)) ::unlink(path_.c_str());
}

bool PoolFile::was_cut() const { return guard_.was_cut(); }

// The lock ends with this process, so `jtrace recover` sees whether the pool is in use. Readers of a left pool share
// it.
Result<> PoolFile::lock(bool owner) {
  if (::flock(fd_.get(), (owner ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) return {};
  return fail(ErrorCategory::kRefused, "pool " + path_ + " is in use by a jtrace that runs");
}

// The owner allocates the whole file at once.
Result<> PoolFile::map(std::uint64_t size, bool owner) {
  const int flags = MAP_SHARED | (owner ? MAP_POPULATE : 0);
  void* base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, fd_.get(), 0);
  if (base == MAP_FAILED) return fail(system_error("mapping the ring memory", path_));
  memory_ = {static_cast<std::byte*>(base), static_cast<std::size_t>(size)};
  guard_ = MappingGuard(memory_);
  return {};
}

std::uint64_t PoolFile::size_with_room(std::uint64_t size) {
  for (std::uint64_t less = size; less >= size / 8; less /= 2) {
    if (!has_room(kSharedMemory, less)) continue;
    if (less < size)
      log_info(std::string(kSharedMemory) + " has no room for " + whole_mib_text(size) +
               " of ring memory: " + whole_mib_text(less) + " are taken");
    return less;
  }
  return size;
}

Result<PoolFile> PoolFile::create(std::uint64_t size, std::string_view session, int pid, std::uint64_t start_ticks,
                                  const std::string& beside) {
  const bool shared = has_room(kSharedMemory, size);
  const std::string folder = shared ? kSharedMemory : beside;
  const std::string path = folder + "/" + std::string(kPrefix) + std::to_string(pid) + "-" +
                           std::to_string(start_ticks) + "-" + random_uuid().substr(0, kIdLength) +
                           std::string(kSuffix);
  if (!shared)
    log_info(std::string(kSharedMemory) + " has no room for " + whole_mib_text(size) + ": the ring memory is " + path);
  auto file = make(path, size, session, Named::kLast);
  return file ? std::move(file) : make(path, size, session, Named::kFirst);
}

Result<PoolFile> PoolFile::make(const std::string& path, std::uint64_t size, std::string_view session, Named when) {
  PoolFile file;
  file.path_ = path;
  const bool named = when == Named::kFirst;
  const std::string folder = path.substr(0, path.rfind('/'));
  JTRACE_ASSIGN_OR_RETURN(file.fd_, named ? open_file(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600)
                                          : open_file(folder, O_RDWR | O_TMPFILE, 0600));
  file.owns_name_ = named;
  JTRACE_RETURN_IF_ERROR(file.lock(true));
  if (const int error = ::posix_fallocate(file.fd_.get(), 0, static_cast<off_t>(size)); error != 0)
    return fail(system_error(error, "taking " + whole_mib_text(size) + " of ring memory", path)
                    .with_help("take less with --ring-memory"));
  JTRACE_RETURN_IF_ERROR(file.map(size, true));
  trace::record::Pool pool = trace::record::format_pool(file.memory_.data(), size);
  const std::size_t length = std::min(session.size(), sizeof(trace::record::PoolHeader::session) - 1);
  std::memcpy(pool.header().session, session.data(), length);
  if (!named) JTRACE_RETURN_IF_ERROR(file.take_name());
  // By its name: the agent knows a pool in the JVM's memory map by it.
  JTRACE_ASSIGN_OR_RETURN(file.shared_fd_, open_file(path, O_RDWR | O_NOFOLLOW));
  return file;
}

// open(2), "O_TMPFILE".
Result<> PoolFile::take_name() {
  const std::string own = "/proc/self/fd/" + std::to_string(fd_.get());
  if (::linkat(AT_FDCWD, own.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) != 0)
    return fail(system_error("naming the ring memory", path_));
  owns_name_ = true;
  return {};
}

Result<PoolFile> PoolFile::open(const std::string& path) {
  PoolFile file;
  file.path_ = path;
  JTRACE_ASSIGN_OR_RETURN(file.fd_, open_file(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (::fstat(file.fd_.get(), &info) != 0) return fail(system_error("looking at", path));
  if (!S_ISREG(info.st_mode) || info.st_size < static_cast<off_t>(trace::record::kPoolHeaderSize)) {
    Error error{ErrorCategory::kMalformed, "not a pool of jtrace"};
    error.path = path;
    return fail(std::move(error));
  }
  JTRACE_RETURN_IF_ERROR(file.lock(false));
  JTRACE_RETURN_IF_ERROR(file.map(static_cast<std::uint64_t>(info.st_size), false));
  return file;
}

std::optional<PoolName> parse_pool_name(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix) || name.size() <= kPrefix.size() + kSuffix.size())
    return {};
  name = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  const std::vector<std::string_view> parts = split(name, '-');
  if (parts.size() != 3 || parts[2].size() != kIdLength) return {};
  if (parts[2].find_first_not_of("0123456789abcdef") != parts[2].npos) return {};
  const auto pid = parse_decimal<int>(parts[0]);
  const auto ticks = parse_decimal<std::uint64_t>(parts[1]);
  if (!pid || !ticks) return {};
  return PoolName{*pid, *ticks};
}

std::vector<std::string> pool_files() {
  std::vector<std::string> paths;
  DIR* folder = ::opendir(kSharedMemory);
  if (folder == nullptr) return paths;
  while (const dirent* entry = ::readdir(folder)) {
    std::string path = std::string(kSharedMemory) + "/" + entry->d_name;
    if (parse_pool_name(path)) paths.push_back(std::move(path));
  }
  ::closedir(folder);
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace jtrace::session
