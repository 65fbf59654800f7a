// ReferredValues: what an object is as the value of a field: a number in a box, a text, a collection of a size.
//
// Knows it by the class, which is looked at once. Ownership: borrows the graph. Threads: one at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coreinspect/graph/collections.h"
#include "coreinspect/graph/graph_objects.h"
#include "coreinspect/tools/field_summary.h"

namespace jtrace::coreinspect {

class ReferredValues {
 public:
  // One value for counting: equal ones have the same key.
  struct Value {
    std::uint64_t key = 0;
    long double order = 0;  // of a number, and the size of a collection or array
  };

  explicit ReferredValues(const ObjectGraph& graph)
      : graph_(graph),
        fields_(graph),
        objects_(graph),
        contents_(objects_),
        collections_(graph),
        plans_(graph.classes().size()),
        redacted_(graph.file().is_redacted()) {}

  FieldKind kind(std::uint32_t object) { return plan_of(object).kind; }
  // Whether it takes long to read: only of some objects.
  bool is_slow(std::uint32_t object) {
    const How how = plan_of(object).how;
    return how == How::kPrinted || how == How::kListed;
  }
  // Nothing if the dump does not have it.
  std::optional<Value> value(std::uint32_t object);
  // As people read it; of the kinds kNumber, kValue and kText.
  std::string text(std::uint32_t object);

  // A value of a primitive type of a dump (hprof_b_spec.h).
  static FieldKind kind_of(std::uint8_t type);
  static Value value_of(std::uint64_t bits, std::uint8_t type);
  static std::string text_of(std::uint64_t bits, std::uint8_t type);

 private:
  enum class How : std::uint8_t {
    kUnknown,  // the class has not been looked at
    kOther,
    kBox,        // `place`: its value
    kDecimal,    // `place`, `more`: intCompact, scale
    kConstant,   // of an enum
    kString,     // `place`, `more`: value, coder
    kPrinted,    // what JavaContents prints of it
    kKnownSize,  // Collections
    kWrapper,    // of the collection in `place`
    kListed,     // its entries are counted one by one
    kArray
  };
  struct Plan {
    How how = How::kUnknown;
    FieldKind kind = FieldKind::kReference;
    std::optional<ObjectFields::Place> place, more;
  };
  const Plan& plan_of(std::uint32_t object);
  Plan make_plan(std::uint32_t object);
  std::optional<Plan> plan_of_value(std::uint32_t object, const std::string& type);
  std::optional<Plan> plan_of_collection(std::uint32_t object, const std::string& type);
  std::optional<Value> text_value(std::uint32_t object, const Plan& plan);
  std::optional<Value> decimal(std::uint32_t object, const Plan& plan);
  std::optional<std::uint64_t> size(std::uint32_t object, int depth);

  const ObjectGraph& graph_;
  ObjectFields fields_;
  GraphObjects objects_;
  JavaContents contents_;
  Collections collections_;
  std::vector<Plan> plans_;  // by class number
  Plan class_object_{.how = How::kOther};
  const bool redacted_;
};

}  // namespace jtrace::coreinspect
