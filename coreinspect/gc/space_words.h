// SpaceWords: the words of a running JVM that say how much of its heap is used, for a reader inside it that sums them
// up at a moment at which no counter is up to date.
//
// Serial and Parallel (without UseNUMA): the bounds of their spaces, which stay the same objects as long as the JVM
// lives; a space is used from its bottom to its top. Both survivor spaces are there: one of them is empty but during a
// collection. ZGC (from JDK 25 on with one NUMA node) and Shenandoah: the one word from which the JVM itself says what
// is used: of ZGC the bytes of its pages, of Shenandoah what threads were given of its regions, to the end of their
// buffers. Errors: as read_heap_layout(). Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coreinspect/vm/vm.h"

namespace jtrace::coreinspect {

struct SpaceWords {
  // Of the words that hold them. A bottom of 0: the word at top is a number of bytes, of which nothing is subtracted.
  Address bottom = 0, top = 0;
};
// Empty for the others: CMS has no such word for its old generation (a free list), G1 needs none (its counters).
Result<std::vector<SpaceWords>> space_words(const Vm& vm);
// Those of Serial and Parallel; empty for all others.
Result<std::vector<SpaceWords>> contiguous_space_words(const Vm& vm);

// Parallel's survivor space that is in use: its two differ in size, and take turns. Words of its bounds, from the
// space's begin.
struct SurvivorWords {
  Address pointer = 0;  // of the word that has the space's address
  std::uint64_t bottom = 0, end = 0;
};
// Nothing for the others. Errors: as read_heap_layout().
Result<std::optional<SurvivorWords>> survivor_words(const Vm& vm);

}  // namespace jtrace::coreinspect
