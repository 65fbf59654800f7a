// ByteReader: a bounds-checked reader of bytes in one byte order. Reads past the end return zero and set failed(), so a
// parser checks once at the end of a structure and not at each field. Header only; usable in the agent. Ownership:
// borrows the span. Threads: one reader, one thread.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace jtrace {

template <std::integral T>
constexpr T byte_swapped(T value) {
  if constexpr (sizeof(T) == 1) return value;
  if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(static_cast<std::uint16_t>(value)));
  if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
  if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
}

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes, std::endian order = std::endian::native)
      : bytes_(bytes), order_(order) {}

  template <std::integral T>
  T read() {
    T value{};
    if (!take(sizeof(T))) return value;
    std::memcpy(&value, bytes_.data() + position_ - sizeof(T), sizeof(T));
    return order_ == std::endian::native ? value : byte_swapped(value);
  }
  // Returns the next `size` bytes, or an empty span, and then sets failed().
  std::span<const std::byte> read_bytes(std::size_t size) {
    if (!take(size)) return {};
    return bytes_.subspan(position_ - size, size);
  }
  std::string_view read_text(std::size_t size) {
    auto bytes = read_bytes(size);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // Unsigned LEB128 (DWARF 5, 7.6); values of more than 64 bits fail.
  std::uint64_t read_uleb128() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = read<std::uint8_t>();
      if (failed_ || shift > 63) return fail_zero();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  void skip(std::size_t size) { take(size); }
  void seek(std::size_t position) {
    if (position > bytes_.size()) failed_ = true;
    else position_ = position;
  }

  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }
  bool failed() const { return failed_; }

 private:
  bool take(std::size_t size) {
    if (failed_ || size > bytes_.size() - position_) {
      failed_ = true;
      return false;
    }
    position_ += size;
    return true;
  }
  std::uint64_t fail_zero() {
    failed_ = true;
    return 0;
  }

  std::span<const std::byte> bytes_;
  std::endian order_;
  std::size_t position_ = 0;
  bool failed_ = false;
};

}  // namespace jtrace
