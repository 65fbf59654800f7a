#include "target/function_starts.h"

#include <cstdint>
#include <cstring>

namespace jtrace::target {
namespace {

// DWARF's pointer encodings, as in the LSB: what is stored, and relative to what.
constexpr auto kSigned4 = std::byte{0x0b}, kUnsigned4 = std::byte{0x03}, kOfHeader = std::byte{0x30};
constexpr std::size_t kEntry = 8, kHead = 12;  // version and encodings, pointer to .eh_frame, number of entries

template <class T>
T read_at(std::span<const std::byte> bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

FunctionStarts::FunctionStarts(std::span<const std::byte> header, Address vaddr) : vaddr_(vaddr) {
  if (header.size() < kHead || header[0] != std::byte{1} || (header[1] & std::byte{0x07}) != kUnsigned4 ||
      header[2] != kUnsigned4 || header[3] != (kOfHeader | kSigned4))
    return;
  const std::uint64_t count = read_at<std::uint32_t>(header, 8);
  if (count <= (header.size() - kHead) / kEntry) table_ = header.subspan(kHead, count * kEntry);
}

Address FunctionStarts::start_of(std::size_t entry) const {
  const std::int64_t offset = read_at<std::int32_t>(table_, entry * kEntry);
  return vaddr_ + static_cast<Address>(offset);
}

std::optional<Address> FunctionStarts::at_or_below(Address vaddr) const {
  std::size_t low = 0, high = table_.size() / kEntry;  // starts are ordered: the first one above `vaddr`
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (start_of(middle) <= vaddr) low = middle + 1;
    else high = middle;
  }
  if (low == 0) return std::nullopt;
  return start_of(low - 1);
}

}  // namespace jtrace::target
