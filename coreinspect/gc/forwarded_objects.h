// ForwardedObjects: the new places of the objects that Shenandoah has copied out of the regions of a collection set.
//
// Until all references are updated many lead to the old copy, whose mark word then is the address of the new one with
// both lock bits set (ShenandoahForwarding, markWord::marked_value). Other collectors: nothing is forwarded. Borrows
// the memory. Threads: any, if the memory may be read by any. Errors: what cannot be read counts as not copied.
#pragma once

#include <vector>

#include "coreinspect/gc/heap_layout.h"

namespace jtrace::coreinspect {

// Where the object with that header is: the header of an old copy leads to the new one (markWord::marked_value in its
// lowest bits).
constexpr Address place_in_mark(std::uint64_t mark, Address object) {
  return (mark & 3) == 3 ? mark & ~std::uint64_t{3} : object;
}

class ForwardedObjects {
 public:
  ForwardedObjects() = default;  // of a heap without such regions
  ForwardedObjects(const HeapLayout& layout, const target::MemoryReader& memory);

  Address place_of(Address object) const { return is_left_.empty() ? object : look_up(object); }

 private:
  Address look_up(Address object) const;

  const target::MemoryReader* memory_ = nullptr;
  Address start_ = 0;
  std::uint64_t region_size_ = 1;
  std::vector<bool> is_left_;  // by region: objects are being copied out of it; empty if there is none
};

}  // namespace jtrace::coreinspect
