// Big-endian bytes of class files (JVMS 4): a bounds-checked reader and an appending writer. Pure.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace jtrace::agent::classfile {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

inline std::uint16_t u2_at(const std::uint8_t* p) { return static_cast<std::uint16_t>(p[0] << 8 | p[1]); }
inline std::int32_t s4_at(const std::uint8_t* p) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(p[0]) << 24 | static_cast<std::uint32_t>(p[1]) << 16 |
                                   static_cast<std::uint32_t>(p[2]) << 8 | p[3]);
}

// Reads forward; reads past the end return 0 and set failed().
class Reader {
 public:
  explicit Reader(ByteView bytes, std::size_t at = 0) : bytes_(bytes), at_(at), failed_(at > bytes.size()) {}

  std::uint8_t u1() { return take(1) ? bytes_[at_ - 1] : std::uint8_t{0}; }
  std::uint16_t u2() { return take(2) ? u2_at(&bytes_[at_ - 2]) : std::uint16_t{0}; }
  std::uint32_t u4() { return take(4) ? static_cast<std::uint32_t>(s4_at(&bytes_[at_ - 4])) : 0u; }
  void skip(std::size_t count) { take(count); }
  std::size_t position() const { return at_; }
  std::size_t remaining() const { return bytes_.size() - at_; }
  bool failed() const { return failed_; }

 private:
  bool take(std::size_t count) {
    if (failed_ || bytes_.size() - at_ < count) {
      failed_ = true;
      return false;
    }
    at_ += count;
    return true;
  }

  ByteView bytes_;
  std::size_t at_;
  bool failed_;
};

inline void set2(Bytes& out, std::size_t at, unsigned value) {
  out[at] = static_cast<std::uint8_t>(value >> 8);
  out[at + 1] = static_cast<std::uint8_t>(value);
}
inline void set4(Bytes& out, std::size_t at, std::uint32_t value) {
  set2(out, at, value >> 16);
  set2(out, at + 2, value & 0xffff);
}
inline void put1(Bytes& out, unsigned value) { out.push_back(static_cast<std::uint8_t>(value)); }
inline void put2(Bytes& out, unsigned value) {
  out.resize(out.size() + 2);
  set2(out, out.size() - 2, value);
}
inline void put4(Bytes& out, std::uint32_t value) {
  out.resize(out.size() + 4);
  set4(out, out.size() - 4, value);
}
inline void put_bytes(Bytes& out, const void* from, std::size_t size) {
  if (size == 0) return;
  out.resize(out.size() + size);
  std::memcpy(out.data() + (out.size() - size), from, size);
}

}  // namespace jtrace::agent::classfile
