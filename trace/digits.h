// Decimal digits for the writers' hot path: each function writes at `out` and returns the end. The caller has made
// room: kMaxDigits bytes, whatever it is. Header only. Any thread (TimeFormatter, CountFormatter: one).
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

// A number that mostly is the last one plus 1: a count. Its digits but the last stay for ten of them: what was just
// stored would have to be waited for.
class CountFormatter {
 public:
  char* put(char* out, std::uint64_t value) {
    if (value != value_ + 1 || digit_ == '9') [[unlikely]]
      return put_anew(out, value);
    value_ = value;
    std::memcpy(out, text_.data(), kSize);
    out[length_ - 1] = ++digit_;
    return out + length_;
  }
  // As put_word_list().
  char* put_list(char* out, std::uint64_t value) {
    return value <= 0xffffffff ? put(out, value) : put_word_list(out, value);
  }

 private:
  static constexpr std::size_t kSize = 20;  // digits of the largest number

  char* put_anew(char* out, std::uint64_t value) {
    length_ = static_cast<std::size_t>(put_number(text_.data(), value) - text_.data());
    value_ = value;
    digit_ = text_[length_ - 1];
    std::memcpy(out, text_.data(), kSize);
    return out + length_;
  }

  std::uint64_t value_ = 0;
  char digit_ = '9';  // the last one
  std::size_t length_ = 1;
  std::array<char, kMaxDigits> text_{};
};

// seconds.nnnnnnnnn; remembers the digits of the last time and of its second, since neighbours in a trace share them.
class TimeFormatter {
 public:
  char* put(char* out, std::uint64_t ns) {
    const std::uint64_t fraction = ns - second_start_;
    if (ns < second_start_ || fraction >= kNanosPerSecond) return put_new_second(out, ns);
    std::memcpy(out, text_.data(), text_.size());
    if (ns != last_) {
      last_ = ns;
      first_digit_ = static_cast<char>('0' + fraction / 100'000'000);
      digits_ = eight_digits(static_cast<std::uint32_t>(fraction % 100'000'000)) | kAsciiZeros;
    }
    out += length_;
    *out = first_digit_;
    std::memcpy(out + 1, &digits_, sizeof digits_);
    return out + 1 + sizeof digits_;
  }

 private:
  static constexpr std::uint64_t kNanosPerSecond = 1'000'000'000;

  char* put_new_second(char* out, std::uint64_t ns) {
    const std::uint64_t second = ns / kNanosPerSecond;
    second_start_ = second * kNanosPerSecond;
    char* end = put_number(text_.data(), second);
    *end++ = '.';
    length_ = static_cast<std::size_t>(end - text_.data());
    return put(out, ns);
  }

  std::uint64_t last_ = 0;
  char first_digit_ = '0';  // of its fraction
  std::uint64_t digits_ = kAsciiZeros;
  std::uint64_t second_start_ = 0;
  std::size_t length_ = 2;
  std::array<char, 16> text_{'0', '.'};  // up to 11 digits and the point
};

}  // namespace jtrace::trace
