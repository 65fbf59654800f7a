#include "trace/io/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/file.h"

namespace jtrace::trace::io {
namespace {

constexpr std::size_t kWindow = 256u << 10;

Result<UniqueFd> nameless_file(const std::string& folder) {
  UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd) return fd;
  // The file system has no O_TMPFILE.
  std::string name = folder + "/.jtrace-spool.XXXXXX";
  fd.reset(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd) return fail(system_error("cannot create a temporary file in", folder));
  ::unlink(name.c_str());
  return fd;
}

}  // namespace

Spool::Spool(UniqueFd fd, std::string folder)
    : fd_(std::move(fd)),
      folder_(std::move(folder)),
      bytes_(std::make_unique<FdSink>(fd_.get(), "a temporary file in " + folder_)),
      writer_(std::make_unique<XmlWriter>(*bytes_, XmlWriterOptions{.form = XmlForm::kFragments})) {}

Result<std::unique_ptr<Spool>> Spool::create(const std::string& folder) {
  JTRACE_ASSIGN_OR_RETURN(UniqueFd fd, nameless_file(folder));
  return std::unique_ptr<Spool>(new Spool(std::move(fd), folder));
}

Result<Spool::Place> Spool::write(const Event& event) {
  const std::uint64_t before = bytes_->bytes_written();
  JTRACE_RETURN_IF_ERROR(writer_->write(event));
  const std::uint64_t size = bytes_->bytes_written() - before;
  // A reader accepts at most 16 levels of tags of 1 MiB each.
  if (size > std::numeric_limits<std::uint32_t>::max() >> 4)
    return fail(ErrorCategory::kMalformed, "an element of " + std::to_string(size) + " bytes is too long to be merged");
  return Place{before, static_cast<std::uint32_t>(size)};
}

Result<> Spool::finish() { return writer_->finish(); }

Result<std::string_view> Spool::read(Place place, std::size_t stream) {
  if (windows_.size() <= stream) windows_.resize(stream + 1);
  Window& window = windows_[stream];
  if (place.offset < window.offset || place.offset + place.size > window.offset + window.bytes.size()) {
    window.bytes.resize(std::max<std::size_t>(kWindow, place.size));
    window.offset = place.offset;
    std::size_t have = 0;
    while (have < window.bytes.size()) {
      const ssize_t count = ::pread(fd_.get(), window.bytes.data() + have, window.bytes.size() - have,
                                    static_cast<off_t>(place.offset + have));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return fail(system_error("cannot read a temporary file in", folder_));
      if (count == 0) break;
      have += static_cast<std::size_t>(count);
    }
    window.bytes.resize(have);
    if (have < place.size)
      return fail(ErrorCategory::kRefused, "a temporary file in " + folder_ + " is shorter than what was written");
  }
  return std::string_view(window.bytes).substr(place.offset - window.offset, place.size);
}

}  // namespace jtrace::trace::io
