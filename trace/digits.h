// Decimal digits for the writers' hot path: each function writes at `out` and returns the end. The caller has made
// room: 20 bytes for a number, 21 for a word list, 30 for a time. Header only. Any thread (TimeFormatter: one).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "trace/values.h"

namespace jtrace::trace {

static_assert(std::endian::native == std::endian::little);
// The longest is a word list, 21 characters, and put_number may write eight more than it uses.
inline constexpr std::size_t kMaxDigits = 32;

// The eight digits of a value below 10^8, the first one in the lowest byte, each 0..9. All at once, in the lanes of one
// register: writing digit after digit to memory and reading them back would stall.
inline std::uint64_t eight_digits(std::uint32_t value) {
  const std::uint64_t fours = (value / 10000) | (std::uint64_t{value % 10000} << 32);
  const std::uint64_t hundreds = ((fours * 10486) >> 20) & 0x0000007f0000007f;  // of each lane: x / 100 for x < 10^4
  const std::uint64_t pairs = hundreds | ((fours - 100 * hundreds) << 16);
  const std::uint64_t tens = ((pairs * 103) >> 10) & 0x000f000f000f000f;  // x / 10 for x < 100
  return tens | ((pairs - 10 * tens) << 8);
}
inline constexpr std::uint64_t kAsciiZeros = 0x3030303030303030;

// Eight digits, zeros in front included.
inline char* put_eight(char* out, std::uint32_t value) {
  const std::uint64_t digits = eight_digits(value) | kAsciiZeros;
  std::memcpy(out, &digits, 8);
  return out + 8;
}

// The four digits of a value below 10^4, as eight_digits.
inline std::uint32_t four_digits(std::uint32_t value) {
  const std::uint32_t hundreds = (value * 5243) >> 19;  // x / 100 for x < 10^4
  const std::uint32_t pairs = hundreds | ((value - 100 * hundreds) << 16);
  const std::uint32_t tens = ((pairs * 103) >> 10) & 0x000f000f;
  return tens | ((pairs - 10 * tens) << 8);
}

[[gnu::noinline]] inline char* put_long_number(char* out, std::uint64_t value) {
  if (value >= 100'000'000) {
    out = put_long_number(out, value / 100'000'000);
    return put_eight(out, static_cast<std::uint32_t>(value % 100'000'000));
  }
  const std::uint64_t digits = eight_digits(static_cast<std::uint32_t>(value));
  // The bits of zeros in front; the last digit stays, whatever it is.
  const int leading = std::countr_zero(digits | (std::uint64_t{1} << 56)) & ~7;
  const std::uint64_t text = (digits | kAsciiZeros) >> leading;
  std::memcpy(out, &text, 8);
  return out + 8 - leading / 8;
}

// Writes up to seven bytes beyond what it returns.
[[gnu::always_inline]] inline char* put_number(char* out, std::uint64_t value) {
  if (value < 10) {
    *out = static_cast<char>('0' + value);
    return out + 1;
  }
  if (value >= 10'000) return put_long_number(out, value);
  const std::uint32_t digits = four_digits(static_cast<std::uint32_t>(value));
  const int leading = std::countr_zero(digits) & ~7;
  const std::uint32_t text = (digits | static_cast<std::uint32_t>(kAsciiZeros)) >> leading;
  std::memcpy(out, &text, 4);
  return out + 4 - leading / 8;
}

inline char* put_word_list(char* out, std::uint64_t value) {
  if (value <= 0xffffffff) [[likely]]
    return put_number(out, value);
  out = put_number(out, value & 0xffffffff);
  *out++ = ',';
  return put_number(out, value >> 32);
}

// seconds.nnnnnnnnn; remembers the digits of the last second, since neighbours in a trace share it.
class TimeFormatter {
 public:
  char* put(char* out, std::uint64_t ns) {
    const std::uint64_t fraction = ns - second_start_;
    if (ns < second_start_ || fraction >= kNanosPerSecond) return put_new_second(out, ns);
    std::memcpy(out, text_.data(), text_.size());
    return put_fraction(out + length_, static_cast<std::uint32_t>(fraction));
  }

 private:
  static constexpr std::uint64_t kNanosPerSecond = 1'000'000'000;

  static char* put_fraction(char* out, std::uint32_t ns) {
    *out = static_cast<char>('0' + ns / 100'000'000);
    return put_eight(out + 1, ns % 100'000'000);
  }
  char* put_new_second(char* out, std::uint64_t ns) {
    const std::uint64_t second = ns / kNanosPerSecond;
    second_start_ = second * kNanosPerSecond;
    char* end = put_number(text_.data(), second);
    *end++ = '.';
    length_ = static_cast<std::size_t>(end - text_.data());
    return put(out, ns);
  }

  std::uint64_t second_start_ = 0;
  std::size_t length_ = 2;
  std::array<char, 16> text_{'0', '.'};  // up to 11 digits and the point
};

}  // namespace jtrace::trace
