#include "target/unpack.h"

#include <fcntl.h>
#include <lz4frame.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <vector>

namespace jtrace::target {
namespace {

constexpr std::size_t kBlock = 1u << 20;
constexpr std::size_t kPage = 4096;

bool starts_with(std::span<const std::byte> bytes, std::initializer_list<unsigned> magic) {
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin(), [](unsigned a, auto b) {
           return a == std::to_integer<unsigned>(b);
         });
}

// Writes a stream to a file; pages of zeros become holes.
class SparseFile {
 public:
  static Result<SparseFile> create() {
    const char* wanted = std::getenv("TMPDIR");
    SparseFile file;
    file.folder_ = wanted && *wanted ? wanted : "/var/tmp";
    file.fd_ = UniqueFd(::open(file.folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!file.fd_) return fail(system_error("cannot create a file for unpacking", file.folder_));
    return file;
  }
  Result<> write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto page = bytes.first(std::min(bytes.size(), kPage));
      bytes = bytes.subspan(page.size());
      const bool zeros = std::all_of(page.begin(), page.end(), [](std::byte byte) { return byte == std::byte{0}; });
      if (!zeros && ::pwrite(fd_.get(), page.data(), page.size(), static_cast<off_t>(size_)) !=
                        static_cast<ssize_t>(page.size())) {
        Error error = system_error("cannot unpack", folder_);
        error.help = "set TMPDIR to a folder with more room";
        return fail(std::move(error));
      }
      size_ += page.size();
    }
    return {};
  }
  Result<UniqueFd> finish() && {
    if (::ftruncate(fd_.get(), static_cast<off_t>(size_)) != 0) return fail(system_error("cannot unpack", folder_));
    return std::move(fd_);
  }
  std::uint64_t size() const { return size_; }

 private:
  std::string folder_;
  UniqueFd fd_;
  std::uint64_t size_ = 0;
};

Error broken(const std::string& path, const char* format, const char* why) {
  return {.category = ErrorCategory::kMalformed,
          .text = std::string("cannot unpack this ") + format + " file: " + why,
          .path = path};
}

Result<> unpack_zstd(std::span<const std::byte> packed, SparseFile& file, const std::string& path) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  std::vector<std::byte> block(kBlock);
  ZSTD_inBuffer input{packed.data(), packed.size(), 0};
  for (;;) {
    ZSTD_outBuffer output{block.data(), block.size(), 0};
    const std::size_t left = ZSTD_decompressStream(context.get(), &output, &input);
    JTRACE_RETURN_IF_ERROR(file.write(std::span(block).first(output.pos)));
    if (ZSTD_isError(left)) {
      if (file.size() > 0) return {};  // damaged after this point: keeps what was decompressed
      return fail(broken(path, "zstd", ZSTD_getErrorName(left)));
    }
    if (input.pos == input.size && output.pos < output.size) return {};
  }
}

Result<> unpack_lz4(std::span<const std::byte> packed, SparseFile& file, const std::string& path) {
  LZ4F_dctx* made = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&made, LZ4F_VERSION))) return fail(broken(path, "lz4", "no memory"));
  const std::unique_ptr<LZ4F_dctx, decltype(&LZ4F_freeDecompressionContext)> context(made,
                                                                                     LZ4F_freeDecompressionContext);
  std::vector<std::byte> block(kBlock);
  while (!packed.empty()) {
    std::size_t taken = packed.size(), made_bytes = block.size();
    const std::size_t left = LZ4F_decompress(context.get(), block.data(), &made_bytes, packed.data(), &taken, nullptr);
    if (LZ4F_isError(left)) {
      if (file.size() > 0) return {};
      return fail(broken(path, "lz4", LZ4F_getErrorName(left)));
    }
    JTRACE_RETURN_IF_ERROR(file.write(std::span(block).first(made_bytes)));
    if (taken == 0 && made_bytes == 0) return {};
    packed = packed.subspan(taken);
  }
  return {};
}

}  // namespace

Packing packing_of(std::span<const std::byte> head) {
  if (starts_with(head, {0x28, 0xb5, 0x2f, 0xfd})) return Packing::kZstd;
  if (starts_with(head, {0x04, 0x22, 0x4d, 0x18})) return Packing::kLz4;
  if (starts_with(head, {0x1f, 0x8b})) return Packing::kGzip;
  if (starts_with(head, {0xfd, '7', 'z', 'X', 'Z'})) return Packing::kXz;
  return Packing::kNone;
}

Result<UniqueFd> unpack(std::span<const std::byte> packed, Packing packing, const std::string& path) {
  JTRACE_ASSIGN_OR_RETURN(SparseFile file, SparseFile::create());
  JTRACE_RETURN_IF_ERROR(packing == Packing::kZstd ? unpack_zstd(packed, file, path) : unpack_lz4(packed, file, path));
  return std::move(file).finish();
}

}  // namespace jtrace::target
