// ClassFile: a class file (JVMS 4), parsed as far as rewriting needs it: constant pool, names, methods and the places
// of their Code. Views into the bytes that were parsed, which must outlive it. Pure; no JVM.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "agent/classfile/bytes.h"

namespace jtrace::agent::classfile {

// JVMS 4.6
inline constexpr std::uint16_t kAccStatic = 0x0008;
inline constexpr std::uint16_t kAccSynchronized = 0x0020;
inline constexpr std::uint16_t kAccNative = 0x0100;
inline constexpr std::uint16_t kAccInterface = 0x0200;
inline constexpr std::uint16_t kAccAbstract = 0x0400;

// Tags of constants (JVMS 4.4)
enum ConstantTag : std::uint8_t {
  kTagUtf8 = 1,
  kTagInteger = 3,
  kTagFloat = 4,
  kTagLong = 5,
  kTagDouble = 6,
  kTagClass = 7,
  kTagString = 8,
  kTagFieldref = 9,
  kTagMethodref = 10,
  kTagInterfaceMethodref = 11,
  kTagNameAndType = 12,
  kTagMethodHandle = 15,
  kTagMethodType = 16,
  kTagDynamic = 17,
  kTagInvokeDynamic = 18,
};

struct Attribute {
  std::string_view name;
  std::size_t start = 0;  // of its name index
  std::size_t data = 0;   // after its length
  std::size_t size = 0;   // of its data
};

struct Method {
  std::uint16_t access = 0;
  std::string_view name;
  std::string_view descriptor;
  std::size_t start = 0;  // of its access flags
  std::size_t end = 0;
  Attribute code;        // start 0: none
  Attribute exceptions;  // start 0: none

  bool has_code() const { return code.start != 0; }
  bool is_constructor() const { return name == "<init>"; }
};

class ClassFile {
 public:
  // False if the bytes are not a class file that this code understands.
  bool parse(ByteView bytes);

  ByteView bytes() const { return bytes_; }
  std::uint16_t major() const { return major_; }
  std::uint16_t access() const { return access_; }
  bool is_interface() const { return (access_ & kAccInterface) != 0; }
  std::string_view name() const { return name_; }
  std::string_view super_name() const { return super_name_; }
  // The number of constants (the highest index plus 1); the end of the pool; the place of the methods' count; their
  // end.
  std::uint16_t constant_count() const { return static_cast<std::uint16_t>(constants_.size()); }
  std::size_t constants_end() const { return constants_end_; }
  std::size_t methods_start() const { return methods_start_; }
  std::size_t methods_end() const { return methods_end_; }
  const std::vector<Method>& methods() const { return methods_; }

  // "" if the constant at the index has another kind.
  std::string_view utf8(std::uint16_t index) const;
  std::string_view class_name(std::uint16_t index) const;
  struct Reference {
    std::string_view owner;
    std::string_view name;
    std::string_view descriptor;
  };
  Reference method_reference(std::uint16_t index) const;
  // Any constant with a name and a descriptor: fields, methods, dynamic ones (which have no owner).
  Reference reference(std::uint16_t index) const;
  // The constant's tag (JVMS 4.4); 0: there is none.
  std::uint8_t tag(std::uint16_t index) const {
    return index >= constants_.size() || constants_[index] == 0 ? std::uint8_t{0} : bytes_[constants_[index]];
  }
  // The attribute that starts at the reader's position; the reader is moved past it.
  Attribute read_attribute(Reader& reader) const;

 private:
  bool read_constants(Reader& reader);
  bool skip_fields(Reader& reader) const;
  bool read_methods(Reader& reader);
  const std::uint8_t* constant(std::uint16_t index, ConstantTag tag) const;

  ByteView bytes_;
  std::uint16_t major_ = 0;
  std::uint16_t access_ = 0;
  std::string_view name_;
  std::string_view super_name_;
  std::vector<std::uint32_t> constants_;  // offset of the tag, 0: no constant
  std::size_t constants_end_ = 0;
  std::size_t methods_start_ = 0;
  std::size_t methods_end_ = 0;
  std::vector<Method> methods_;
};

}  // namespace jtrace::agent::classfile
