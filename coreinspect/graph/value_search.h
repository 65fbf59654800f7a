// ValueSearch: the fields and elements of a heap dump that hold a value: a number, a truth value, a character, a text,
// or a constant of an enum.
//
// A field that refers to a String with that text, to a box with that number, or to an enum's constant of that name
// holds it too. Elements of arrays of primitives are not looked at. Ownership: borrows the graph. Time: one pass over
// all objects; a second one for fields that refer to a match. Threads: one at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "coreinspect/graph/object_fields.h"

namespace jtrace::coreinspect {

// What the words of a user may mean.
struct WantedValue {
  std::string text;                      // exactly; with * or ? a pattern
  std::optional<std::int64_t> whole;     // 42, -1
  std::optional<std::uint64_t> pattern;  // 0x2a: the bits of a number of any size
  std::optional<double> real;            // of a whole number too
  std::optional<bool> truth;             // true, false
  std::optional<char16_t> character;     // one character of the basic plane

  static WantedValue of(const std::string& words);
};

class ValueSearch {
 public:
  // A field by the class that declares it; kElements: elements of arrays of references of that class.
  struct Field {
    std::uint32_t declared = 0, number = 0;  // of the class; of the field in it
    bool is_static = false;
    auto operator<=>(const Field&) const = default;
  };
  static constexpr std::uint32_t kElements = 0xffff'ffff;
  static constexpr std::size_t kKept = 3;  // addresses of a field

  struct Hits {
    std::uint64_t count = 0;
    std::vector<std::uint64_t> objects;  // the first ones that have it, by address; of a static field none
  };

  ValueSearch(const ObjectGraph& graph, WantedValue wanted) : graph_(graph), fields_(graph), wanted_(wanted) {}

  // Of reachable objects whose class the filter chooses (base/name_pattern.h).
  std::map<Field, Hits> run(const std::string& class_filter);
  // "Shop$Order.number", "static Shop.LIMIT", "elements of java.lang.Object[]".
  std::string name(const Field& field) const;

 private:
  // How an object of a class may be a match itself.
  enum class Kind : std::uint8_t { kOther, kString, kBox, kConstant };
  struct Place {
    Field field;
    ObjectFields::Place at;
  };

  Kind kind_of(std::uint32_t class_number) const;
  bool is_match(std::uint32_t object, Kind kind) const;
  void find_matches();
  bool has(std::uint8_t type, std::uint64_t bits) const;
  const std::vector<Place>& places(std::uint32_t class_number);
  void look_into(std::uint32_t object, std::map<Field, Hits>& found);
  void look_into_statics(std::uint32_t class_number, std::map<Field, Hits>& found) const;

  const ObjectGraph& graph_;
  ObjectFields fields_;
  WantedValue wanted_;
  std::vector<Kind> kinds_;                                // by class number
  std::unordered_set<std::uint64_t> matches_;              // strings, boxes and constants, by address
  std::vector<std::optional<std::vector<Place>>> places_;  // by class number
};

}  // namespace jtrace::coreinspect
