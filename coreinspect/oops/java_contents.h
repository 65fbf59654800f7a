// JavaContents: what objects of the JDK's classes hold: elements of collections, entries of maps, the values of boxes,
// builders, dates and the like.
//
// By the fields of the classes of JDK 8 to 27; only objects of exactly these classes, because a subclass may iterate in
// its own way. Where the objects are read from is the business of an ObjectReader. Ownership: borrows the reader.
// Threads: one at a time. Source of the field names: the JDK's sources.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "target/memory_reader.h"

namespace jtrace::coreinspect {

using target::Address;

// Objects by their addresses, as memory or a heap dump has them. Nothing is returned where a part is missing.
class ObjectReader {
 public:
  virtual ~ObjectReader() = default;

  virtual std::string class_of(Address object) = 0;  // "java.lang.String", "char[]"; "" if there is no object
  // The value of a field in the low bytes; of a reference the address, 0 for null.
  virtual std::optional<std::uint64_t> bits(Address object, std::string_view field) = 0;
  virtual std::optional<std::uint64_t> static_bits(std::string_view class_name, std::string_view field) = 0;
  virtual std::optional<std::uint32_t> length(Address array) = 0;
  virtual std::optional<Address> element(Address array, std::uint32_t index) = 0;  // of an array of references
  // The first `count` characters of a char[], or of a byte[] in one of the two codings of String, as UTF-8.
  virtual std::optional<std::string> characters(Address array, std::size_t count, bool is_utf16) = 0;

  Address reference(Address object, std::string_view field) { return bits(object, field).value_or(0); }
  template <class T>
  T number(Address object, std::string_view field) {
    const std::uint64_t value = bits(object, field).value_or(0);
    if constexpr (std::is_same_v<T, double>) return std::bit_cast<double>(value);
    else if constexpr (std::is_same_v<T, float>) return std::bit_cast<float>(static_cast<std::uint32_t>(value));
    else return static_cast<T>(value);
  }
};

class JavaContents {
 public:
  explicit JavaContents(ObjectReader& reader) : reader_(reader) {}

  // Elements of a list or set, in the order of its iterator, until `take` returns false; false if the class is not
  // known.
  bool each_element(Address collection, const std::function<bool(Address)>& take);
  // Keys and values of a map.
  bool each_entry(Address map, const std::function<bool(Address key, Address value)>& take);
  // Of a collection or map.
  std::optional<std::size_t> size(Address object);
  // What toString() of the class `holder`, which is the object's or one of its superclasses, returns: boxes, atomics,
  // builders, dates and times without a zone, UUIDs.
  std::optional<std::string> value(Address object, std::string_view holder);

 private:
  bool each_of_array(Address array, std::size_t first, std::size_t count, const std::function<bool(Address)>& take);
  bool each_of_hashed(Address object, bool pairs, const std::function<bool(Address, Address)>& take);
  bool each_of_tree(Address node, int depth, const std::function<bool(Address, Address)>& take);
  bool each_of_deque(Address object, const std::function<bool(Address)>& take);
  std::optional<bool> is_second_first();
  bool each_of_two(Address object, bool in_order, const std::function<bool(Address)>& take);
  bool each_of_linked(Address first, const std::function<bool(Address)>& take);
  bool each_of_ring(Address object, const std::function<bool(Address)>& take);
  bool each_of_enums(Address object, const std::function<bool(Address, Address)>& take);
  bool each_of_table(Address object, const std::string& name, const std::function<bool(Address, Address)>& take);
  bool each_of_chain(Address node, std::string_view next, std::string_view value,
                     const std::function<bool(Address, Address)>& take);
  std::optional<std::string> number_of(Address object, std::string_view holder);
  std::optional<std::string> builder(Address object);
  std::optional<std::string> time(Address object, std::string_view holder);
  template <class T>
  T number(Address object, std::string_view field) {
    return reader_.number<T>(object, field);
  }
  Address reference(Address object, std::string_view field) { return reader_.reference(object, field); }
  std::size_t count(Address object, std::string_view field);

  ObjectReader& reader_;
};

}  // namespace jtrace::coreinspect
