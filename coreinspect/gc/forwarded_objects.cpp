#include "coreinspect/gc/forwarded_objects.h"

namespace jtrace::coreinspect {

ForwardedObjects::ForwardedObjects(const HeapLayout& layout, const target::MemoryReader& memory) : memory_(&memory) {
  if (layout.region_size == 0 || layout.regions.empty()) return;
  start_ = layout.regions.front().start;
  region_size_ = layout.region_size;
  for (const HeapRegion& region : layout.regions) {
    if (!region.collection_set || region.used() == 0) continue;
    const std::uint64_t index = (region.start - start_) / region_size_;
    if (index >= is_left_.size()) is_left_.resize(index + 1);
    is_left_[index] = true;
  }
}

Address ForwardedObjects::look_up(Address object) const {
  const std::uint64_t index = (object - start_) / region_size_;
  if (object < start_ || index >= is_left_.size() || !is_left_[index]) return object;
  const auto mark = memory_->read<std::uint64_t>(object);
  return mark ? place_in_mark(*mark, object) : object;
}

}  // namespace jtrace::coreinspect
