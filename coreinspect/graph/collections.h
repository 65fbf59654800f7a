// Collections: how many entries the JDK's collections have, and how many there is room for, in a heap dump.
//
// A collection is an instance of one of the known classes of java.util, or of a class below one. What wraps another one
// (HashSet, Collections.synchronizedMap) is none: the wrapped one is. Field names by JDK: the JDK's sources.
// Ownership: borrows the graph. Threads: any number may ask, after the constructor.
#pragma once

#include <optional>
#include <vector>

#include "coreinspect/graph/object_fields.h"

namespace jtrace::coreinspect {

struct CollectionState {
  std::uint64_t size = 0, slots = 0;
  std::uint32_t array = kNoObject;  // that has the slots; kNoObject: not allocated, or the kind has none
};

class Collections {
 public:
  explicit Collections(const ObjectGraph& graph);

  bool is_collection(std::uint32_t object) const {
    return !graph_.is_class(object) && plans_[graph_.class_of(object)].kind != Kind::kNone;
  }
  // Nothing for what is none, and where its fields are not those of the class.
  std::optional<CollectionState> read(std::uint32_t object) const;

 private:
  enum class Kind : std::uint8_t { kNone, kSized, kPairs, kRing, kConcurrent };
  struct Plan {
    Kind kind = Kind::kNone;
    std::optional<ObjectFields::Place> size, array, head, tail, cells;
  };
  Plan plan_of(std::uint32_t class_number) const;
  std::uint64_t concurrent_size(std::uint32_t object, const Plan& plan) const;

  const ObjectGraph& graph_;
  ObjectFields fields_;
  std::vector<Plan> plans_;  // by class number
};

}  // namespace jtrace::coreinspect
