// Collections: the number of entries of the JDK's collections in a heap dump, and the number for which they have room.
//
// A collection is an instance of one of the known classes of java.util, or of a subclass. A wrapper of another
// collection (HashSet, Collections.synchronizedMap) does not count, only the wrapped one. Source of the field names:
// the JDK's sources. Ownership: borrows the graph. Threads: any number, after the constructor.
#pragma once

#include <optional>
#include <vector>

#include "coreinspect/graph/object_fields.h"

namespace jtrace::coreinspect {

struct CollectionState {
  std::uint64_t size = 0, slots = 0;
  std::uint32_t array = kNoObject;  // the array with the slots; kNoObject: not allocated, or the kind has none
};

class Collections {
 public:
  explicit Collections(const ObjectGraph& graph);

  bool is_collection(std::uint32_t object) const {
    return !graph_.is_class(object) && plans_[graph_.class_of(object)].kind != Kind::kNone;
  }
  // Nothing if the object is not a collection, or does not have the fields of the known class.
  std::optional<CollectionState> read(std::uint32_t object) const;

 private:
  // kFull: as many as slots; kAtomic: their number is in an AtomicInteger.
  enum class Kind : std::uint8_t { kNone, kSized, kPairs, kRing, kConcurrent, kFull, kAtomic };
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
