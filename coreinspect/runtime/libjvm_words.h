// The words of libjvm's variables: for what no table exports and no symbol names. Threads: any.
#pragma once

#include <span>
#include <vector>

#include "target/target.h"

namespace jtrace::coreinspect {

// Its initialised data, and what follows without a file (.bss).
inline std::vector<const target::Mapping*> data_of_libjvm(const target::Target& target) {
  constexpr std::uint64_t kMostData = 16u << 20;
  std::vector<const target::Mapping*> parts;
  const target::Address end = target.libjvm().end();
  for (const target::Mapping& each : target.mappings())
    if (each.writable && each.start >= target.libjvm().base() && each.start < end && each.size() <= kMostData)
      parts.push_back(&each);
  return parts;
}

// Calls `take(address, word)` for each word that is not 0 until it returns true.
template <class Take>
bool any_word(const target::Target& target, const Take& take) {
  using target::Address;
  for (const target::Mapping* part : data_of_libjvm(target)) {
    std::vector<Address> words(part->size() / sizeof(Address));
    if (!target.memory().read_exactly(part->start, std::as_writable_bytes(std::span(words)))) continue;
    for (std::size_t i = 0; i < words.size(); ++i)
      if (words[i] != 0 && take(part->start + i * sizeof(Address), words[i])) return true;
  }
  return false;
}

inline bool in_libjvm(const target::Target& target, target::Address at) {
  return at >= target.libjvm().base() && at < target.libjvm().end();
}

}  // namespace jtrace::coreinspect
