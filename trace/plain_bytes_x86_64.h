// Sixteen bytes that are looked at together, by SSE2. The contract is in trace/plain_bytes.h.
#pragma once

#include <emmintrin.h>

#include <cstdint>

namespace jtrace::trace {

using Bytes16 = __m128i;

inline Bytes16 load_bytes16(const char* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }
inline void store_bytes16(char* to, Bytes16 bytes) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes); }
inline Bytes16 bytes16_of(std::uint64_t first, std::uint64_t last) {
  return _mm_set_epi64x(static_cast<long long>(first), static_cast<long long>(last));
}
inline Bytes16 bytes16_of(std::uint64_t both) { return _mm_set1_epi64x(static_cast<long long>(both)); }
inline Bytes16 bytes16_of(char each) { return _mm_set1_epi8(each); }

inline bool is_plain(Bytes16 bytes) {
  const auto equal = [&](char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
  __m128i special = _mm_or_si128(_mm_or_si128(equal('&'), equal('<')), _mm_or_si128(equal('>'), equal('"')));
  // Signed comparison: bytes from 0x80 on are negative, so this finds them and the control characters.
  special = _mm_or_si128(special, _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)));
  return _mm_movemask_epi8(special) == 0;
}

}  // namespace jtrace::trace
