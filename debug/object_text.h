// ObjectText: what toString would return, for the classes of the JDK whose toString only reads: strings, boxes, enums,
// builders, atomics, collections and maps with their entries, Optional, records, dates, threads, classes.
//
// Of any other object the class, the identity hash if it has one, and the words "not run". Long texts and deep nesting
// end in "...". Borrows the world. Threads: one at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "debug/world.h"

namespace jtrace::debug {

class ObjectText {
 public:
  explicit ObjectText(World& world) : world_(world), objects_(world.inspection().objects()) {}

  std::string text(Address object) { return text(object, 0); }  // "null" for null
  // Elements of a list or set, in the order of its iterator, until `take` returns false; false if the class is not
  // known.
  bool each_element(Address collection, const std::function<bool(Address)>& take);
  // Keys and values of a map.
  bool each_entry(Address map, const std::function<bool(Address key, Address value)>& take);
  // Number of elements or entries; nothing if the class is not known.
  std::optional<std::size_t> size(Address collection);

 private:
  std::string text(Address object, int depth);
  std::optional<std::string> known_text(Address object, const LoadedClass& type, const std::string& holder, int depth);
  std::optional<std::string> of_number(Address object, const std::string& holder);
  std::optional<std::string> of_builder(Address object);
  std::optional<std::string> of_time(Address object, const std::string& holder);
  std::optional<std::string> of_thread(Address object);
  std::optional<std::string> of_record(Address object, const LoadedClass& type, int depth);
  std::optional<std::string> of_collection(Address object, int depth);
  std::optional<std::string> of_map(Address object, int depth);
  std::string of_field(Address object, const coreinspect::JavaField& field, int depth);
  std::string identity(Address object, const LoadedClass& type);
  std::string not_run(Address object, const LoadedClass& type);
  bool each_of_array(Address array, std::size_t first, std::size_t count, const std::function<bool(Address)>& take);
  bool each_of_hashed(Address object, bool pairs, const std::function<bool(Address, Address)>& take);
  bool each_of_tree(Address node, int depth, const std::function<bool(Address, Address)>& take);
  std::string class_of(Address object);
  Address reference(Address object, std::string_view field) {
    return objects_.reference(object, field).value_or(Address{0});
  }
  template <class T>
  T number(Address object, std::string_view field) {
    return objects_.value<T>(object, field).value_or(T{});
  }

  World& world_;
  const coreinspect::ObjectModel& objects_;
  std::size_t left_ = 16384;  // texts of objects that one answer may have
};

// The identity hash in a mark word; 0 if there is none.
std::uint32_t identity_hash(const coreinspect::Inspection& inspection, Address object);

}  // namespace jtrace::debug
