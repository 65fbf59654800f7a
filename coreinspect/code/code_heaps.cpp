#include "coreinspect/code/code_heaps.h"

#include <string>

namespace jtrace::coreinspect {

Result<> CodeHeaps::add(const TypeDatabase& types, Address heap) {
  const auto offset_of = [&](const char* type, const char* name) -> Result<Address> {
    if (const auto offset = types.offset(type, name)) return Address{*offset};
    return fail(ErrorCategory::kMalformed,
                "this JVM's tables have no field " + std::string(type) + "::" + std::string(name));
  };
  JTRACE_ASSIGN_OR_RETURN(const Address memory, offset_of("CodeHeap", "_memory"));
  JTRACE_ASSIGN_OR_RETURN(const Address segmap, offset_of("CodeHeap", "_segmap"));
  JTRACE_ASSIGN_OR_RETURN(const Address log2, offset_of("CodeHeap", "_log2_segment_size"));
  JTRACE_ASSIGN_OR_RETURN(const Address low, offset_of("VirtualSpace", "_low"));
  JTRACE_ASSIGN_OR_RETURN(const Address high, offset_of("VirtualSpace", "_high"));
  CodeHeap result{.high_at = heap + memory + high};
  JTRACE_ASSIGN_OR_RETURN(result.low, memory_->read<Address>(heap + memory + low));
  JTRACE_ASSIGN_OR_RETURN(result.high, memory_->read<Address>(result.high_at));
  JTRACE_ASSIGN_OR_RETURN(result.segments, memory_->read<Address>(heap + segmap + low));
  JTRACE_ASSIGN_OR_RETURN(result.log2_segment, memory_->read<std::int32_t>(heap + log2));
  result.reserved_end = result.high;
  if (const auto boundary = types.offset("VirtualSpace", "_high_boundary")) {
    JTRACE_ASSIGN_OR_RETURN(result.reserved_end, memory_->read<Address>(heap + memory + *boundary));
  }
  if (result.high < result.low || result.reserved_end < result.high || result.log2_segment < 3 ||
      result.log2_segment > 30) {
    Error error{.category = ErrorCategory::kMalformed, .text = "an impossible code heap"};
    error.address = heap;
    return fail(std::move(error));
  }
  heaps_.push_back(result);
  return {};
}

const CodeHeap* CodeHeaps::find(Address pc) const {
  for (CodeHeap& heap : heaps_) {
    if (pc < heap.low || pc >= heap.reserved_end) continue;
    if (pc >= heap.high) read_end_again(heap);
    return pc < heap.high ? &heap : nullptr;
  }
  return nullptr;
}

const std::vector<CodeHeap>& CodeHeaps::all() const {
  for (CodeHeap& heap : heaps_) read_end_again(heap);
  return heaps_;
}

// Reads around the cache, which may hold an older copy of the page.
void CodeHeaps::read_end_again(CodeHeap& heap) const {
  if (!cache_) return;  // a core does not change
  const auto high = cache_->below().read<Address>(heap.high_at);
  if (!high || *high <= heap.high || *high > heap.reserved_end) return;
  heap.high = *high;
  cache_->forget();
}

}  // namespace jtrace::coreinspect
