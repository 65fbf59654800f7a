// Serial, Parallel, CMS and Epsilon: a few large spaces (genCollectedHeap.hpp, serialHeap.hpp,
// parallelScavengeHeap.hpp, epsilonHeap.hpp, compactibleFreeListSpace.hpp; space.hpp, mutableSpace.hpp).
#include "coreinspect/gc/heap_layout.h"

namespace jtrace::coreinspect {
namespace {

class SpaceReader {
 public:
  SpaceReader(const Vm& vm, HeapLayout& layout) : vm_(vm), layout_(layout) {}

  // ContiguousSpace: before JDK 22 bottom and end are fields of Space.
  Result<> add_contiguous(Address space, std::string_view type, bool young) {
    return add(space, {"ContiguousSpace", "Space"}, "ContiguousSpace", type, young);
  }
  // MutableSpace: before JDK 17 bottom and end are fields of ImmutableSpace.
  Result<> add_mutable(Address space, std::string_view type, bool young) {
    return add(space, {"MutableSpace", "ImmutableSpace"}, "MutableSpace", type, young);
  }
  // CompactibleFreeListSpace: chunks up to its end.
  Result<> add_free_list(Address space) {
    JTRACE_ASSIGN_OR_RETURN(const Address bottom, vm_.read_pointer(space, "Space", "_bottom"));
    JTRACE_ASSIGN_OR_RETURN(const Address end, vm_.read_pointer(space, "Space", "_end"));
    layout_.regions.push_back({.start = bottom, .end = end, .top = end, .type = "old", .free_chunks = true});
    return {};
  }

 private:
  Result<> add(Address space, std::initializer_list<std::string_view> types, std::string_view top_type,
               std::string_view type, bool young) {
    const auto bottom = vm_.types().offset(types, "_bottom");
    const auto end = vm_.types().offset(types, "_end");
    if (!bottom || !end) return fail(Vm::no_field(*types.begin(), "_bottom"));
    HeapRegion region{.type = type, .young = young};
    JTRACE_ASSIGN_OR_RETURN(region.start, vm_.memory().read<Address>(space + *bottom));
    JTRACE_ASSIGN_OR_RETURN(region.end, vm_.memory().read<Address>(space + *end));
    JTRACE_ASSIGN_OR_RETURN(region.top, vm_.read_pointer(space, top_type, "_top"));
    layout_.regions.push_back(region);
    return {};
  }
  const Vm& vm_;
  HeapLayout& layout_;
};

Result<> read_young(const Vm& vm, Address young, SpaceReader& spaces) {
  JTRACE_ASSIGN_OR_RETURN(const Address eden, vm.read_pointer(young, "DefNewGeneration", "_eden_space"));
  JTRACE_ASSIGN_OR_RETURN(const Address from, vm.read_pointer(young, "DefNewGeneration", "_from_space"));
  JTRACE_ASSIGN_OR_RETURN(const Address to, vm.read_pointer(young, "DefNewGeneration", "_to_space"));
  JTRACE_RETURN_IF_ERROR(spaces.add_contiguous(eden, "eden", true));
  JTRACE_RETURN_IF_ERROR(spaces.add_contiguous(from, "survivor", true));
  return spaces.add_contiguous(to, "to", true);  // empty, except during a collection or after one that failed
}

Result<> read_old(const Vm& vm, Address old, bool cms, SpaceReader& spaces) {
  if (cms) {
    JTRACE_ASSIGN_OR_RETURN(const Address space, vm.read_pointer(old, "ConcurrentMarkSweepGeneration", "_cmsSpace"));
    return spaces.add_free_list(space);
  }
  const auto type =
      vm.types().has("TenuredGeneration", "_the_space") ? "TenuredGeneration" : "OneContigSpaceCardGeneration";
  JTRACE_ASSIGN_OR_RETURN(const Address space, vm.read_pointer(old, type, "_the_space"));
  return spaces.add_contiguous(space, "old", false);
}

Result<> read_generations(const Vm& vm, Address heap, bool cms, SpaceReader& spaces) {
  Address young = 0, old = 0;
  if (const auto first = vm.types().offset("GenCollectedHeap", "_gens")) {  // JDK 8
    JTRACE_ASSIGN_OR_RETURN(young, vm.memory().read<Address>(heap + *first));
    JTRACE_ASSIGN_OR_RETURN(old, vm.memory().read<Address>(heap + *first + 8));
  } else {
    const std::string_view type = vm.types().has("SerialHeap", "_young_gen") ? "SerialHeap" : "GenCollectedHeap";
    JTRACE_ASSIGN_OR_RETURN(young, vm.read_pointer(heap, type, "_young_gen"));
    JTRACE_ASSIGN_OR_RETURN(old, vm.read_pointer(heap, type, "_old_gen"));
  }
  JTRACE_RETURN_IF_ERROR(read_young(vm, young, spaces));
  return read_old(vm, old, cms, spaces);
}

// Static variables up to JDK 25, fields of the heap later.
Result<Address> parallel_generation(const Vm& vm, Address heap, std::string_view name) {
  const TypeField* field = vm.types().field("ParallelScavengeHeap", name);
  if (!field) return fail(Vm::no_field("ParallelScavengeHeap", name));
  return vm.memory().read<Address>(field->is_static ? field->address : heap + field->offset);
}

Result<> read_parallel(const Vm& vm, Address heap, SpaceReader& spaces) {
  JTRACE_ASSIGN_OR_RETURN(const Address young, parallel_generation(vm, heap, "_young_gen"));
  JTRACE_ASSIGN_OR_RETURN(const Address old, parallel_generation(vm, heap, "_old_gen"));
  for (const auto& [field, type] :
       {std::pair{"_eden_space", "eden"}, {"_from_space", "survivor"}, {"_to_space", "to"}}) {
    JTRACE_ASSIGN_OR_RETURN(const Address space, vm.read_pointer(young, "PSYoungGen", field));
    JTRACE_RETURN_IF_ERROR(spaces.add_mutable(space, type, true));
  }
  JTRACE_ASSIGN_OR_RETURN(const Address space, vm.read_pointer(old, "PSOldGen", "_object_space"));
  return spaces.add_mutable(space, "old", false);
}

}  // namespace

Result<> read_contiguous_layout(const Vm& vm, Address heap, HeapLayout& layout) {
  SpaceReader spaces(vm, layout);
  if (layout.collector == "Parallel") {
    if (vm.flag_is_true("UseNUMA")) layout.missing.push_back("with UseNUMA eden is several spaces: holes are possible");
    return read_parallel(vm, heap, spaces);
  }
  if (layout.collector == "Epsilon") {
    JTRACE_ASSIGN_OR_RETURN(const Address space, vm.read_pointer(heap, "EpsilonHeap", "_space"));
    return spaces.add_contiguous(space, "space", false);
  }
  return read_generations(vm, heap, layout.collector == "CMS", spaces);
}

}  // namespace jtrace::coreinspect
