// Which objects of a heap refer to some wanted ones: one walk over all objects, without a graph.
//
// Threads: one at a time; a walk has several of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "coreinspect/gc/histogram.h"
#include "coreinspect/tools/heap_views.h"

namespace jtrace::coreinspect {

struct Referrer {
  Address to = 0;  // one of those that are wanted
  Address object = 0;
  const KlassInfo* klass = nullptr;
  std::uint32_t offset = 0;   // of the field from the object
  std::uint64_t element = 0;  // of an array
};

// Offsets of the references in instances of each class, by KlassInfo::index. None for mirrors, because their statics
// differ.
using ReferenceMap = std::vector<std::vector<std::uint32_t>>;

ReferenceMap reference_map(const HeapAccess& access);
// A field of a class that holds a reference.
bool is_reference(const JavaField& field);

// What one walk has found.
struct Walked {
  std::vector<Referrer> found;  // in the order of the objects
  WalkTotals totals;
  bool met_first = false;  // of the wanted ones
};
// `wanted`: sorted, at least one. At most a million referrers of each thread of the walk are kept.
Result<Walked> search_for(HeapAccess& access, const ReferenceMap& map, const std::vector<Address>& wanted,
                          const HeapOptions& options);

}  // namespace jtrace::coreinspect
