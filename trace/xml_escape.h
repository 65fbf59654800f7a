// Escapes text for XML attributes and content, for the writer's hot path. The result is that of append_xml_escaped in
// base/strings.h, which is called as soon as there is anything to escape. Any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "trace/plain_bytes.h"

namespace jtrace::trace {

// An escaped text is at most this many times as long as the original.
inline constexpr std::size_t kEscapeGrowth = 6;

inline char* put_escaped_slowly(char* out, std::string_view text) {
  std::string escaped;
  append_xml_escaped(escaped, text);
  std::memcpy(out, escaped.data(), escaped.size());
  return out + escaped.size();
}

template <class Word>
Word load(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}
template <class Word>
void store(char* to, Word word) {
  std::memcpy(to, &word, sizeof word);
}

// Copies a text of less than 16 bytes, by two words that may overlap; false if something in it has to be escaped.
inline bool copy_plain_rest(char* out, const char* in, std::size_t size) {
  if (size >= 8) {
    const auto first = load<std::uint64_t>(in), last = load<std::uint64_t>(in + size - 8);
    store(out, first);
    store(out + size - 8, last);
    return is_plain(bytes16_of(first, last));
  }
  if (size >= 4) {
    const auto first = load<std::uint32_t>(in), last = load<std::uint32_t>(in + size - 4);
    store(out, first);
    store(out + size - 4, last);
    const std::uint64_t both = first | (std::uint64_t{last} << 32);
    return is_plain(bytes16_of(both));
  }
  for (std::size_t i = 0; i < size; ++i) {
    out[i] = in[i];
    if (!is_plain(bytes16_of(in[i]))) return false;
  }
  return true;
}

// Writes `text` at `out`, which has kEscapeGrowth times its size; returns the end.
inline char* put_escaped(char* out, std::string_view text) {
  const char* in = text.data();
  const std::size_t size = text.size();
  if (size < 16) return copy_plain_rest(out, in, size) ? out + size : put_escaped_slowly(out, text);
  for (std::size_t at = 0;; at = std::min(at + 16, size - 16)) {
    const Bytes16 bytes = load_bytes16(in + at);
    if (!is_plain(bytes)) return put_escaped_slowly(out, text);
    store_bytes16(out + at, bytes);
    if (at == size - 16) return out + size;
  }
}

}  // namespace jtrace::trace
