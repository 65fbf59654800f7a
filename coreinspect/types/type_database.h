// TypeDatabase: the description of itself in libjvm.so, that is the vmStructs tables, read through a MemoryReader.
//
// Source: vmStructs.hpp/.cpp (HotSpot, JDK 8 to 27): four exported tables and the exported layout of their entries.
// Every lookup is optional, because tables differ by version, processor and build. Ownership: a value that owns its
// strings. Threads: const functions from any thread. Errors: those of the memory; kMalformed if a table is invalid.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "target/memory_reader.h"

namespace jtrace::coreinspect {

using target::Address;

struct TypeField {
  std::string type;         // the C++ class
  std::string name;         // "_length", "_metadata._klass"
  std::string type_string;  // the field's own type; "" if the table has none
  bool is_static = false;
  std::uint64_t offset = 0;  // bytes from the object, of an instance field
  Address address = 0;       // of the variable, of a static field
};

struct VmType {
  std::string name;
  std::string super;  // "" if none
  bool is_oop = false, is_integer = false, is_unsigned = false;
  std::uint64_t size = 0;  // bytes
};

class TypeDatabase {
 public:
  // The address of an exported variable of libjvm.so.
  using FindExported = std::function<Result<Address>(std::string_view)>;
  static Result<TypeDatabase> read(const target::MemoryReader& memory, const FindExported& find);

  const TypeField* field(std::string_view type, std::string_view name) const;
  // Offset of an instance field; nothing if there is no such field.
  std::optional<std::uint64_t> offset(std::string_view type, std::string_view name) const;
  // The first of several types that has the field, because types were renamed and fields moved between superclasses.
  std::optional<std::uint64_t> offset(std::initializer_list<std::string_view> types, std::string_view name) const;
  // Address of a static variable.
  std::optional<Address> variable(std::string_view type, std::string_view name) const;
  std::optional<std::uint64_t> size_of(std::string_view type) const;
  std::optional<std::int64_t> constant(std::string_view name) const;  // int or long
  bool has(std::string_view type, std::string_view name) const { return field(type, name) != nullptr; }

  // In the order of the tables.
  const std::vector<TypeField>& fields() const { return fields_; }
  const std::vector<VmType>& types() const { return types_; }
  const std::vector<std::pair<std::string, std::int64_t>>& int_constants() const { return int_constants_; }
  const std::vector<std::pair<std::string, std::int64_t>>& long_constants() const { return long_constants_; }

 private:
  friend class TypeTableReader;
  void index();

  std::vector<TypeField> fields_;
  std::vector<VmType> types_;
  std::vector<std::pair<std::string, std::int64_t>> int_constants_, long_constants_;
  std::map<std::string, std::size_t, std::less<>> field_index_, type_index_;
  std::map<std::string, std::int64_t, std::less<>> constant_index_;
};

}  // namespace jtrace::coreinspect
