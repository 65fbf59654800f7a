#include "trace/io/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/file.h"

namespace jtrace::trace::io {
namespace {

constexpr std::size_t kPackedBuffer = 256u << 10;
constexpr std::size_t kMagicSize = 4;
// Windows up to this size need no more memory than a reader may take; the library refuses frames that need more.
constexpr int kZstdWindowLog = 25;

class FdSource final : public ByteSource {
 public:
  FdSource(UniqueFd owned, int fd, std::string name, std::uint64_t size)
      : owned_(std::move(owned)), fd_(fd), name_(std::move(name)), size_(size) {}
  Result<std::size_t> read(char* out, std::size_t size) override {
    for (;;) {
      const ssize_t count = ::read(fd_, out, size);
      if (count >= 0) {
        consumed_ += static_cast<std::uint64_t>(count);
        return static_cast<std::size_t>(count);
      }
      if (errno != EINTR) return fail(system_error("cannot read", name_));
    }
  }
  std::uint64_t consumed() const override { return consumed_; }
  std::uint64_t size() const override { return size_; }

 private:
  UniqueFd owned_;
  int fd_;
  std::string name_;
  std::uint64_t size_;
  std::uint64_t consumed_ = 0;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  Result<std::size_t> read(char* out, std::size_t size) override {
    const std::size_t count = std::min(size, bytes_.size() - at_);
    std::memcpy(out, bytes_.data() + at_, count);
    at_ += count;
    return count;
  }
  std::uint64_t consumed() const override { return at_; }
  std::uint64_t size() const override { return bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

// A source whose first bytes were examined: it returns them again.
class PeekedSource final : public ByteSource {
 public:
  PeekedSource(std::unique_ptr<ByteSource> below, std::string first)
      : below_(std::move(below)), first_(std::move(first)) {}
  Result<std::size_t> read(char* out, std::size_t size) override {
    if (at_ == first_.size()) return below_->read(out, size);
    const std::size_t count = std::min(size, first_.size() - at_);
    std::memcpy(out, first_.data() + at_, count);
    at_ += count;
    return count;
  }
  std::uint64_t consumed() const override { return below_->consumed(); }
  std::uint64_t size() const override { return below_->size(); }

 private:
  std::unique_ptr<ByteSource> below_;
  std::string first_;
  std::size_t at_ = 0;
};

// The common part of the two decompressors: a buffer of compressed bytes.
class UnpackingSource : public ByteSource {
 public:
  explicit UnpackingSource(std::unique_ptr<ByteSource> below) : below_(std::move(below)), packed_(kPackedBuffer) {}
  bool truncated() const override { return truncated_; }
  std::uint64_t consumed() const override { return below_->consumed(); }
  std::uint64_t size() const override { return below_->size(); }

 protected:
  // Reads more compressed bytes; 0 at the end.
  Result<std::size_t> refill() { return read_fully(*below_, packed_.data(), packed_.size()); }
  std::unique_ptr<ByteSource> below_;
  std::vector<char> packed_;
  bool truncated_ = false;
};

class ZstdSource final : public UnpackingSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> below)
      : UnpackingSource(std::move(below)), stream_(ZSTD_createDStream()) {
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kZstdWindowLog);
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }

  Result<std::size_t> read(char* out, std::size_t size) override {
    ZSTD_outBuffer to{out, size, 0};
    while (to.pos == 0 && !truncated_) {
      if (from_.pos == from_.size && !flushing_) {
        JTRACE_ASSIGN_OR_RETURN(from_.size, refill());
        from_.src = packed_.data();
        from_.pos = 0;
        if (from_.size == 0) {
          truncated_ = in_frame_;
          return std::size_t{0};
        }
      }
      const std::size_t left = ZSTD_decompressStream(stream_, &to, &from_);
      if (ZSTD_isError(left)) {
        truncated_ = true;
        break;
      }
      in_frame_ = left != 0;
      flushing_ = to.pos == to.size;  // there may be more inside
    }
    return to.pos;
  }

 private:
  ZSTD_DStream* stream_;
  ZSTD_inBuffer from_{nullptr, 0, 0};
  bool in_frame_ = true;
  bool flushing_ = false;
};

class GzipSource final : public UnpackingSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> below) : UnpackingSource(std::move(below)) {
    ::inflateInit2(&stream_, 15 + 16);  // zlib.h: 16 for the header of gzip
  }
  ~GzipSource() override { ::inflateEnd(&stream_); }

  Result<std::size_t> read(char* out, std::size_t size) override {
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(size, 1u << 30));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted && !truncated_) {
      if (stream_.avail_in == 0) {
        JTRACE_ASSIGN_OR_RETURN(const std::size_t count, refill());
        if (count == 0) {
          truncated_ = in_member_;
          break;
        }
        stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
        stream_.avail_in = static_cast<uInt>(count);
      }
      in_member_ = true;
      const int done = ::inflate(&stream_, Z_NO_FLUSH);
      if (done == Z_STREAM_END) {  // another member may follow
        in_member_ = false;
        ::inflateReset(&stream_);
      } else if (done != Z_OK && done != Z_BUF_ERROR) {
        truncated_ = true;
      }
    }
    return static_cast<std::size_t>(wanted - stream_.avail_out);
  }

 private:
  z_stream stream_{};
  bool in_member_ = true;
};

Result<std::unique_ptr<ByteSource>> unpacking(std::unique_ptr<ByteSource> source) {
  char magic[kMagicSize];
  JTRACE_ASSIGN_OR_RETURN(const std::size_t count, read_fully(*source, magic, sizeof magic));
  const std::string_view seen(magic, count);
  source = std::make_unique<PeekedSource>(std::move(source), std::string(seen));
  if (seen == "\x28\xb5\x2f\xfd") source = std::make_unique<ZstdSource>(std::move(source));
  else if (seen.starts_with("\x1f\x8b")) source = std::make_unique<GzipSource>(std::move(source));
  return source;
}

}  // namespace

Result<std::size_t> read_fully(ByteSource& source, char* out, std::size_t size) {
  std::size_t filled = 0;
  while (filled < size) {
    JTRACE_ASSIGN_OR_RETURN(const std::size_t count, source.read(out + filled, size - filled));
    if (count == 0) break;
    filled += count;
  }
  return filled;
}

Result<std::unique_ptr<ByteSource>> open_byte_source(const std::string& path) {
  if (path == "-")
    return unpacking(std::make_unique<FdSource>(UniqueFd(), STDIN_FILENO, "standard input", std::uint64_t{0}));
  JTRACE_ASSIGN_OR_RETURN(UniqueFd fd, open_file(path, O_RDONLY));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return fail(system_error("cannot look at", path));
  if (S_ISDIR(status.st_mode)) return fail(system_error(EISDIR, "cannot read", path));
  const std::uint64_t size = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  const int number = fd.get();
  return unpacking(std::make_unique<FdSource>(std::move(fd), number, path, size));
}

Result<std::unique_ptr<ByteSource>> memory_byte_source(std::string_view bytes) {
  return unpacking(std::make_unique<MemorySource>(bytes));
}

}  // namespace jtrace::trace::io
