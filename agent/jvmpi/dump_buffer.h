// DumpBuffer: the bytes of a dump. Numbers have the most significant byte first; ids are as in memory, as the JVMs with
// JVMPI wrote them and hprof read them.
#pragma once

#include <endian.h>

#include "agent/byte_buffer.h"
#include "agent/jvmpi/jvmpi.h"

namespace jtrace::agent::jvmpi {

class DumpBuffer {
 public:
  void u1(jint value) { bytes_.put(static_cast<std::uint8_t>(value)); }
  void u2(std::size_t value) { bytes_.put(htobe16(static_cast<std::uint16_t>(value))); }
  void u4(std::size_t value) { bytes_.put(htobe32(static_cast<std::uint32_t>(value))); }
  void id(const void* value) { bytes_.put(value); }
  // Appends a value of JVM TI, in as many bytes as its type has.
  void value(jvalue value, char type);
  void zeros(std::size_t count) {
    for (; count > 0; --count) bytes_.put(std::uint8_t{0});
  }
  void patch_u4(std::size_t at, std::size_t value) { bytes_.overwrite(at, htobe32(static_cast<std::uint32_t>(value))); }
  void patch_id(std::size_t at, const void* value) { bytes_.overwrite(at, value); }
  void patch_value(std::size_t at, jvalue value, char type);
  void append(const DumpBuffer& other) { bytes_.put_bytes(other.bytes_.data(), other.size()); }
  void clear() { bytes_.clear(); }

  std::size_t size() const { return bytes_.size(); }
  // Must not be written to; JVMPI's type is not const.
  char* begin() const { return reinterpret_cast<char*>(const_cast<unsigned char*>(bytes_.data())); }
  char* end() const { return begin() + bytes_.size(); }

 private:
  ByteBuffer bytes_;
};

// The number of bytes, in a dump, of a value of the type with which a signature begins.
inline std::uint32_t size_of_value(char type) {
  switch (type) {
    case 'Z':
    case 'B': return 1;
    case 'C':
    case 'S': return 2;
    case 'I':
    case 'F': return 4;
    case 'J':
    case 'D': return 8;
    default: return sizeof(void*);
  }
}

inline void DumpBuffer::patch_value(std::size_t at, jvalue value, char type) {
  switch (size_of_value(type)) {
    case 1: bytes_.overwrite(at, value.b); break;
    case 2: bytes_.overwrite(at, htobe16(value.c)); break;
    case 4: bytes_.overwrite(at, htobe32(static_cast<std::uint32_t>(value.i))); break;
    default: bytes_.overwrite(at, htobe64(static_cast<std::uint64_t>(value.j)));
  }
}

inline void DumpBuffer::value(jvalue value, char type) {
  const std::size_t at = size();
  zeros(size_of_value(type));
  patch_value(at, value, type);
}

}  // namespace jtrace::agent::jvmpi
