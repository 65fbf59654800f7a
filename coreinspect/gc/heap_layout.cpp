#include "coreinspect/gc/heap_layout.h"

#include <algorithm>

#include "base/strings.h"

namespace jtrace::coreinspect {

std::uint64_t HeapLayout::used() const {
  std::uint64_t sum = 0;
  for (const HeapRegion& region : regions) sum += region.used();
  return sum;
}

std::uint64_t HeapLayout::committed() const {
  std::uint64_t sum = 0;
  for (const HeapRegion& region : regions) sum += region.end - region.start;
  return sum;
}

std::uint32_t object_alignment(const Vm& vm) {
  const VmFlag* flag = vm.flag("ObjectAlignmentInBytes");
  const auto value = flag ? parse_decimal<std::uint32_t>(flag->value) : std::nullopt;
  return value && *value >= 8 && *value <= 256 && (*value & (*value - 1)) == 0 ? *value : 8;
}

namespace {

Result<> read_regions(const Vm& vm, Address heap, HeapLayout& layout) {
  const std::string_view collector = layout.collector;
  if (collector == "G1") return read_g1_layout(vm, heap, layout);
  if (collector == "Shenandoah") return read_shenandoah_layout(vm, heap, layout);
  if (collector == "Z") return read_z_layout(vm, layout);
  if (collector != "unknown") return read_contiguous_layout(vm, heap, layout);
  return fail(ErrorCategory::kMalformed, "the heap of this JVM's collector is not known");
}

// Overlapping or reversed regions would be walked twice or for ever.
void drop_impossible(HeapLayout& layout) {
  std::sort(layout.regions.begin(), layout.regions.end(),
            [](const HeapRegion& a, const HeapRegion& b) { return a.start < b.start; });
  Address before = 0;
  const auto impossible = [&](const HeapRegion& region) {
    const bool bad = region.start < before || region.top < region.start || region.top > region.end;
    if (!bad) before = region.end;
    return bad;
  };
  const auto dropped = std::erase_if(layout.regions, impossible);
  if (dropped > 0)
    layout.missing.push_back(counted(dropped, "region") + " of the heap " + is_are(dropped) +
                             " impossible and left out");
}

}  // namespace

Result<std::uint64_t> read_collections(const Vm& vm) {
  JTRACE_ASSIGN_OR_RETURN(const Address heap, vm.read_static<Address>("Universe", "_collectedHeap"));
  JTRACE_ASSIGN_OR_RETURN(const auto count, vm.read_field<std::uint32_t>(heap, "CollectedHeap", "_total_collections"));
  return std::uint64_t{count};
}

Result<AddressRange> reserved_heap(const Vm& vm) {
  JTRACE_ASSIGN_OR_RETURN(const Address heap, vm.read_static<Address>("Universe", "_collectedHeap"));
  const auto at = vm.types().offset("CollectedHeap", "_reserved");
  if (!at) return fail(Vm::no_field("CollectedHeap", "_reserved"));
  JTRACE_ASSIGN_OR_RETURN(const Address start, vm.read_pointer(heap + *at, "MemRegion", "_start"));
  JTRACE_ASSIGN_OR_RETURN(const auto words, vm.read_field<std::uint64_t>(heap + *at, "MemRegion", "_word_size"));
  if (words > 1ull << 44) return fail(malformed("an impossible size of the heap", heap + *at));
  return AddressRange{.start = start, .end = start + words * 8};
}

Result<HeapLayout> read_heap_layout(const Vm& vm) {
  HeapLayout layout;
  layout.collector = vm.collector();
  JTRACE_ASSIGN_OR_RETURN(const Address heap, vm.read_static<Address>("Universe", "_collectedHeap"));
  if (heap == 0) return fail(ErrorCategory::kNotAttachable, "this JVM has no heap yet");
  layout.collections = read_collections(vm).value_or(0);
  auto regions = read_regions(vm, heap, layout);
  if (!regions) return fail(regions.error().with_context("cannot read the regions of the heap"));
  for (HeapRegion& region : layout.regions)
    if (region.alignment == 0) region.alignment = object_alignment(vm);
  drop_impossible(layout);
  if (auto holes = layout.collector.starts_with("Z") ? read_z_holes(vm) : read_tlab_holes(vm))
    layout.holes = std::move(*holes);
  else layout.missing.push_back(holes.error().with_context("the threads' allocation buffers").message());
  return layout;
}

}  // namespace jtrace::coreinspect
