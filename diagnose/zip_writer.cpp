#include "diagnose/zip_writer.h"

#include <zlib.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "base/clock.h"
#include "diagnose/zip_format.h"

namespace jtrace::diagnose {
namespace {

constexpr std::uint64_t kMost = 0xffff'0000;               // bytes: below the marks of the extensions
constexpr std::uint16_t kMadeBy = 3u << 8 | zip::kNeeded;  // on Unix: the attributes are a mode
constexpr std::uint32_t kMode = 0100600u << 16;

template <std::unsigned_integral T>
void append(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

std::uint32_t dos_time(std::uint64_t realtime) {
  const auto seconds = static_cast<std::time_t>(realtime / kNanosPerSecond);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  const auto part = [](int value, unsigned shift) { return static_cast<std::uint32_t>(std::max(value, 0)) << shift; };
  return part(utc.tm_year - 80, 25) | part(utc.tm_mon + 1, 21) | part(utc.tm_mday, 16) | part(utc.tm_hour, 11) |
         part(utc.tm_min, 5) | part(utc.tm_sec / 2, 0);
}

// Nothing if that is not smaller.
std::optional<std::string> deflated(std::string_view content) {
  if (content.empty()) return std::nullopt;
  z_stream stream{};
  // zlib.h: negative window bits for deflate without a head.
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return std::nullopt;
  std::string out(content.size(), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool fits = ::deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  if (!fits) return std::nullopt;
  return out;
}

std::uint32_t checksum(std::string_view content) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
}

}  // namespace

ZipWriter::ZipWriter(std::uint64_t realtime) : stamp_(dos_time(realtime)) {}

Result<> ZipWriter::add(std::string_view name, std::string_view content) {
  if (content.size() > kMost - out_.size() || count_ == 0xfffe)
    return fail(ErrorCategory::kRefused, "the archive would be larger than 4 GiB, with " + std::string(name));
  const auto packed = deflated(content);
  const std::string_view stored = packed ? std::string_view(*packed) : content;
  std::string common;  // what local and central header have in common
  append(common, zip::kNeeded);
  append(common, zip::kUtf8);
  append(common, packed ? zip::kDeflated : zip::kStored);
  append(common, stamp_);
  append(common, checksum(content));
  append(common, static_cast<std::uint32_t>(stored.size()));
  append(common, static_cast<std::uint32_t>(content.size()));
  append(common, static_cast<std::uint16_t>(name.size()));
  append(common, std::uint16_t{0});  // extra fields

  append(directory_, zip::kCentralHeader);
  append(directory_, kMadeBy);
  directory_ += common;
  directory_.append(6, '\0');  // comment, disk, internal attributes
  append(directory_, kMode);
  append(directory_, static_cast<std::uint32_t>(out_.size()));
  directory_ += name;

  append(out_, zip::kLocalHeader);
  out_.append(common).append(name).append(stored);
  ++count_;
  return {};
}

std::string ZipWriter::finish() {
  const auto start = static_cast<std::uint32_t>(out_.size());
  out_ += directory_;
  append(out_, zip::kEnd);
  append(out_, std::uint32_t{0});  // disks
  append(out_, count_);
  append(out_, count_);
  append(out_, static_cast<std::uint32_t>(directory_.size()));
  append(out_, start);
  append(out_, std::uint16_t{0});  // comment
  directory_.clear();
  count_ = 0;
  return std::move(out_);
}

}  // namespace jtrace::diagnose
