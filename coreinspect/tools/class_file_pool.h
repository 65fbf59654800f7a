// The constant pool of a class as in its class file (JVMS 4.4), from the VM's: the same indices, with resolved entries
// turned back. Entries that attributes need and that are missing are appended. A value. Threads: one at a time. Errors:
// those of the memory; kMalformed if it is not a constant pool.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "coreinspect/oops/class_model.h"

namespace jtrace::coreinspect {

// Bytes of a class file: numbers in big endian.
class ClassFileBytes {
 public:
  ClassFileBytes& u1(std::uint32_t value) { return number(value, 1); }
  ClassFileBytes& u2(std::uint32_t value) { return number(value, 2); }
  ClassFileBytes& u4(std::uint32_t value) { return number(value, 4); }
  ClassFileBytes& append(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }

 private:
  ClassFileBytes& number(std::uint32_t value, int size) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) bytes_ += static_cast<char>(value >> shift);
    return *this;
  }
  std::string bytes_;
};

class ClassFilePool {
 public:
  static Result<ClassFilePool> read(const ClassModel& classes, Address pool);

  // Indices; an entry is appended if there is none yet. Text and names are modified UTF-8, names internal.
  std::uint16_t utf8(std::string_view text);
  std::uint16_t class_entry(std::string_view name);
  bool is_utf8(std::uint32_t index) const;
  // Count and entries. kMalformed if there are more than a class file can have.
  Result<std::string> bytes() const;

 private:
  ClassFilePool() = default;
  // Adds one entry of the VM's pool; `raw`: its slot.
  Result<std::string> entry(const ClassModel& classes, Address pool, std::uint8_t tag, std::uint64_t raw);
  Result<std::uint16_t> class_name(const ClassModel& classes, Address pool, std::uint8_t tag, std::uint64_t raw);
  std::uint16_t add(std::string bytes);

  std::vector<std::string> entries_;  // by index; "" for none (0, and after longs and doubles)
  std::map<std::string, std::uint16_t, std::less<>> utf8_;
  std::map<std::uint16_t, std::uint16_t> classes_;  // index of the name -> of the class entry
};

}  // namespace jtrace::coreinspect
