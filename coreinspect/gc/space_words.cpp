#include "coreinspect/gc/space_words.h"

#include <cstdint>
#include <string_view>
#include <tuple>

#include "coreinspect/oops/z_vm.h"

namespace jtrace::coreinspect {
namespace {

// Up to JDK 23 ZPageAllocator::_used (zPageAllocator.hpp), what ZHeap::used() returns. From 25 on each NUMA node has a
// partition with a word of its own; that of a single node is at its begin.
Result<Address> used_word_of_z(const Vm& vm) {
  JTRACE_ASSIGN_OR_RETURN(const ZVm z, ZVm::open(vm));
  const TypeDatabase& types = vm.types();
  const auto allocator = types.offset(z.type("Heap"), "_page_allocator");
  if (!allocator) return Address{0};
  JTRACE_ASSIGN_OR_RETURN(const Address heap, z.heap());
  if (const auto used = types.offset(z.type("PageAllocator"), "_used")) return heap + *allocator + *used;
  const auto partitions = types.offset("ZPageAllocator", "_partitions"), used = types.offset("ZPartition", "_used");
  if (!partitions || !used || vm.read_static<std::uint32_t>("ZNUMA", "_count").value_or(0) != 1) return Address{0};
  const Address per_node = heap + *allocator + *partitions;
  JTRACE_ASSIGN_OR_RETURN(const Address only, vm.read_pointer(per_node, "ZPerNUMAZPartition", "_addr"));
  return only == 0 ? 0 : only + *used;
}

// What ShenandoahHeap::used() returns: a word of the heap up to JDK 23, of its global generation from 24 on, of its
// free set from 26 on.
Result<Address> used_word_of_shenandoah(const Vm& vm) {
  JTRACE_ASSIGN_OR_RETURN(const Address heap, vm.read_static<Address>("Universe", "_collectedHeap"));
  if (const auto used = vm.types().offset("ShenandoahHeap", "_used")) return heap + *used;
  for (const auto& [holder, type, word] : {std::tuple("_global_generation", "ShenandoahGeneration", "_used"),
                                           std::tuple("_free_set", "ShenandoahFreeSet", "_total_global_used")}) {
    const auto used = vm.types().offset(type, word);
    if (!used || !vm.types().has("ShenandoahHeap", holder)) continue;
    JTRACE_ASSIGN_OR_RETURN(const Address at, vm.read_pointer(heap, "ShenandoahHeap", holder));
    if (at != 0) return at + *used;
  }
  return Address{0};
}

}  // namespace

Result<std::vector<SpaceWords>> space_words(const Vm& vm) {
  const std::string_view collector = vm.collector();
  if (collector != "Z" && collector != "Shenandoah") return contiguous_space_words(vm);
  JTRACE_ASSIGN_OR_RETURN(const Address word, collector == "Z" ? used_word_of_z(vm) : used_word_of_shenandoah(vm));
  if (word == 0) return std::vector<SpaceWords>();
  return std::vector<SpaceWords>{{.bottom = 0, .top = word}};
}

}  // namespace jtrace::coreinspect
