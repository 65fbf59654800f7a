// Serial, Parallel, CMS and Epsilon: a few large spaces (genCollectedHeap.hpp, serialHeap.hpp,
// parallelScavengeHeap.hpp, epsilonHeap.hpp, compactibleFreeListSpace.hpp; space.hpp, mutableSpace.hpp).
#include "coreinspect/gc/heap_layout.h"
#include "coreinspect/gc/space_words.h"

namespace jtrace::coreinspect {
namespace {

struct Space {
  Address at = 0;
  std::string_view type;  // of the region
  bool young = false;
  // ContiguousSpace; its bounds are fields of Space before JDK 22. MutableSpace; of ImmutableSpace before JDK 17.
  bool is_mutable = false;
  bool free_list = false;  // CompactibleFreeListSpace: chunks up to its end
};
using Spaces = std::vector<Space>;

struct SpaceFields {
  std::uint64_t bottom = 0, end = 0, top = 0;
};

Result<SpaceFields> fields_of(const Vm& vm, const Space& space) {
  const std::string_view type = space.is_mutable ? "MutableSpace" : "ContiguousSpace";
  const std::string_view base = space.is_mutable ? "ImmutableSpace" : "Space";
  const auto bottom = vm.types().offset({type, base}, "_bottom");
  const auto end = vm.types().offset({type, base}, "_end");
  const auto top = space.free_list ? end : vm.types().offset(type, "_top");
  if (!bottom || !end) return fail(Vm::no_field(type, "_bottom"));
  if (!top) return fail(Vm::no_field(type, "_top"));
  return SpaceFields{*bottom, *end, *top};
}

Result<> add_region(const Vm& vm, const Space& space, HeapLayout& layout) {
  JTRACE_ASSIGN_OR_RETURN(const SpaceFields fields, fields_of(vm, space));
  HeapRegion region{.type = space.type, .young = space.young, .free_chunks = space.free_list};
  JTRACE_ASSIGN_OR_RETURN(region.start, vm.memory().read<Address>(space.at + fields.bottom));
  JTRACE_ASSIGN_OR_RETURN(region.end, vm.memory().read<Address>(space.at + fields.end));
  JTRACE_ASSIGN_OR_RETURN(region.top, vm.memory().read<Address>(space.at + fields.top));
  layout.regions.push_back(region);
  return {};
}

Result<> add_young(const Vm& vm, Address young, std::string_view type, bool is_mutable, Spaces& spaces) {
  // "to" is empty, except during a collection or after one that failed.
  for (const auto& [field, name] :
       {std::pair{"_eden_space", "eden"}, {"_from_space", "survivor"}, {"_to_space", "to"}}) {
    JTRACE_ASSIGN_OR_RETURN(const Address space, vm.read_pointer(young, type, field));
    spaces.push_back({.at = space, .type = name, .young = true, .is_mutable = is_mutable});
  }
  return {};
}

Result<> add_old(const Vm& vm, Address old, bool cms, Spaces& spaces) {
  const std::string_view type = cms                                                 ? "ConcurrentMarkSweepGeneration"
                                : vm.types().has("TenuredGeneration", "_the_space") ? "TenuredGeneration"
                                                                                    : "OneContigSpaceCardGeneration";
  JTRACE_ASSIGN_OR_RETURN(const Address space, vm.read_pointer(old, type, cms ? "_cmsSpace" : "_the_space"));
  spaces.push_back({.at = space, .type = "old", .free_list = cms});
  return {};
}

Result<Spaces> generations(const Vm& vm, Address heap, bool cms) {
  Address young = 0, old = 0;
  if (const auto first = vm.types().offset("GenCollectedHeap", "_gens")) {  // JDK 8
    JTRACE_ASSIGN_OR_RETURN(young, vm.memory().read<Address>(heap + *first));
    JTRACE_ASSIGN_OR_RETURN(old, vm.memory().read<Address>(heap + *first + 8));
  } else {
    const std::string_view type = vm.types().has("SerialHeap", "_young_gen") ? "SerialHeap" : "GenCollectedHeap";
    JTRACE_ASSIGN_OR_RETURN(young, vm.read_pointer(heap, type, "_young_gen"));
    JTRACE_ASSIGN_OR_RETURN(old, vm.read_pointer(heap, type, "_old_gen"));
  }
  Spaces spaces;
  JTRACE_RETURN_IF_ERROR(add_young(vm, young, "DefNewGeneration", false, spaces));
  JTRACE_RETURN_IF_ERROR(add_old(vm, old, cms, spaces));
  return spaces;
}

// Static variables up to JDK 25, fields of the heap later.
Result<Address> parallel_generation(const Vm& vm, Address heap, std::string_view name) {
  const TypeField* field = vm.types().field("ParallelScavengeHeap", name);
  if (!field) return fail(Vm::no_field("ParallelScavengeHeap", name));
  return vm.memory().read<Address>(field->is_static ? field->address : heap + field->offset);
}

Result<Spaces> parallel_spaces(const Vm& vm, Address heap) {
  JTRACE_ASSIGN_OR_RETURN(const Address young, parallel_generation(vm, heap, "_young_gen"));
  JTRACE_ASSIGN_OR_RETURN(const Address old, parallel_generation(vm, heap, "_old_gen"));
  Spaces spaces;
  JTRACE_RETURN_IF_ERROR(add_young(vm, young, "PSYoungGen", true, spaces));
  JTRACE_ASSIGN_OR_RETURN(const Address space, vm.read_pointer(old, "PSOldGen", "_object_space"));
  spaces.push_back({.at = space, .type = "old", .is_mutable = true});
  return spaces;
}

Result<Spaces> spaces_of(const Vm& vm, Address heap, std::string_view collector) {
  if (collector == "Parallel") return parallel_spaces(vm, heap);
  if (collector != "Epsilon") return generations(vm, heap, collector == "CMS");
  JTRACE_ASSIGN_OR_RETURN(const Address space, vm.read_pointer(heap, "EpsilonHeap", "_space"));
  return Spaces{{.at = space, .type = "space"}};
}

}  // namespace

Result<> read_contiguous_layout(const Vm& vm, Address heap, HeapLayout& layout) {
  if (layout.collector == "Parallel" && vm.flag_is_true("UseNUMA"))
    layout.missing.push_back("with UseNUMA eden is several spaces: holes are possible");
  JTRACE_ASSIGN_OR_RETURN(const Spaces spaces, spaces_of(vm, heap, layout.collector));
  for (const Space& space : spaces) JTRACE_RETURN_IF_ERROR(add_region(vm, space, layout));
  return {};
}

Result<std::vector<SpaceWords>> contiguous_space_words(const Vm& vm) {
  const std::string_view collector = vm.collector();
  if (collector != "Serial" && (collector != "Parallel" || vm.flag_is_true("UseNUMA")))
    return std::vector<SpaceWords>();
  JTRACE_ASSIGN_OR_RETURN(const Address heap, vm.read_static<Address>("Universe", "_collectedHeap"));
  JTRACE_ASSIGN_OR_RETURN(const Spaces spaces, spaces_of(vm, heap, collector));
  std::vector<SpaceWords> words;
  for (const Space& space : spaces) {
    JTRACE_ASSIGN_OR_RETURN(const SpaceFields fields, fields_of(vm, space));
    words.push_back({.bottom = space.at + fields.bottom, .top = space.at + fields.top});
  }
  return words;
}

Result<std::optional<SurvivorWords>> survivor_words(const Vm& vm) {
  if (vm.collector() != "Parallel") return std::optional<SurvivorWords>();
  JTRACE_ASSIGN_OR_RETURN(const Address heap, vm.read_static<Address>("Universe", "_collectedHeap"));
  JTRACE_ASSIGN_OR_RETURN(const Address young, parallel_generation(vm, heap, "_young_gen"));
  const auto from = vm.types().offset("PSYoungGen", "_from_space");
  if (!from) return fail(Vm::no_field("PSYoungGen", "_from_space"));
  JTRACE_ASSIGN_OR_RETURN(const SpaceFields fields, fields_of(vm, {.is_mutable = true}));
  return SurvivorWords{.pointer = young + *from, .bottom = fields.bottom, .end = fields.end};
}

}  // namespace jtrace::coreinspect
