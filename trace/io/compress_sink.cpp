#include "trace/io/compress_sink.h"

#include <zlib.h>
#include <zstd.h>

#include <string>
#include <vector>

namespace jtrace::trace::io {
namespace {

constexpr int kZstdLevel = 1;
constexpr int kGzipLevel = 1;
constexpr std::size_t kPackedBuffer = 256u << 10;

class PackingSink : public ByteSink {
 public:
  explicit PackingSink(std::unique_ptr<ByteSink> below) : below_(std::move(below)), packed_(kPackedBuffer) {}

 protected:
  std::uint64_t held() const override { return taken_; }
  Result<> hand_down(std::size_t size) { return below_->write({packed_.data(), size}); }
  std::unique_ptr<ByteSink> below_;
  std::vector<char> packed_;
  std::uint64_t taken_ = 0;
};

class ZstdSink final : public PackingSink {
 public:
  explicit ZstdSink(std::unique_ptr<ByteSink> below) : PackingSink(std::move(below)), stream_(ZSTD_createCCtx()) {
    ZSTD_CCtx_setParameter(stream_, ZSTD_c_compressionLevel, kZstdLevel);
    ZSTD_CCtx_setParameter(stream_, ZSTD_c_checksumFlag, 1);
  }
  ~ZstdSink() override { ZSTD_freeCCtx(stream_); }

 private:
  Result<> drain(std::string_view records) override {
    JTRACE_RETURN_IF_ERROR(pack(records, ZSTD_e_continue));
    taken_ += records.size();
    return {};
  }
  Result<> complete() override {
    Result<> packed = pack({}, ZSTD_e_end);
    Result<> finished = below_->finish();
    return packed ? std::move(finished) : std::move(packed);
  }
  Result<> pack(std::string_view records, ZSTD_EndDirective how) {
    ZSTD_inBuffer from{records.data(), records.size(), 0};
    for (;;) {
      ZSTD_outBuffer to{packed_.data(), packed_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(stream_, &to, &from, how);
      if (ZSTD_isError(left))
        return fail(ErrorCategory::kRefused, std::string("cannot compress: ") + ZSTD_getErrorName(left));
      JTRACE_RETURN_IF_ERROR(hand_down(to.pos));
      if (how == ZSTD_e_end ? left == 0 : from.pos == from.size) return {};
    }
  }
  ZSTD_CCtx* stream_;
};

class GzipSink final : public PackingSink {
 public:
  explicit GzipSink(std::unique_ptr<ByteSink> below) : PackingSink(std::move(below)) {
    ::deflateInit2(&stream_, kGzipLevel, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);  // zlib.h: 16 for gzip
  }
  ~GzipSink() override { ::deflateEnd(&stream_); }

 private:
  Result<> drain(std::string_view records) override {
    JTRACE_RETURN_IF_ERROR(pack(records, Z_NO_FLUSH));
    taken_ += records.size();
    return {};
  }
  Result<> complete() override {
    Result<> packed = pack({}, Z_FINISH);
    Result<> finished = below_->finish();
    return packed ? std::move(finished) : std::move(packed);
  }
  Result<> pack(std::string_view records, int how) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(records.data()));
    stream_.avail_in = static_cast<uInt>(records.size());
    int done = Z_OK;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(packed_.data());
      stream_.avail_out = static_cast<uInt>(packed_.size());
      done = ::deflate(&stream_, how);
      if (done == Z_STREAM_ERROR) return fail(ErrorCategory::kRefused, "cannot compress");
      JTRACE_RETURN_IF_ERROR(hand_down(packed_.size() - stream_.avail_out));
    } while (how == Z_FINISH ? done != Z_STREAM_END : stream_.avail_out == 0);
    return {};
  }
  z_stream stream_{};
};

}  // namespace

Compression compression_of_name(std::string_view name) {
  if (name.ends_with(".zst")) return Compression::kZstd;
  return name.ends_with(".gz") ? Compression::kGzip : Compression::kNone;
}

std::string_view without_compression(std::string_view name) {
  switch (compression_of_name(name)) {
    case Compression::kNone: break;
    case Compression::kZstd: name.remove_suffix(4); break;
    case Compression::kGzip: name.remove_suffix(3); break;
  }
  return name;
}

Result<std::unique_ptr<ByteSink>> compressing(std::unique_ptr<ByteSink> below, Compression compression) {
  switch (compression) {
    case Compression::kNone: break;
    case Compression::kZstd: return std::unique_ptr<ByteSink>(std::make_unique<ZstdSink>(std::move(below)));
    case Compression::kGzip: return std::unique_ptr<ByteSink>(std::make_unique<GzipSink>(std::move(below)));
  }
  return below;
}

}  // namespace jtrace::trace::io
