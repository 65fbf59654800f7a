#include "fleet/batch.h"

#include <xxhash.h>
#include <zstd.h>

#include <bit>
#include <concepts>
#include <span>

#include "base/bytes.h"
#include "fleet/subject.h"

namespace jtrace::fleet {
namespace {

constexpr std::string_view kMagic = "JTB1";
constexpr std::size_t kChecked = 16;  // magic, version, size, checksum
constexpr int kZstdLevel = 1;         // smaller and faster than 3 on traces (trace/io/compress_sink.h)
constexpr std::uint8_t kBeginsSegment = 1, kEndsStream = 2, kIsCut = 4;

struct Sizes {
  std::uint32_t restated = 0, elements = 0, packed = 0;  // bytes
};

void put(std::string& out, std::unsigned_integral auto value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}
void put_text(std::string& out, std::string_view text) {
  text = text.substr(0, 255);
  put(out, static_cast<std::uint8_t>(text.size()));
  out.append(text);
}

// The fields in their order, for reading and writing: f(field).
template <class Header, class Size, class F>
void each_number(Header& header, Size& sizes, F&& f) {
  f(header.batch), f(header.previous), f(header.segment), f(header.elements), f(header.restated);
  f(header.elements_before), f(header.first_collation), f(header.last_collation);
  f(header.first_time), f(header.last_time), f(header.realtime), f(header.monotonic);
  f(sizes.restated), f(sizes.elements), f(sizes.packed);
}
template <class Header, class F>
void each_text(Header& header, F&& f) {
  f(header.stream), f(header.node), f(header.process), f(header.agent), f(header.trace), f(header.producer);
}

tl::unexpected<Error> refuse(std::string_view why) {
  return fail(ErrorCategory::kMalformed, "no batch of jtrace: " + std::string(why));
}

Result<> check(const BatchHeader& header, const Sizes& sizes, std::size_t rest) {
  for (const std::string* token : {&header.stream, &header.node, &header.process, &header.agent, &header.trace})
    if (!is_token(*token)) return refuse("an id of its header is not a word of a subject");
  if (header.batch == 0 || header.previous >= header.batch) return refuse("its number is wrong");
  if (header.batch == 1 && (header.elements_before != 0 || !header.begins_segment))
    return refuse("it says that it is the first, and that something comes before it");
  if (std::uint64_t{sizes.restated} + sizes.elements > kMaxUnpacked)
    return refuse("it says that it unpacks to " + std::to_string(std::uint64_t{sizes.restated} + sizes.elements) +
                  " bytes, more than " + std::to_string(kMaxUnpacked));
  if (sizes.packed != rest) return refuse("its size is not the one in its header");
  return {};
}

struct Decoded {
  BatchHeader header;
  Sizes sizes;
  std::string_view packed;
};

Result<Decoded> decode(std::string_view bytes) {
  if (bytes.size() < kChecked || !bytes.starts_with(kMagic)) return refuse("it does not begin like one");
  ByteReader reader(std::as_bytes(std::span(bytes)), std::endian::little);
  reader.skip(kMagic.size());
  const auto version = reader.read<std::uint16_t>();
  if (version != kBatchVersion)
    return refuse("version " + std::to_string(version) + ", and this jtrace reads " + std::to_string(kBatchVersion));
  const auto header_size = reader.read<std::uint16_t>();
  const auto checksum = reader.read<std::uint64_t>();
  if (header_size < kChecked || header_size > bytes.size()) return refuse("it is cut off");
  if (XXH64(bytes.data() + kChecked, bytes.size() - kChecked, 0) != checksum)
    return refuse("its checksum is wrong: it is damaged");
  Decoded decoded;
  const auto flags = reader.read<std::uint8_t>();
  decoded.header.begins_segment = (flags & kBeginsSegment) != 0;
  decoded.header.ends_stream = (flags & kEndsStream) != 0;
  decoded.header.is_cut = (flags & kIsCut) != 0;
  each_number(decoded.header, decoded.sizes,
              [&](auto& field) { field = reader.read<std::remove_reference_t<decltype(field)>>(); });
  each_text(decoded.header, [&](std::string& text) { text = reader.read_text(reader.read<std::uint8_t>()); });
  if (reader.failed() || reader.position() != header_size) return refuse("its header is not of the size that it says");
  decoded.packed = bytes.substr(header_size);
  JTRACE_RETURN_IF_ERROR(check(decoded.header, decoded.sizes, decoded.packed.size()));
  return decoded;
}

}  // namespace

Result<std::string> encode_batch(const Batch& batch) {
  const std::string raw = batch.restated + batch.elements;
  if (raw.size() > kMaxUnpacked)
    return fail(ErrorCategory::kRefused, "a batch of " + std::to_string(raw.size()) + " bytes is too large");
  std::string packed(ZSTD_compressBound(raw.size()), '\0');
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), kZstdLevel);
  if (ZSTD_isError(size) != 0)
    return fail(ErrorCategory::kRefused, std::string("cannot compress: ") + ZSTD_getErrorName(size));
  packed.resize(size);
  const Sizes sizes{static_cast<std::uint32_t>(batch.restated.size()),
                    static_cast<std::uint32_t>(batch.elements.size()), static_cast<std::uint32_t>(size)};
  const BatchHeader& header = batch.header;
  std::string fields;
  put(fields, static_cast<std::uint8_t>((header.begins_segment ? kBeginsSegment : 0) |
                                        (header.ends_stream ? kEndsStream : 0) | (header.is_cut ? kIsCut : 0)));
  each_number(header, sizes, [&](auto field) { put(fields, field); });
  each_text(header, [&](const std::string& text) { put_text(fields, text); });
  std::string out(kMagic);
  put(out, kBatchVersion);
  put(out, static_cast<std::uint16_t>(kChecked + fields.size()));
  const std::string rest = fields + packed;
  put(out, static_cast<std::uint64_t>(XXH64(rest.data(), rest.size(), 0)));
  out += rest;
  if (out.size() > kMaxBatch)
    return fail(ErrorCategory::kRefused, "a batch of " + std::to_string(out.size()) + " bytes is larger than " +
                                             std::to_string(kMaxBatch) + ", which a message may have");
  return out;
}

Result<Batch> decode_batch(std::string_view bytes) {
  JTRACE_ASSIGN_OR_RETURN(Decoded decoded, decode(bytes));
  const std::size_t size = decoded.sizes.restated + std::size_t{decoded.sizes.elements};
  // The frame's own claim too: nothing is allocated for more than the header says.
  if (ZSTD_getFrameContentSize(decoded.packed.data(), decoded.packed.size()) != size)
    return refuse("it does not unpack to the size in its header");
  std::string raw(size, '\0');
  const std::size_t unpacked = ZSTD_decompress(raw.data(), raw.size(), decoded.packed.data(), decoded.packed.size());
  if (ZSTD_isError(unpacked) != 0 || unpacked != size) return refuse("it does not unpack to the size in its header");
  Batch batch{std::move(decoded.header), raw.substr(0, decoded.sizes.restated), {}};
  batch.elements = raw.substr(decoded.sizes.restated);
  return batch;
}

Result<BatchHeader> decode_batch_header(std::string_view bytes) {
  JTRACE_ASSIGN_OR_RETURN(Decoded decoded, decode(bytes));
  return std::move(decoded.header);
}

}  // namespace jtrace::fleet
