#include "cli/heap_dump_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <vector>

#include "base/file.h"
#include "base/free_memory.h"
#include "base/size_text.h"
#include "trace/io/byte_source.h"

namespace jtrace::cli {
namespace {

constexpr std::size_t kMagicSize = coreinspect::HprofFile::kMagic.size();
constexpr std::size_t kPiece = 1u << 20;

bool begins_with_magic(const std::string& bytes) { return bytes.starts_with(coreinspect::HprofFile::kMagic); }

// A file with such a name is treated as a heap dump: opening it reports what it is instead.
bool is_called_heap_dump(const std::string& path) {
  for (const char* ending : {".hprof", ".hprof.gz", ".hprof.zst"})
    if (path.ends_with(ending)) return true;
  return false;
}

Result<UniqueFd> unpacked(const std::string& path, bool& cut) {
  JTRACE_ASSIGN_OR_RETURN(const auto source, trace::io::open_byte_source(path));
  UniqueFd memory(::memfd_create("jtrace-heap", MFD_CLOEXEC));
  if (!memory) return fail(system_error("cannot get memory for the heap dump", path));
  std::vector<char> piece(kPiece);
  for (std::uint64_t done = 0;; done += piece.size()) {
    JTRACE_ASSIGN_OR_RETURN(const std::size_t count, trace::io::read_fully(*source, piece.data(), piece.size()));
    if (done % (64 * kPiece) == 0 && free_memory() < 128 * kPiece)
      return fail(ErrorCategory::kRefused,
                  path + " is unpacked in memory, of which too little is free after " + size_text(done),
                  "unpack it into a file");
    JTRACE_RETURN_IF_ERROR(write_whole(memory.get(), {piece.data(), count}, path));
    if (count < piece.size()) break;
  }
  cut = source->truncated();
  return memory;
}

}  // namespace

bool is_heap_dump(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (is_called_heap_dump(path)) return true;
  const auto source = trace::io::open_byte_source(path);
  std::string bytes(kMagicSize, '\0');
  const auto count = source ? trace::io::read_fully(**source, bytes.data(), bytes.size()) : Result<std::size_t>(0);
  return count && *count == bytes.size() && begins_with_magic(bytes);
}

Result<coreinspect::HprofFile> open_heap_dump_file(const std::string& path, bool& cut) {
  JTRACE_ASSIGN_OR_RETURN(UniqueFd file, open_file(path, O_RDONLY));
  std::string bytes(kMagicSize, '\0');
  if (::pread(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()) ||
      !begins_with_magic(bytes)) {
    JTRACE_ASSIGN_OR_RETURN(file, unpacked(path, cut));
  }
  return coreinspect::HprofFile::open(std::move(file), path);
}

Result<std::unique_ptr<coreinspect::ObjectGraph>> open_heap_graph(const std::string& path, bool& cut) {
  JTRACE_ASSIGN_OR_RETURN(coreinspect::HprofFile dump, open_heap_dump_file(path, cut));
  return coreinspect::ObjectGraph::build(std::move(dump), std::nullopt);
}

}  // namespace jtrace::cli
