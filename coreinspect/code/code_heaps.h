// CodeHeaps: where generated code lies. A code heap is reserved as a whole and committed in steps while the JVM
// compiles. For an address after the end that was last read, the end is read again.
//
// CodeHeap, VirtualSpace (heap.hpp, virtualspace.hpp). Ownership: borrows memory, cache and type table. Threads: one at
// a time. Errors: those of the memory; kMalformed.
#pragma once

#include <vector>

#include "coreinspect/types/cached_memory.h"
#include "coreinspect/types/type_database.h"

namespace jtrace::coreinspect {

struct CodeHeap {
  Address low = 0, high = 0;  // committed
  Address reserved_end = 0;
  Address segments = 0;  // the segment map
  int log2_segment = 0;
  Address high_at = 0;  // address of `high` in the JVM
};

class CodeHeaps {
 public:
  // `cache`: the cache of a live JVM's memory. When a heap has grown, its pages are dropped, because they are older.
  // Null for a core.
  CodeHeaps(const target::MemoryReader& memory, CachedMemory* cache) : memory_(&memory), cache_(cache) {}

  Result<> add(const TypeDatabase& types, Address heap);
  // The heap that has `pc` in its committed part; null if it is not generated code.
  const CodeHeap* find(Address pc) const;
  bool contains(Address pc) const { return find(pc) != nullptr; }
  // All heaps as they are now.
  const std::vector<CodeHeap>& all() const;

 private:
  void read_end_again(CodeHeap& heap) const;

  const target::MemoryReader* memory_;
  CachedMemory* cache_;
  mutable std::vector<CodeHeap> heaps_;
};

}  // namespace jtrace::coreinspect
