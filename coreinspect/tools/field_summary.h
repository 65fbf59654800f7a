// What the fields of many objects of a class hold, field by field: the smallest and the largest number, how many have
// each value, the sizes of collections and arrays, how many are null.
//
// Of fields that a class of the JDK declares there is nothing, nor of garbage, nor of a static field. A dump does not
// have the types of reference fields: what they refer to tells. Numbers and sizes are of all objects; different values
// are counted up to ValueCounts::kMost, and dates and the like are read of so many objects. Time: one pass over the
// objects. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "coreinspect/graph/object_graph.h"

namespace jtrace::coreinspect {

// kValue: truth values, characters, constants of enums, dates and the like. kReference: other objects, or only null.
enum class FieldKind : std::uint8_t { kNumber, kValue, kText, kCollection, kArray, kReference, kMixed };
std::string_view to_string(FieldKind kind);

struct FieldSummary {
  struct Value {
    std::string text;  // texts in quotation marks
    std::uint64_t count = 0;
    std::uint64_t at = 0;  // the address of an object that has it
  };
  struct Type {
    std::string name;
    std::uint64_t count = 0;
  };
  static constexpr std::size_t kShown = 8;  // values

  std::string name, declared_by;
  FieldKind kind = FieldKind::kReference;
  std::uint64_t objects = 0;  // that have the field
  std::uint64_t nulls = 0;
  std::uint64_t read = 0;  // those of which a value was read, where not all were
  // Of numbers, and of the number of entries or elements. "" if there is none.
  std::string least, most;
  std::uint64_t least_at = 0, most_at = 0;  // objects that have them
  // Different values, or objects; `more_different`: than this number.
  std::uint64_t different = 0;
  bool more_different = false;
  // Most objects first. None of numbers and texts if they are not all; of other objects only one that all have.
  std::vector<Value> values;
  std::vector<Type> types;  // the classes of what it refers to, most first
};

struct FieldSummaries {
  static constexpr std::size_t kMost = 20;  // fields
  std::uint64_t objects = 0;                // that are reachable
  std::vector<FieldSummary> fields;         // those of the class first, then those of its superclasses
  std::vector<std::string> masked;          // the names of those that are left out because they name a secret
  std::size_t left_out = 0;                 // more than kMost
};

// Reference fields whose names mark a secret are left out, unless `secrets`; of a redacted dump all contents are.
FieldSummaries summarize_fields(const ObjectGraph& graph, std::span<const std::uint32_t> objects, bool secrets);

}  // namespace jtrace::coreinspect
