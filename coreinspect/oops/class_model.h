// ClassModel: the classes of a VM: names, fields, methods, and the list of all loaded classes.
//
// Klass, InstanceKlass, ConstantPool, Symbol (instanceKlass.hpp, constantPool.hpp, symbol.hpp). Ownership: borrows the
// Vm; caches what it has read. Threads: one at a time. Errors: those of the memory, kMalformed for impossible
// structures, kNotFound for classes and fields that do not exist.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coreinspect/vm/vm.h"

namespace jtrace::coreinspect {

struct JavaField {
  std::string name;
  std::string signature;
  std::uint32_t access = 0;  // JVM_ACC_* (JVMS 4.5)
  std::uint64_t offset = 0;  // bytes from the start of the object; for a static field of the class's mirror
  bool injected = false;     // added by the VM; not in the class file
  // Indices into the constant pool of the class; 0: none (and for injected fields).
  std::uint16_t name_index = 0, signature_index = 0, initial_value = 0, generic_signature = 0;
  bool is_static() const { return (access & 0x0008) != 0; }
};

// "java/lang/String" as "java.lang.String", "[[I" as "int[][]", "[Ljava/lang/String;" as "java.lang.String[]".
std::string java_class_name(std::string_view internal);

class ClassModel {
 public:
  explicit ClassModel(const Vm& vm);

  const Vm& vm() const { return vm_; }
  // Clears the cache. For a running JVM, in which classes may be unloaded and others loaded at their addresses. No
  // reference into the cache may be kept.
  void forget() const {
    names_.clear();
    fields_.clear();
  }
  // Text of a Symbol, modified UTF-8 as the JVM has it.
  Result<std::string> symbol(Address symbol) const;
  Result<std::string> internal_name(Address klass) const;  // "java/lang/String", "[I"
  Result<std::string> name(Address klass) const;           // as Java prints it
  Result<Address> super(Address klass) const;              // 0 for java.lang.Object and interfaces
  Result<std::int32_t> layout_helper(Address klass) const;
  bool is_instance_class(Address klass) const;  // not an array class

  // The fields that the class itself declares, static ones included; injected ones last.
  Result<const std::vector<JavaField>*> fields(Address klass) const;
  // Searches the class and its superclasses.
  Result<JavaField> find_field(Address klass, std::string_view name) const;
  Result<std::vector<Address>> methods(Address klass) const;  // Method*
  Result<Address> constants(Address klass) const;             // ConstantPool*
  // The Symbol of a UTF8 entry of a constant pool.
  Result<std::string> constant_symbol(Address pool, std::uint32_t index) const;

  // All loaded classes, each once; with array classes if the VM lists them. `incomplete` is set if a list could not be
  // read to its end.
  Result<std::vector<Address>> all(bool* incomplete = nullptr) const;
  // All classes of that name (one for each loader). `name`: internal or Java form.
  Result<std::vector<Address>> find(std::string_view name) const;
  // The classes that a ClassLoaderData has defined, the last one first (JDK 9 and later), until `wanted` returns false.
  Result<> each_of_loader(Address loader_data, const std::function<bool(Address klass)>& wanted) const;
  // ClassLoaderData of a class.
  Result<Address> loader_data(Address klass) const;

  // The elements of an Array<T> (array.hpp); none for a null array. Array<u4> has the layout of Array<int>.
  template <class T>
  Result<std::vector<T>> array(Address array, std::string_view type) const {
    std::vector<T> elements;
    if (array == 0) return elements;
    JTRACE_ASSIGN_OR_RETURN(const auto length, array_length(array));
    JTRACE_ASSIGN_OR_RETURN(const Address data, array_data(array, type));
    elements.resize(length);
    JTRACE_RETURN_IF_ERROR(vm_.memory().read_exactly(data, std::as_writable_bytes(std::span(elements))));
    return elements;
  }
  // Length and first element of an Array<T> (array.hpp): checked against impossible lengths.
  Result<std::uint32_t> array_length(Address array) const;
  Result<Address> array_data(Address array, std::string_view type) const;

 private:
  std::string suffix_before_hidden_classes(Address klass, std::string_view internal) const;
  bool is_hidden_in_jdk8(Address klass, std::string_view internal) const;
  Result<std::vector<JavaField>> read_fields(Address klass) const;
  Result<std::vector<JavaField>> read_field_array(Address klass) const;  // JDK 8 to 17
  static void add_generic_signatures(const std::vector<std::uint16_t>& words, std::vector<JavaField>& fields);
  Result<std::vector<JavaField>> read_field_stream(Address klass) const;  // JDK 21 and later
  Result<std::string> injected_name(std::uint32_t index) const;
  Result<std::vector<Address>> all_by_loader_data(bool* incomplete) const;
  Result<std::vector<Address>> all_by_subclass_tree(bool* incomplete) const;

  const Vm& vm_;
  std::uint64_t pool_size_ = 0;     // sizeof(ConstantPool)
  std::uint64_t array_length_ = 0;  // offset of Array<T>::_length
  mutable std::unordered_map<Address, std::string> names_;
  mutable std::map<Address, std::vector<JavaField>> fields_;
  mutable Address some_class_ = 0;  // where JDK 8 begins to climb to java.lang.Object

 public:
  // Any class: JDK 8 has no list of loaders with their classes, so the superclasses are followed from here.
  void remember_class(Address klass) const {
    if (some_class_ == 0) some_class_ = klass;
  }
};

}  // namespace jtrace::coreinspect
