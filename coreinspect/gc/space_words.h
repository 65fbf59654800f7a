// SpaceWords: where a running JVM keeps the bounds of its heap's spaces, for a reader inside it that sums up what is
// used at a moment at which no counter is up to date.
//
// Serial and Parallel alone (without UseNUMA): their spaces stay the same objects as long as the JVM lives, and a space
// is used from its bottom to its top. Both survivor spaces are there: one of them is empty but during a collection.
// Errors: as read_heap_layout(). Threads: one at a time.
#pragma once

#include <vector>

#include "coreinspect/vm/vm.h"

namespace jtrace::coreinspect {

struct SpaceWords {
  Address bottom = 0, top = 0;  // of the words that hold them
};
// Empty for other collectors.
Result<std::vector<SpaceWords>> contiguous_space_words(const Vm& vm);

}  // namespace jtrace::coreinspect
