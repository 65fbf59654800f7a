#include "trace/file_sink.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "base/size_text.h"

namespace jtrace::trace {
namespace {

constexpr mode_t kOwnerOnly = 0600;
constexpr int kNameTries = 100;

Error limit_error(std::string text, const std::string& path) {
  Error error{ErrorCategory::kPartial, std::move(text)};
  error.path = path;
  return error;
}

Error with_name_help(Error error) {
  if (error.errnum == ENAMETOOLONG) return error.with_help("a name has at most 255 bytes, a path 4095");
  if (error.errnum == EISDIR) return error.with_help("name a file in it");
  return error;
}

}  // namespace

FileSink::FileSink(std::string path, const FileSinkOptions& options)
    : ByteSink(options.buffer_size), path_(std::move(path)), options_(options) {}

Result<std::unique_ptr<FileSink>> FileSink::create(const std::string& path, const FileSinkOptions& options) {
  std::unique_ptr<FileSink> sink(new FileSink(path, options));
  if (auto opened = sink->open(); !opened) return fail(with_name_help(std::move(opened).error()));
  return sink;
}

FileSink::~FileSink() {
  if (!fd_) return;  // finished, or not opened
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  // Frees the reserved room.
  else if (allocated_ > size_ && ::ftruncate(fd_.get(), static_cast<off_t>(size_)) != 0) return;
}

Result<> FileSink::open() {
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  regular_ = !exists || S_ISREG(status.st_mode);
  if (exists && S_ISDIR(status.st_mode)) return fail(system_error(EISDIR, "cannot write", path_));
  return options_.visible_at_once || !regular_ ? open_visible() : open_temporary();
}

Result<> FileSink::open_visible() {
  // A FIFO without a reader is refused at once (ENXIO) instead of waited for.
  const int flags = regular_ ? O_WRONLY | O_CREAT : O_WRONLY | O_NONBLOCK;
  auto opened = open_file(path_, flags, kOwnerOnly);
  if (!opened && !regular_ && opened.error().errnum == ENXIO)
    return fail(std::move(opened).error().with_help("it has no reader: start its reader first"));
  JTRACE_ASSIGN_OR_RETURN(fd_, std::move(opened));
  if (!regular_ && ::fcntl(fd_.get(), F_SETFL, O_WRONLY) != 0) return fail(system_error("cannot set up", path_));
  return regular_ ? take_over() : Result<>();
}

// Two programs that write one file destroy what both of them have: the first has it.
Result<> FileSink::take_over() {
  if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return fail(Error{.category = ErrorCategory::kRefused,
                      .text = "another jtrace or hsperf is writing it",
                      .path = path_,
                      .help = "-o with another name"});
  if (::ftruncate(fd_.get(), 0) != 0) return fail(system_error("cannot truncate", path_));
  if (::fchmod(fd_.get(), kOwnerOnly) != 0) return fail(system_error("cannot make private", path_));
  return {};
}

Result<> FileSink::open_temporary() {
  const auto [folder, name] = split_path(path_);
  if (name.size() > NAME_MAX || path_.size() >= PATH_MAX)
    return fail(system_error(ENAMETOOLONG, "cannot create a file beside", path_));
  fd_.reset(::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kOwnerOnly));
  nameless_ = static_cast<bool>(fd_);
  if (nameless_) return {};
  std::string temporary = folder + "." + name + ".XXXXXX";
  fd_.reset(::mkostemp(temporary.data(), O_CLOEXEC));  // created with mode 0600
  if (!fd_) return fail(system_error("cannot create a file beside", path_));
  temporary_ = std::move(temporary);
  return {};
}

