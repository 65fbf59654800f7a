#include "perfdata/region_writer.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"

namespace jtrace::perfdata {
namespace {

constexpr std::size_t align_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

}  // namespace

template <class T>
void RegionWriter::store(std::vector<std::byte>& at, std::size_t offset, T value) const {
  const T ordered = order_ == std::endian::native ? value : byte_swapped(value);
  std::memcpy(at.data() + offset, &ordered, sizeof ordered);
}

RegionWriter::RegionWriter(std::endian order) : order_(order), bytes_(kPrologueSize) {
  constexpr std::uint8_t kMagicBytes[] = {0xca, 0xfe, 0xc0, 0xc0};
  std::memcpy(bytes_.data(), kMagicBytes, sizeof kMagicBytes);
  bytes_[kByteOrderOffset] = std::byte{order == std::endian::little};
  set_version(2, 0).set_accessible(true);
}

RegionWriter& RegionWriter::add_raw(std::string_view name, char type, std::uint32_t vector_length, std::uint8_t flags,
                                    std::uint8_t units, std::uint8_t variability, std::span<const std::byte> value) {
  const std::size_t alignment = type == 'J' || type == 'D'   ? 8
                                : type == 'I' || type == 'F' ? 4
                                : type == 'S' || type == 'C' ? 2
                                                             : 1;
  const std::size_t data = align_up(kEntryHeaderSize + name.size() + 1, alignment);
  const std::size_t length = align_up(data + value.size(), 8);
  const std::size_t start = bytes_.size();
  bytes_.resize(start + length);
  store(bytes_, start, static_cast<std::int32_t>(length));
  store(bytes_, start + 4, static_cast<std::int32_t>(kEntryHeaderSize));
  store(bytes_, start + 8, vector_length);
  bytes_[start + 12] = static_cast<std::byte>(type);
  bytes_[start + 13] = std::byte{flags};
  bytes_[start + 14] = std::byte{units};
  bytes_[start + 15] = std::byte{variability};
  store(bytes_, start + 16, static_cast<std::int32_t>(data));
  std::copy_n(reinterpret_cast<const std::byte*>(name.data()), name.size(),
              bytes_.begin() + static_cast<std::ptrdiff_t>(start + kEntryHeaderSize));
  std::copy(value.begin(), value.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(start + data));
  ++count_;
  return *this;
}

RegionWriter& RegionWriter::add_long(std::string_view name, std::int64_t value, Units units, Variability variability,
                                     std::uint8_t flags) {
  const std::int64_t ordered = order_ == std::endian::native ? value : byte_swapped(value);
  return add_raw(name, 'J', 0, flags, static_cast<std::uint8_t>(units), static_cast<std::uint8_t>(variability),
                 std::as_bytes(std::span(&ordered, 1)));
}

RegionWriter& RegionWriter::add_text(std::string_view name, std::string_view text, Variability variability,
                                     std::uint8_t flags, std::size_t capacity) {
  std::vector<std::byte> value(std::max(capacity, text.size() + 1));
  std::memcpy(value.data(), text.data(), text.size());
  return add_raw(name, 'B', static_cast<std::uint32_t>(value.size()), flags, static_cast<std::uint8_t>(Units::kString),
                 static_cast<std::uint8_t>(variability), value);
}

RegionWriter& RegionWriter::set_accessible(bool accessible) {
  bytes_[kAccessibleOffset] = std::byte{accessible};
  return *this;
}

RegionWriter& RegionWriter::set_version(std::uint8_t major, std::uint8_t minor) {
  bytes_[kMajorOffset] = std::byte{major};
  bytes_[kMinorOffset] = std::byte{minor};
  return *this;
}

RegionWriter& RegionWriter::set_overflow(std::uint32_t bytes) {
  overflow_ = bytes;
  return *this;
}

RegionWriter& RegionWriter::set_modification(std::int64_t ns) {
  modification_ns_ = ns;
  return *this;
}

std::vector<std::byte> RegionWriter::bytes(std::size_t capacity) const {
  std::vector<std::byte> region = bytes_;
  store(region, kUsedOffset, static_cast<std::int32_t>(region.size()));
  store(region, kOverflowOffset, overflow_);
  store(region, kModificationOffset, modification_ns_);
  store(region, kEntryOffsetOffset, static_cast<std::int32_t>(kPrologueSize));
  store(region, kEntryCountOffset, count_);
  region.resize(std::max(capacity, region.size()));
  return region;
}

}  // namespace jtrace::perfdata
