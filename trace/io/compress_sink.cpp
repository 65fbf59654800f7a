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
constexpr std::size_t kFrameEnds = 64;  // more than header and checksum of a frame (RFC 8878: 18 + 4; RFC 1952: 10 + 8)

// The common part of the two compressors. A frame may end with each drain; then it is passed on as one record, and the
// sink below has promised the room for it before its first event was taken: a full disk loses no event of a frame.
class PackingSink : public ByteSink {
 public:
  PackingSink(std::unique_ptr<ByteSink> below, Framing framing)
      : below_(std::move(below)), framed_(framing == Framing::kEachFlush), packed_(kPackedBuffer) {}
  void set_give_up(std::function<bool()> give_up) override { below_->set_give_up(std::move(give_up)); }

 protected:
  std::uint64_t held() const override { return taken_; }
  void open_reserve() override { below_->begin_closing(); }
  bool packs() const override { return framed_; }
  // Everything up to the promised offset is in one frame, which is at worst a little larger than what is in it.
  Result<std::uint64_t> promise(std::uint64_t least, std::uint64_t wished, bool closing) override {
    if (!framed_) return ByteSink::promise(least, wished, closing);
    for (std::uint64_t end = wished;; end = least + (end - least) / 2) {
      Result<> room = below_->check_room(largest_frame(end - taken_));
      if (room) return end;
      if (end == least) return fail(std::move(room).error());
    }
  }
  Result<> drain(std::string_view records) override {
    JTRACE_RETURN_IF_ERROR(pack(records, framed_));
    if (framed_) JTRACE_RETURN_IF_ERROR(pass_frame());
    taken_ += records.size();
    return {};
  }
  Result<> complete() override {
    Result<> packed = framed_ ? Result<>() : pack({}, true);
    Result<> finished = below_->finish();
    return packed ? std::move(finished) : std::move(packed);
  }
  // Compresses `records` and, with `last`, ends the frame.
  virtual Result<> pack(std::string_view records, bool last) = 0;
  // The bytes of a frame of `size` bytes that do not get smaller.
  virtual std::size_t largest_frame(std::size_t size) = 0;
  Result<> pass_frame() {
    const Result<> written = below_->write(frame_);
    frame_.clear();
    return written ? below_->flush() : written;
  }
  Result<> hand_down(std::size_t size) {
    if (!framed_) return below_->write({packed_.data(), size});
    frame_.append(packed_.data(), size);
    return {};
  }
  std::unique_ptr<ByteSink> below_;
  bool framed_;
  std::vector<char> packed_;
  std::string frame_;
  std::uint64_t taken_ = 0;
};

class ZstdSink final : public PackingSink {
 public:
  ZstdSink(std::unique_ptr<ByteSink> below, Framing framing)
      : PackingSink(std::move(below), framing), stream_(ZSTD_createCCtx()) {
    ZSTD_CCtx_setParameter(stream_, ZSTD_c_compressionLevel, kZstdLevel);
    ZSTD_CCtx_setParameter(stream_, ZSTD_c_checksumFlag, 1);
  }
  ~ZstdSink() override { ZSTD_freeCCtx(stream_); }

 private:
  Result<> pack(std::string_view records, bool last) override {
    const ZSTD_EndDirective how = last ? ZSTD_e_end : ZSTD_e_continue;
    ZSTD_inBuffer from{records.data(), records.size(), 0};
    for (;;) {
      ZSTD_outBuffer to{packed_.data(), packed_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(stream_, &to, &from, how);
      if (ZSTD_isError(left))
        return fail(ErrorCategory::kRefused, std::string("cannot compress: ") + ZSTD_getErrorName(left));
      JTRACE_RETURN_IF_ERROR(hand_down(to.pos));
      if (last ? left == 0 : from.pos == from.size) return {};
    }
  }
  std::size_t largest_frame(std::size_t size) override { return ZSTD_compressBound(size) + kFrameEnds; }
  ZSTD_CCtx* stream_;
};

class GzipSink final : public PackingSink {
 public:
  GzipSink(std::unique_ptr<ByteSink> below, Framing framing) : PackingSink(std::move(below), framing) {
    ::deflateInit2(&stream_, kGzipLevel, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);  // zlib.h: 16 for gzip
  }
  ~GzipSink() override { ::deflateEnd(&stream_); }

 private:
  Result<> pack(std::string_view records, bool last) override {
    const int how = last ? Z_FINISH : Z_NO_FLUSH;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(records.data()));
    stream_.avail_in = static_cast<uInt>(records.size());
    int done = Z_OK;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(packed_.data());
      stream_.avail_out = static_cast<uInt>(packed_.size());
      done = ::deflate(&stream_, how);
      if (done == Z_STREAM_ERROR) return fail(ErrorCategory::kRefused, "cannot compress");
      JTRACE_RETURN_IF_ERROR(hand_down(packed_.size() - stream_.avail_out));
    } while (last ? done != Z_STREAM_END : stream_.avail_out == 0);
    if (last) ::deflateReset(&stream_);
    return {};
  }
  std::size_t largest_frame(std::size_t size) override { return ::deflateBound(&stream_, size) + kFrameEnds; }
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

Result<std::unique_ptr<ByteSink>> compressing(std::unique_ptr<ByteSink> below, Compression compression,
                                              Framing framing) {
  switch (compression) {
    case Compression::kNone: break;
    case Compression::kZstd: return std::unique_ptr<ByteSink>(std::make_unique<ZstdSink>(std::move(below), framing));
    case Compression::kGzip: return std::unique_ptr<ByteSink>(std::make_unique<GzipSink>(std::move(below), framing));
  }
  return below;
}

}  // namespace jtrace::trace::io
