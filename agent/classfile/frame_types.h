// FrameTypes: the verification types (JVMS 4.10.1.2) in the methods of one class, and their merging. Pure except for
// the hierarchy that it asks; one thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "agent/classfile/class_file.h"
#include "agent/classfile/class_hierarchy.h"
#include "agent/classfile/constant_pool.h"

namespace jtrace::agent::classfile {

// The contents of a local variable or of a place on the operand stack: a TypeTag and, above it, the class (a number of
// FrameTypes) or the `new` (its pc).
using Type = std::uint32_t;

// Up to kUninitialized the numbers of verification_type_info (JVMS 4.7.4).
enum TypeTag : Type {
  kTypeTop = 0,
  kTypeInt = 1,
  kTypeFloat = 2,
  kTypeDouble = 3,
  kTypeLong = 4,
  kTypeNull = 5,
  kTypeUninitializedThis = 6,
  kTypeObject = 7,
  kTypeUninitialized = 8,
  kTypeSecond = 9,  // the second place of a long or a double
};
inline TypeTag tag_of(Type type) { return static_cast<TypeTag>(type & 0xff); }
inline std::uint32_t payload_of(Type type) { return type >> 8; }
inline Type uninitialized_at(std::uint32_t pc) { return kTypeUninitialized | pc << 8; }
inline bool is_reference(Type type) { return tag_of(type) >= kTypeNull && tag_of(type) <= kTypeUninitialized; }
inline bool is_wide_type(Type type) { return type == kTypeLong || type == kTypeDouble; }

class FrameTypes {
 public:
  FrameTypes(const ClassFile& klass, ClassHierarchy& hierarchy, ConstantPool& pool);

  Type this_class() const { return this_class_; }
  // By internal name; arrays by their descriptor.
  Type object(std::string_view name);
  // The type of a Class constant; kTypeTop if the index is not one.
  Type of_class(std::uint16_t index) const { return index < of_class_.size() ? of_class_[index] : kTypeTop; }
  // The type of the field descriptor at the start of `text`, which is removed from it. kTypeTop: malformed, or V.
  Type of_descriptor(std::string_view& text);
  // The type of an array of the class that a Class constant names; kTypeTop if it names none.
  Type array_of_class(std::uint16_t index);
  // The type that aaload loads from the array: null for null, kTypeTop if it is not an array of references.
  Type element_of(Type array);
  // A type for values of either type (JVMS 4.10.2.2): for classes the nearest common superclass. Interfaces count as
  // java/lang/Object, with which the verifier allows every call of an interface.
  Type merge(Type a, Type b);
  // Index of the Class constant of an object type; added if the class has none.
  std::uint16_t constant_of(Type type);
  // Number of merges in which a class could not be found.
  std::uint32_t guesses() const { return guesses_; }

 private:
  struct Class {
    Bytes name;
    std::uint16_t constant = 0;
    bool asked = false;
    bool is_known = false;
    bool is_interface = false;
    std::uint32_t super = 0;  // number plus 1, 0: none
  };

  std::string_view name_of(std::uint32_t number) const {
    const Bytes& name = classes_[number].name;
    return {reinterpret_cast<const char*>(name.data()), name.size()};
  }
  std::uint32_t number_of(std::string_view name);
  void grow_buckets();
  Class& ask(std::uint32_t number);
  void ancestors(std::uint32_t number, std::vector<std::uint32_t>& out);
  Type merge_classes(std::uint32_t a, std::uint32_t b);
  Type merge_arrays(std::string_view a, std::string_view b);

  const ClassFile& klass_;
  ClassHierarchy& hierarchy_;
  ConstantPool& pool_;
  std::vector<Class> classes_;
  std::vector<std::uint32_t> buckets_;  // by hash of the name: number plus 1
  std::vector<Type> of_class_;          // by index of the Class constant
  std::vector<std::uint32_t> chain_a_, chain_b_;
  Type object_ = kTypeTop;
  Type this_class_ = kTypeTop;
  std::uint32_t guesses_ = 0;
};

}  // namespace jtrace::agent::classfile
