// A hash of bytes of a heap dump, for equal contents. Pure; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace jtrace::coreinspect {

inline std::uint64_t content_hash(std::span<const std::byte> bytes, std::uint64_t seed) {
  constexpr std::uint64_t kMultiplier = 0x9e37'79b9'7f4a'7c15;
  std::uint64_t hash = (seed + bytes.size()) * kMultiplier;
  for (std::size_t i = 0; i < bytes.size(); i += sizeof hash) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace jtrace::coreinspect