// A link does not replace a file: then the name is taken by way of another one.
Result<> FileSink::take_temporary_name() {
  const auto [folder, name] = split_path(path_);
  const std::string own = "/proc/self/fd/" + std::to_string(fd_.get());
  for (int i = 0; i < kNameTries; ++i) {
    std::string temporary =
        folder + "." + name.substr(0, NAME_MAX - 24) + "." + std::to_string(::getpid()) + "." + std::to_string(i);
    if (::linkat(AT_FDCWD, own.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = std::move(temporary);
      return {};
    }
    if (errno != EEXIST) break;
  }
  return fail(system_error("cannot give the finished file its name", path_));
}

Result<> FileSink::take_name() {
  if (nameless_) {
    const std::string own = "/proc/self/fd/" + std::to_string(fd_.get());
    if (::linkat(AT_FDCWD, own.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) return {};
    if (errno != EEXIST) return fail(system_error("cannot give the finished file its name", path_));
    JTRACE_RETURN_IF_ERROR(take_temporary_name());
  }
  if (!temporary_.empty() && ::rename(temporary_.c_str(), path_.c_str()) != 0)
    return fail(system_error("cannot give the finished file its name", path_));
  temporary_.clear();
  return {};
}

std::uint64_t FileSink::closing_reserve(std::uint64_t max_size) {
  return max_size == 0 ? kClosingReserve : std::min<std::uint64_t>(kClosingReserve, max_size / 2);
}

Result<std::uint64_t> FileSink::promise(std::uint64_t least, std::uint64_t wished, bool closing) {
  const std::uint64_t reserve = closing ? 0 : closing_reserve(options_.max_size);
  if (options_.max_size != 0) {
    if (least + reserve > options_.max_size)
      return fail(limit_error("the output has reached its limit of " + size_text(options_.max_size), path_));
    wished = std::min(wished, options_.max_size - reserve);
  }
  if (!regular_) return wished;
  if (allocate_until(wished + reserve)) return wished;
  // No room for all of it, but perhaps for the next record.
  JTRACE_RETURN_IF_ERROR(allocate_until(least + reserve));
  return least;
}

Result<> FileSink::allocate_until(std::uint64_t end) {
  if (end <= allocated_) return {};
  JTRACE_RETURN_IF_ERROR(check_free(end - allocated_));
  while (options_.allocate) {
    const auto from = static_cast<off_t>(allocated_);
    if (::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, from, static_cast<off_t>(end) - from) == 0) break;
    if (errno == EOPNOTSUPP || errno == ENOSYS) options_.allocate = false;
    else if (errno != EINTR) return fail(system_error("no room for the output", path_));
  }
  allocated_ = end;
  return {};
}

Result<> FileSink::check_free(std::uint64_t more) const {
  if (options_.min_free == 0) return {};
  struct statvfs file_system {};
  if (::fstatvfs(fd_.get(), &file_system) != 0) return {};
  if (std::uint64_t{file_system.f_bavail} * file_system.f_frsize >= options_.min_free + more) return {};
  return fail(
      limit_error("the output stops so that " + size_text(options_.min_free) + " of its file system stay free", path_));
}

Result<> FileSink::drain(std::string_view records) {
  const std::uint64_t start = size_;
  while (!records.empty()) {
    auto count = write_some(fd_.get(), records, path_);
    if (!count) {
      boundaries_.push_back(start);
      if (regular_) cut_back();
      return fail(std::move(count).error());
    }
    records.remove_prefix(*count);
    size_ += *count;
  }
  boundaries_.push_back(size_);
  while (boundaries_.size() > 1 && boundaries_[1] + kClosingReserve <= size_) boundaries_.pop_front();
  return {};
}

// After a failed write: cuts the file back to the end of a whole record, with the reserve as free room after it if the
// file is large enough.
void FileSink::cut_back() {
  std::uint64_t end = boundaries_.front();
  for (std::uint64_t boundary : boundaries_)
    if (boundary + kClosingReserve <= size_) end = boundary;
  const auto offset = static_cast<off_t>(end);
  if (::ftruncate(fd_.get(), offset) == 0 && ::lseek(fd_.get(), offset, SEEK_SET) == offset) size_ = end;
  allocated_ = size_;
  boundaries_.assign(1, size_);
}

Result<> FileSink::complete() {
  if (allocated_ > size_ && regular_ && ::ftruncate(fd_.get(), static_cast<off_t>(size_)) != 0)
    return fail(system_error("cannot set the length of", path_));
  JTRACE_RETURN_IF_ERROR(take_name());
  if (::close(fd_.release()) != 0) return fail(system_error("cannot close", path_));
  return {};
}

}  // namespace jtrace::trace
