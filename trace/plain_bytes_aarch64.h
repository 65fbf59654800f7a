// Sixteen bytes that are looked at together, by NEON. The contract is in trace/plain_bytes.h.
#pragma once

#include <arm_neon.h>

#include <cstdint>

namespace jtrace::trace {

using Bytes16 = uint8x16_t;

inline Bytes16 load_bytes16(const char* from) { return vld1q_u8(reinterpret_cast<const std::uint8_t*>(from)); }
inline void store_bytes16(char* to, Bytes16 bytes) { vst1q_u8(reinterpret_cast<std::uint8_t*>(to), bytes); }
inline Bytes16 bytes16_of(std::uint64_t first, std::uint64_t last) {
  return vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(first), vcreate_u64(last)));
}
inline Bytes16 bytes16_of(std::uint64_t both) { return vreinterpretq_u8_u64(vdupq_n_u64(both)); }
inline Bytes16 bytes16_of(char each) { return vdupq_n_u8(static_cast<std::uint8_t>(each)); }

inline bool is_plain(Bytes16 bytes) {
  const auto equal = [&](char c) { return vceqq_u8(bytes, vdupq_n_u8(static_cast<std::uint8_t>(c))); };
  uint8x16_t special = vorrq_u8(vorrq_u8(equal('&'), equal('<')), vorrq_u8(equal('>'), equal('"')));
  // Signed comparison: bytes from 0x80 on are negative, so this finds them and the control characters.
  special = vorrq_u8(special, vcltq_s8(vreinterpretq_s8_u8(bytes), vdupq_n_s8(0x20)));
  return vmaxvq_u8(special) == 0;
}

}  // namespace jtrace::trace
