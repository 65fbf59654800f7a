// UNSIGNED5: HotSpot's encoding of small numbers in one to five bytes (compressedStream.hpp of 8 to 17, unsigned5.hpp
// of 21+). Reads from copied bytes; past their end it returns 0 and failed() is true. Borrows the span.
#pragma once

#include <cstdint>
#include <span>

namespace jtrace::coreinspect {

class Unsigned5Reader {
 public:
  Unsigned5Reader(std::span<const std::byte> bytes, bool excludes_zero)
      : bytes_(bytes), excluded_(excludes_zero ? 1u : 0u) {}

  std::uint32_t next() {
    std::uint32_t sum = 0;
    for (int i = 0; i < 5; ++i) {
      if (position_ >= bytes_.size()) return fail();
      const auto byte = std::to_integer<std::uint32_t>(bytes_[position_++]);
      if (byte < excluded_) return fail();  // a zero byte ends a stream of 21+
      sum += (byte - excluded_) << (6 * i);
      if (byte < 192) break;  // bytes from 192 on say that more follow, in both forms
    }
    return sum;
  }
  std::int32_t next_signed() {
    const std::uint32_t value = next();
    return static_cast<std::int32_t>((value >> 1) ^ (0u - (value & 1)));
  }
  std::uint8_t next_byte() {
    if (position_ >= bytes_.size()) return static_cast<std::uint8_t>(fail());
    return std::to_integer<std::uint8_t>(bytes_[position_++]);
  }
  bool failed() const { return failed_; }
  std::size_t position() const { return position_; }

 private:
  std::uint32_t fail() {
    failed_ = true;
    return 0;
  }
  std::span<const std::byte> bytes_;
  std::uint32_t excluded_;
  std::size_t position_ = 0;
  bool failed_ = false;
};

}  // namespace jtrace::coreinspect
