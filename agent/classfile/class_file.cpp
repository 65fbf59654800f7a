#include "agent/classfile/class_file.h"

namespace jtrace::agent::classfile {
namespace {

// Number of bytes after the tag; a Utf8 constant has its own length.
int constant_size(std::uint8_t tag) {
  switch (tag) {
    case kTagInteger:
    case kTagFloat: return 4;
    case kTagLong:
    case kTagDouble: return 8;
    case kTagClass:
    case kTagString: return 2;
    case kTagFieldref:
    case kTagMethodref:
    case kTagInterfaceMethodref:
    case kTagNameAndType: return 4;
    case kTagMethodHandle: return 3;
    case kTagMethodType: return 2;
    case kTagDynamic:
    case kTagInvokeDynamic: return 4;
    case 19:            // Module
    case 20: return 2;  // Package
    default: return -1;
  }
}

}  // namespace

bool ClassFile::parse(ByteView bytes) {
  bytes_ = bytes;
  methods_.clear();
  if (bytes.size() > 0x7fffffff) return false;
  Reader reader(bytes);
  if (reader.u4() != 0xCAFEBABE) return false;
  reader.skip(2);
  major_ = reader.u2();
  if (!read_constants(reader)) return false;
  access_ = reader.u2();
  name_ = class_name(reader.u2());
  super_name_ = class_name(reader.u2());
  reader.skip(std::size_t{reader.u2()} * 2);  // interfaces
  if (!skip_fields(reader)) return false;
  return read_methods(reader) && !name_.empty();
}

bool ClassFile::read_constants(Reader& reader) {
  const std::uint16_t count = reader.u2();
  constants_.assign(count, 0);
  for (std::uint32_t i = 1; i < count && !reader.failed(); ++i) {
    constants_[i] = static_cast<std::uint32_t>(reader.position());
    const std::uint8_t tag = reader.u1();
    const int size = tag == kTagUtf8 ? reader.u2() : constant_size(tag);
    if (size < 0) return false;
    reader.skip(static_cast<std::size_t>(size));
    if (tag == kTagLong || tag == kTagDouble) ++i;
  }
  constants_end_ = reader.position();
  return count > 0 && !reader.failed();
}

Attribute ClassFile::read_attribute(Reader& reader) const {
  Attribute attribute;
  attribute.start = reader.position();
  attribute.name = utf8(reader.u2());
  attribute.size = reader.u4();
  attribute.data = reader.position();
  reader.skip(attribute.size);
  return reader.failed() ? Attribute() : attribute;  // a truncated attribute counts as none
}

bool ClassFile::skip_fields(Reader& reader) const {
  const std::uint16_t count = reader.u2();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    reader.skip(6);
    const std::uint16_t attributes = reader.u2();
    for (std::uint32_t k = 0; k < attributes && !reader.failed(); ++k) read_attribute(reader);
  }
  return !reader.failed();
}

bool ClassFile::read_methods(Reader& reader) {
  methods_start_ = reader.position();
  const std::uint16_t count = reader.u2();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    Method method;
    method.start = reader.position();
    method.access = reader.u2();
    method.name = utf8(reader.u2());
    method.descriptor = utf8(reader.u2());
    const std::uint16_t attributes = reader.u2();
    for (std::uint32_t k = 0; k < attributes && !reader.failed(); ++k) {
      const Attribute attribute = read_attribute(reader);
      if (attribute.name == "Code") {
        if (method.has_code()) return false;
        method.code = attribute;
      } else if (attribute.name == "Exceptions") {
        method.exceptions = attribute;
      }
    }
    method.end = reader.position();
    methods_.push_back(method);
  }
  methods_end_ = reader.position();
  return !reader.failed();
}

const std::uint8_t* ClassFile::constant(std::uint16_t index, ConstantTag tag) const {
  if (index >= constants_.size() || constants_[index] == 0 || bytes_[constants_[index]] != tag) return nullptr;
  return &bytes_[constants_[index]] + 1;
}

std::string_view ClassFile::utf8(std::uint16_t index) const {
  const std::uint8_t* p = constant(index, kTagUtf8);
  if (p == nullptr) return {};
  return {reinterpret_cast<const char*>(p + 2), u2_at(p)};
}

std::string_view ClassFile::class_name(std::uint16_t index) const {
  const std::uint8_t* p = constant(index, kTagClass);
  return p == nullptr ? std::string_view() : utf8(u2_at(p));
}

ClassFile::Reference ClassFile::method_reference(std::uint16_t index) const {
  const std::uint8_t kind = tag(index);
  return kind == kTagMethodref || kind == kTagInterfaceMethodref ? reference(index) : Reference();
}

ClassFile::Reference ClassFile::reference(std::uint16_t index) const {
  const std::uint8_t kind = tag(index);
  const bool has_owner = kind >= kTagFieldref && kind <= kTagInterfaceMethodref;
  if (!has_owner && kind != kTagDynamic && kind != kTagInvokeDynamic) return {};
  const std::uint8_t* p = &bytes_[constants_[index]] + 1;
  const std::uint8_t* pair = constant(u2_at(p + 2), kTagNameAndType);
  if (pair == nullptr) return {};
  return {has_owner ? class_name(u2_at(p)) : std::string_view(), utf8(u2_at(pair)), utf8(u2_at(pair + 2))};
}

}  // namespace jtrace::agent::classfile
