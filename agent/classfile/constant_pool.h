// ConstantPool: constants appended to the pool of a class (JVMS 4.4). Existing indices do not change. Pure.
#pragma once

#include <string_view>

#include "agent/classfile/bytes.h"

namespace jtrace::agent::classfile {

class ConstantPool {
 public:
  // `count`: of the original pool (JVMS: the highest index plus 1).
  explicit ConstantPool(std::uint16_t count) : first_(count), count_(count) {}

  // The new constant's index; 0 if the pool is full (then it must not be used: full()).
  std::uint16_t utf8(std::string_view text) {
    put1(bytes_, 1);
    put2(bytes_, static_cast<unsigned>(text.size()));
    put_bytes(bytes_, text.data(), text.size());
    return added(1);
  }
  std::uint16_t integer(std::uint32_t value) {
    put1(bytes_, 3);
    put4(bytes_, value);
    return added(1);
  }
  std::uint16_t long_integer(std::uint64_t value) {
    put1(bytes_, 5);
    put4(bytes_, static_cast<std::uint32_t>(value >> 32));
    put4(bytes_, static_cast<std::uint32_t>(value));
    return added(2);
  }
  std::uint16_t klass(std::string_view name) { return pair(7, utf8(name)); }
  std::uint16_t field(std::uint16_t owner, std::string_view name, std::string_view descriptor) {
    return member(9, owner, name, descriptor);
  }
  std::uint16_t method(std::uint16_t owner, std::string_view name, std::string_view descriptor) {
    return member(10, owner, name, descriptor);
  }
  std::uint16_t interface_method(std::uint16_t owner, std::string_view name, std::string_view descriptor) {
    return member(11, owner, name, descriptor);
  }

  bool full() const { return full_; }
  std::uint16_t count() const { return static_cast<std::uint16_t>(count_); }
  std::uint16_t added_count() const { return static_cast<std::uint16_t>(count_ - first_); }
  const Bytes& bytes() const { return bytes_; }

 private:
  std::uint16_t pair(unsigned tag, std::uint16_t index) {
    put1(bytes_, tag);
    put2(bytes_, index);
    return added(1);
  }
  std::uint16_t member(unsigned tag, std::uint16_t owner, std::string_view name, std::string_view descriptor) {
    const std::uint16_t name_index = utf8(name);
    const std::uint16_t descriptor_index = utf8(descriptor);
    put1(bytes_, 12);
    put2(bytes_, name_index);
    put2(bytes_, descriptor_index);
    const std::uint16_t name_and_type = added(1);
    put1(bytes_, tag);
    put2(bytes_, owner);
    put2(bytes_, name_and_type);
    return added(1);
  }
  // The pool's count is a u2, so the highest index is 65534.
  std::uint16_t added(unsigned entries) {
    const std::uint32_t index = count_;
    count_ += entries;
    if (count_ > 0xffff) {
      full_ = true;
      count_ = 0xffff;
      return 0;
    }
    return static_cast<std::uint16_t>(index);
  }

  Bytes bytes_;
  std::uint32_t first_;
  std::uint32_t count_;
  bool full_ = false;
};

}  // namespace jtrace::agent::classfile
