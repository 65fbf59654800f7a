#include "cli/heap_dump_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "base/file.h"
#include "base/free_memory.h"
#include "base/size_text.h"
#include "coreinspect/graph/hprof_stream.h"
#include "trace/io/byte_source.h"
#include "trace/io/profile_file.h"

namespace jtrace::cli {
namespace {

constexpr std::size_t kMagicSize = coreinspect::HprofFile::kMagic.size();
constexpr std::size_t kPiece = 1u << 20;
// What a compressed file may become: gzip reaches 1032 times its size (RFC 1951), zstd of zeros far more.
constexpr std::uint64_t kMostPacked = 1100, kMostOfAny = 64 * kPiece;
constexpr std::uint64_t kMostBehind = 64 * kPiece;  // read, not kept, after the last record: to see a damaged end

// A file with such a name is treated as a heap dump: opening it reports what it is instead.
bool is_called_heap_dump(const std::string& path) {
  for (const char* ending : {".hprof", ".hprof.gz", ".hprof.zst"})
    if (path.ends_with(ending)) return true;
  return false;
}

Result<> check_room(const std::string& path, std::uint64_t done) {
  if (free_memory() >= 128 * kPiece) return {};
  return fail(ErrorCategory::kRefused,
              path + " is unpacked in memory, of which too little is free after " + size_text(done),
              "unpack it into a file");
}

Result<> write_at(int file, std::uint64_t place, std::string_view bytes, const std::string& path) {
  if (::lseek(file, static_cast<off_t>(place), SEEK_SET) < 0)
    return fail(system_error("cannot unpack the heap dump", path));
  return write_whole(file, bytes, path);
}

// Unpacks what is part of the dump into memory; `missing`: why that may not be all.
class Unpacking {
 public:
  Unpacking(const std::string& path, std::vector<std::string>& missing) : path_(path), missing_(missing) {}

  Result<UniqueFd> run() {
    JTRACE_ASSIGN_OR_RETURN(const auto source, trace::io::open_byte_source(path_));
    memory_.reset(::memfd_create("jtrace-heap", MFD_CLOEXEC));
    if (!memory_) return fail(system_error("cannot get memory for the heap dump", path_));
    const std::uint64_t most = kMostOfAny + source->size() * kMostPacked;
    std::string piece(kPiece, '\0');
    for (std::size_t count = kPiece; count == kPiece;) {
      JTRACE_ASSIGN_OR_RETURN(count, trace::io::read_fully(*source, piece.data(), piece.size()));
      JTRACE_RETURN_IF_ERROR(take({piece.data(), count}));
      if (is_enough(most)) break;
    }
    if (source->truncated()) missing_.push_back("the compressed file ends too early, or its end is damaged");
    if (::ftruncate(memory_.get(), static_cast<off_t>(kept_)) != 0)
      return fail(system_error("cannot unpack the heap dump", path_));
    return std::move(memory_);
  }

 private:
  Result<> take(std::string_view bytes) {
    if (stream_.size() % (64 * kPiece) == 0) JTRACE_RETURN_IF_ERROR(check_room(path_, stream_.size()));
    if (stream_.size() == 0) is_dump_ = coreinspect::HprofFile::recognises(bytes);
    Result<> written;
    stream_.feed(bytes, [&](std::uint64_t place, std::string_view part) {
      if (written) written = write_at(memory_.get(), place, part, path_);
    });
    if (!stream_.is_over()) kept_ = stream_.size();
    else if (over_ == 0) over_ = kept_ = end_of_kept();
    return written;
  }
  std::uint64_t end_of_kept() const {
    const off_t end = ::lseek(memory_.get(), 0, SEEK_END);
    return end < 0 ? 0 : static_cast<std::uint64_t>(end);
  }
  bool is_enough(std::uint64_t most) {
    if (!is_dump_) return true;  // its beginning says what it is
    const bool is_too_much = stream_.size() > most;
    if (!is_too_much && (over_ == 0 || stream_.size() < over_ + kMostBehind)) return false;
    missing_.push_back("the compressed file is unpacked only to " + size_text(kept_) + ": " +
                       (over_ != 0 ? "what follows is no record of a heap dump"
                                   : "it has " + std::to_string(kMostPacked) + " times the size of the file"));
    return true;
  }

  const std::string& path_;
  std::vector<std::string>& missing_;
  UniqueFd memory_;
  coreinspect::HprofStream stream_;
  bool is_dump_ = false;
  std::uint64_t kept_ = 0, over_ = 0;  // size of the dump; the same once its last record is known
};

}  // namespace

bool is_heap_dump(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (is_called_heap_dump(path)) return true;
  const auto first = trace::io::first_bytes(path);
  return first && coreinspect::HprofFile::recognises(*first);
}

Result<coreinspect::HprofFile> open_heap_dump_file(const std::string& path, std::vector<std::string>& missing) {
  JTRACE_ASSIGN_OR_RETURN(UniqueFd file, open_file(path, O_RDONLY));
  std::string bytes(kMagicSize, '\0');
  if (::pread(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()) ||
      !coreinspect::HprofFile::recognises(bytes)) {
    JTRACE_ASSIGN_OR_RETURN(file, Unpacking(path, missing).run());
  }
  return coreinspect::HprofFile::open(std::move(file), path);
}

Result<std::unique_ptr<coreinspect::ObjectGraph>> open_heap_graph(const std::string& path,
                                                                  std::vector<std::string>& missing, unsigned threads) {
  JTRACE_ASSIGN_OR_RETURN(coreinspect::HprofFile dump, open_heap_dump_file(path, missing));
  return coreinspect::ObjectGraph::build(std::move(dump), std::nullopt, threads);
}

}  // namespace jtrace::cli
