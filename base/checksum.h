// XXH64 (xxHash specification 0.1.1): a checksum against damage, not against intent. Some bytes per cycle. Header only,
// any thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace jtrace {
namespace xxh64_detail {

// The specification's primes.
inline constexpr std::uint64_t k1 = 0x9E3779B185EBCA87, k2 = 0xC2B2AE3D27D4EB4F, k3 = 0x165667B19E3779F9,
                               k4 = 0x85EBCA77C2B2AE63, k5 = 0x27D4EB2F165667C5;

template <class Word>
Word word_at(const std::byte* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}
constexpr std::uint64_t round(std::uint64_t lane, std::uint64_t word) { return std::rotl(lane + word * k2, 31) * k1; }
constexpr std::uint64_t merge(std::uint64_t sum, std::uint64_t lane) { return (sum ^ round(0, lane)) * k1 + k4; }

// Whole stripes of 32 bytes; `from` ends behind them.
inline std::uint64_t stripes(const std::byte*& from, std::size_t count, std::uint64_t seed) {
  std::uint64_t a = seed + k1 + k2, b = seed + k2, c = seed, d = seed - k1;
  for (; count > 0; --count, from += 32) {
    a = round(a, word_at<std::uint64_t>(from));
    b = round(b, word_at<std::uint64_t>(from + 8));
    c = round(c, word_at<std::uint64_t>(from + 16));
    d = round(d, word_at<std::uint64_t>(from + 24));
  }
  const std::uint64_t sum = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
  return merge(merge(merge(merge(sum, a), b), c), d);
}

}  // namespace xxh64_detail

inline std::uint64_t xxh64(std::span<const std::byte> bytes, std::uint64_t seed = 0) {
  using namespace xxh64_detail;
  static_assert(std::endian::native == std::endian::little);
  const std::byte* from = bytes.data();
  const std::byte* const end = from + bytes.size();
  std::uint64_t sum = bytes.size() >= 32 ? stripes(from, bytes.size() / 32, seed) : seed + k5;
  sum += bytes.size();
  for (; end - from >= 8; from += 8) sum = std::rotl(sum ^ round(0, word_at<std::uint64_t>(from)), 27) * k1 + k4;
  if (end - from >= 4) {
    sum = std::rotl(sum ^ word_at<std::uint32_t>(from) * k1, 23) * k2 + k3;
    from += 4;
  }
  for (; from < end; ++from) sum = std::rotl(sum ^ std::to_integer<std::uint64_t>(*from) * k5, 11) * k1;
  sum = (sum ^ (sum >> 33)) * k2;
  sum = (sum ^ (sum >> 29)) * k3;
  return sum ^ (sum >> 32);
}

}  // namespace jtrace
