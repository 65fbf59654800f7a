// HolderFields: the field by which the program holds an object: a field of the nearest object on the shortest path to
// it that is neither of the JDK nor an array, or of a class.
//
// Takes nearly constant time per object and 4 bytes per object of the graph. Ownership: borrows the graph and the
// paths. Threads: one at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "coreinspect/graph/shortest_paths.h"

namespace jtrace::coreinspect {

// Classes of the JDK (base/jdk_names.h), their arrays, and arrays of primitives.
bool is_class_of_the_jdk(std::string_view class_name);

class HolderFields {
 public:
  HolderFields(const ObjectGraph& graph, const ShortestPaths& paths);

  // The number of the object's field.
  std::uint32_t of(std::uint32_t object);
  // That by which this holder, which refers to it, holds it: its own, or the holder's.
  std::uint32_t through(std::uint32_t holder, std::uint32_t object);
  // "Shop$Order.city", "static Shop.CACHE"; "threads and other roots".
  std::string name(std::uint32_t field) const;
  static bool is_of_root(std::uint32_t field) { return field <= kRoots; }

 private:
  static constexpr std::uint32_t kUnknown = 0, kRoots = 1;
  struct Field {
    std::uint32_t subject = 0, edge = 0;  // class number; of a static field, the object of the class
    bool is_static = false;
    auto operator<=>(const Field&) const = default;
  };
  // True if the search ends at this object; `field` is then the number of its field that refers to the next object.
  bool ends_at(std::uint32_t holder, std::uint32_t object, std::uint32_t& field);

  const ObjectGraph& graph_;
  const ShortestPaths& paths_;
  std::vector<char> is_passed_;                          // by class number: of the JDK, or an array
  std::vector<std::uint32_t> known_;                     // by object
  std::vector<std::pair<Field, std::uint32_t>> fields_;  // and the object that has the edge
  std::map<Field, std::uint32_t> numbers_;
};

// Bytes by field.
class HolderSums {
 public:
  explicit HolderSums(HolderFields& fields) : fields_(fields) {}
  void add(std::uint32_t object, std::uint64_t bytes) { sums_[fields_.of(object)] += bytes; }
  // The field with the most bytes: its name and the bytes.
  std::pair<std::string, std::uint64_t> largest() const;

 private:
  HolderFields& fields_;
  std::map<std::uint32_t, std::uint64_t> sums_;
};

}  // namespace jtrace::coreinspect
