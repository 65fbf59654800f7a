// Hashes that represent names: 64 bits, so that no two names of a JVM are confused.
#pragma once

#include <cstdint>
#include <string_view>

namespace jtrace::agent {

// Hash of a method's name and descriptor, or of a class's name alone. Not 0.
inline std::uint64_t hash_of(std::string_view name, std::string_view descriptor = {}) {
  std::uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  for (const std::string_view text : {name, descriptor}) {
    for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3ull;
    hash = (hash ^ 0xff) * 0x100000001b3ull;
  }
  return hash != 0 ? hash : 1;
}

// Hash of a hash within a numbered scope. Not 0.
inline std::uint64_t hash_in(std::uint64_t number, std::uint64_t hash) {
  hash = (hash ^ number) * 0x9e3779b97f4a7c15ull;
  hash ^= hash >> 32;
  return hash != 0 ? hash : 1;
}

}  // namespace jtrace::agent
