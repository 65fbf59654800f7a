// Decimal digits for the writers' hot path: each function writes at `out` and returns the end. The caller provides
// kMaxDigits bytes. Header only. Any thread (TimeFormatter, CountFormatter: one).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "trace/values.h"

namespace jtrace::trace {

static_assert(std::endian::native == std::endian::little);
// The longest number is a word list of 21 characters; a function may write a few bytes more than it uses.
inline constexpr std::size_t kMaxDigits = 32;

namespace detail {
// The numbers below 1000: either as three digits each (the first one in the lowest byte), or without leading zeros and
// with their length in the highest byte. Tables of 4 KB each, so that three digits take a few instructions instead of
// five for each digit.
consteval std::array<std::uint32_t, 1000> three_digits() {
  std::array<std::uint32_t, 1000> texts{};
  for (std::uint32_t i = 0; i < 1000; ++i) texts[i] = ('0' + i / 100) | ('0' + i / 10 % 10) << 8 | ('0' + i % 10) << 16;
  return texts;
}
consteval std::array<std::uint32_t, 1000> up_to_three_digits() {
  std::array<std::uint32_t, 1000> texts = three_digits();
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::uint32_t length = i < 10 ? 1 : i < 100 ? 2 : 3;
    texts[i] = texts[i] >> (8 * (3 - length)) | length << 24;
  }
  return texts;
}
inline constexpr std::array<std::uint32_t, 1000> kThreeDigits = three_digits();
inline constexpr std::array<std::uint32_t, 1000> kUpToThreeDigits = up_to_three_digits();
}  // namespace detail

// Writes a value below 1000 as three digits. Also writes one byte after the returned end.
[[gnu::always_inline]] inline char* put_three(char* out, std::uint32_t value) {
  std::memcpy(out, &detail::kThreeDigits[value], 4);
  return out + 3;
}
[[gnu::always_inline]] inline char* put_up_to_three(char* out, std::uint32_t value) {
  const std::uint32_t text = detail::kUpToThreeDigits[value];
  std::memcpy(out, &text, 4);
  return out + (text >> 24);
}
// Writes a value below 10^9 as nine digits, with leading zeros.
inline char* put_nine(char* out, std::uint32_t value) {
  out = put_three(put_three(out, value / 1'000'000), value / 1000 % 1000);
  return put_three(out, value % 1000);
}

// Writes a number of 10^6 or more.
[[gnu::noinline]] inline char* put_long_number(char* out, std::uint64_t value) {
  if (value >= 1'000'000'000) {
    const std::uint64_t billions = value / 1'000'000'000;
    out = billions < 1000 ? put_up_to_three(out, static_cast<std::uint32_t>(billions)) : put_long_number(out, billions);
    return put_nine(out, static_cast<std::uint32_t>(value % 1'000'000'000));
  }
  const auto low = static_cast<std::uint32_t>(value);
  if (low < 1'000'000) return put_three(put_up_to_three(out, low / 1000), low % 1000);
  out = put_up_to_three(out, low / 1'000'000);
  return put_three(put_three(out, low / 1000 % 1000), low % 1000);
}

[[gnu::always_inline]] inline char* put_number(char* out, std::uint64_t value) {
  if (value < 1000) return put_up_to_three(out, static_cast<std::uint32_t>(value));
  if (value >= 1'000'000) return put_long_number(out, value);
  const auto low = static_cast<std::uint32_t>(value);
  return put_three(put_up_to_three(out, low / 1000), low % 1000);
}

[[gnu::always_inline]] inline char* put_word_list(char* out, std::uint64_t value) {
  if (value <= 0xffffffff) [[likely]]
    return put_number(out, value);
  out = put_number(out, value & 0xffffffff);
  *out++ = ',';
  return put_number(out, value >> 32);
}

// Writes a number that usually is the previous one plus 1: a counter. All digits but the last stay the same for ten of
// them, so text_ is not changed then: copying bytes that were just stored would have to wait for the store.
class CountFormatter {
 public:
  [[gnu::always_inline]] char* put(char* out, std::uint64_t value) {
    if (value != value_ + 1 || digit_ == '9') [[unlikely]]
      return put_anew(out, value);
    value_ = value;
    std::memcpy(out, text_.data(), kSize);
    out[length_ - 1] = ++digit_;
    return out + length_;
  }
  // As put_word_list().
  [[gnu::always_inline]] char* put_list(char* out, std::uint64_t value) {
    return value <= 0xffffffff ? put(out, value) : put_word_list(out, value);
  }

 private:
  static constexpr std::size_t kSize = 20;  // digits of the largest number

  [[gnu::noinline]] char* put_anew(char* out, std::uint64_t value) {
    length_ = static_cast<std::size_t>(put_number(text_.data(), value) - text_.data());
    value_ = value;
    digit_ = text_[length_ - 1];
    std::memcpy(out, text_.data(), kSize);
    return out + length_;
  }

  std::uint64_t value_ = 0;
  char digit_ = '9';  // the last digit
  std::size_t length_ = 1;
  std::array<char, kMaxDigits> text_{};
};

// Writes seconds.nnnnnnnnn. Keeps the digits of the last time and of its second, because neighbours in a trace share
// them.
class TimeFormatter {
 public:
  [[gnu::always_inline]] char* put(char* out, std::uint64_t ns) {
    const std::uint64_t fraction = ns - second_start_;
    if (ns < second_start_ || fraction >= kNanosPerSecond) [[unlikely]]
      return put_new_second(out, ns);
    std::memcpy(out, text_.data(), text_.size());
    if (ns != last_) {
      last_ = ns;
      set_digits(static_cast<std::uint32_t>(fraction));
    }
    out += length_;
    std::memcpy(out, &digits_, sizeof digits_);
    out[8] = last_digit_;
    return out + 9;
  }

 private:
  static constexpr std::uint64_t kNanosPerSecond = 1'000'000'000;

  [[gnu::noinline]] char* put_new_second(char* out, std::uint64_t ns) {
    const std::uint64_t second = ns / kNanosPerSecond;
    second_start_ = second * kNanosPerSecond;
    char* end = put_number(text_.data(), second);
    *end++ = '.';
    length_ = static_cast<std::size_t>(end - text_.data());
    return put(out, ns);
  }

  // Kept as words, not in memory: reading memory that was just written would wait for the store.
  void set_digits(std::uint32_t fraction) {
    const std::uint64_t last = detail::kThreeDigits[fraction % 1000];
    digits_ = detail::kThreeDigits[fraction / 1'000'000] |
              std::uint64_t{detail::kThreeDigits[fraction / 1000 % 1000]} << 24 | last << 48;
    last_digit_ = static_cast<char>(last >> 16);
  }

  std::uint64_t last_ = ~std::uint64_t{0};
  std::uint64_t digits_ = 0;  // the first eight of its fraction
  char last_digit_ = '0';
  std::uint64_t second_start_ = 0;
  std::size_t length_ = 2;
  std::array<char, 16> text_{'0', '.'};  // up to 11 digits and the point
};

}  // namespace jtrace::trace
