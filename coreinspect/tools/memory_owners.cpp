#include "coreinspect/tools/memory_owners.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kGranule = 64u << 10;  // commit granule of the metaspace (metaspace/settings.hpp, JDK 16 on)
constexpr std::uint64_t kRootChunk =
    4u << 20;  // root chunk of the metaspace (chunklevel.hpp, JDK 16 on; a part of it later)
constexpr std::uint64_t kLargestGap = 1u << 20;  // between addresses of the metaspace of JDK 8 and 11

std::optional<std::uint64_t> number_flag(const Vm& vm, std::string_view name) {
  const VmFlag* flag = vm.flag(name);
  return flag ? parse_decimal<std::uint64_t>(flag->value) : std::nullopt;
}

const target::Mapping* mapping_at(const PagesOfMappings& mappings, Address at) {
  const auto after =
      std::upper_bound(mappings.begin(), mappings.end(), at,
                       [](Address value, const target::MappedPages& m) { return value < m.mapping.end; });
  return after != mappings.end() && after->mapping.contains(at) ? &after->mapping : nullptr;
}

// Adds the part to granules of addresses that belong to it, and to what is between them.
class Granules {
 public:
  Granules(const PagesOfMappings& mappings, PartMap& parts) : mappings_(mappings), parts_(parts) {}
  void take(Address at) {
    if (at != 0) addresses_.push_back(at);
  }
  // `unit`: what an address is aligned to; `gap`: neighbours no farther apart are one range.
  void give(MemoryPart part, std::uint64_t unit, std::uint64_t gap) {
    std::sort(addresses_.begin(), addresses_.end());
    Address last_end = 0;
    const target::Mapping* last = nullptr;
    for (const Address at : addresses_) {
      if (last && last->contains(at) && at < last_end) continue;
      const target::Mapping* mapping = mapping_at(mappings_, at);
      if (!mapping || !is_anonymous(*mapping) || parts_.has(at)) continue;
      Address start = std::max(mapping->start, at & ~(unit - 1));
      const Address end = (at & ~(unit - 1)) + unit;
      if (mapping == last && start > last_end && start - last_end <= gap) start = last_end;
      parts_.add(start, end, part);
      last = mapping;
      last_end = end;
    }
    addresses_.clear();
  }

 private:
  const PagesOfMappings& mappings_;
  PartMap& parts_;
  std::vector<Address> addresses_;
};

void add_shared_archive(const Vm& vm, PartMap& parts) {
  for (const auto& [base, top] : {std::pair{"_shared_metaspace_base", "_shared_metaspace_top"},
                                  std::pair{"_aot_metaspace_base", "_aot_metaspace_top"}}) {
    const auto start = vm.read_static<Address>("MetaspaceObj", base),
               end = vm.read_static<Address>("MetaspaceObj", top);
    if (start && end && *start != 0 && *start < *end) parts.add(*start, *end, MemoryPart::kArchive);
  }
}

Result<Address> card_table_of(const Vm& vm) {
  if (const auto set = vm.read_static<Address>("BarrierSet", "_barrier_set"))
    return vm.read_pointer(*set, "CardTableBarrierSet", "_card_table");
  // JDK 8: the barrier set is the table; 11 has it in the heap and apart.
  JTRACE_ASSIGN_OR_RETURN(const Address heap, vm.read_static<Address>("Universe", "_collectedHeap"));
  return vm.read_pointer(heap, "CollectedHeap", "_barrier_set");
}

}  // namespace

HeapBounds find_heap(Inspection& inspection, PartMap& parts, std::vector<std::string>& missing) {
  const Vm& vm = inspection.vm();
  HeapBounds bounds;
  if (const auto reserved = reserved_heap(vm)) {
    bounds.start = reserved->start;
    bounds.end = reserved->end;
  } else {
    missing.push_back("bounds of the heap: " + reserved.error().message());
  }
  bounds.max_size = number_flag(vm, "MaxHeapSize").value_or(bounds.end - bounds.start);
  if (auto layout = read_heap_layout(vm)) {
    bounds.layout = std::move(*layout);
    bounds.has_layout = true;
  } else {
    missing.push_back("what of the heap is used: " + layout.error().message());
  }
  if (bounds.start != 0) {
    for (const HeapRegion& region : bounds.layout.regions)
      if (region.start >= bounds.start && region.top <= bounds.end && region.top > region.start)
        parts.add(region.start, region.top, MemoryPart::kHeapUsed);
    parts.add(bounds.start, bounds.end, MemoryPart::kHeapUnused);
  }
  return bounds;
}

void find_code(Inspection& inspection, PartMap& parts, std::vector<std::string>& missing) {
  const auto code = inspection.code();
  if (!code) {
    missing.push_back("the code cache: " + code.error().message());
    return;
  }
  for (const CodeHeap& heap : (*code)->heaps()) {
    parts.add(heap.low, heap.reserved_end, MemoryPart::kCodeCache);
    if (heap.segments != 0)
      parts.add(heap.segments, heap.segments + ((heap.reserved_end - heap.low) >> heap.log2_segment),
                MemoryPart::kCodeCache);
  }
}

void find_metaspace(Inspection& inspection, const PagesOfMappings& mappings, PartMap& parts,
                    std::vector<std::string>& missing) {
  const Vm& vm = inspection.vm();
  const ClassModel& model = inspection.classes();
  add_shared_archive(vm, parts);
  bool incomplete = false;
  const auto classes = model.all(&incomplete);
  if (!classes || incomplete) missing.push_back("metaspace: the list of classes could not be read to its end");
  if (!classes) return;
  const bool chunks = vm.feature() >= 16;
  const bool has_class_space =
      vm.flag("UseCompressedClassPointers") == nullptr || vm.flag_is_true("UseCompressedClassPointers");
  Granules klasses(mappings, parts), others(mappings, parts);
  for (const Address klass : *classes) {
    (has_class_space ? klasses : others).take(klass);
    // What an archived class has lies in the archive, of which pages that were never used must not be read.
    const target::Mapping* mapping = mapping_at(mappings, klass);
    if (!mapping || !is_anonymous(*mapping) || parts.has(klass) || !model.is_instance_class(klass)) continue;
    if (const auto constants = model.constants(klass)) others.take(*constants);
    const auto methods = model.methods(klass);
    if (!methods) continue;
    for (const Address method : *methods) {
      others.take(method);
      if (const auto code = vm.read_pointer(method, "Method", "_constMethod")) others.take(*code);
    }
  }
  klasses.give(MemoryPart::kClassSpace, chunks ? kRootChunk : kGranule, kLargestGap);
  others.give(MemoryPart::kMetaspace, chunks ? kRootChunk : kGranule, chunks ? 0 : kLargestGap);
}

void find_card_table(Inspection& inspection, PartMap& parts) {
  const Vm& vm = inspection.vm();
  const std::string_view collector = vm.collector();
  if (collector == "Z" || collector == "Shenandoah" || collector == "Epsilon") return;  // they have none
  const auto table = card_table_of(vm);
  if (!table || *table == 0) return;
  for (const char* type : {"CardTable", "CardTableModRefBS"}) {
    if (!vm.types().has(type, "_byte_map")) continue;
    const auto map = vm.read_pointer(*table, type, "_byte_map");
    const auto size = vm.read_field<std::uint64_t>(*table, type, "_byte_map_size");
    if (map && size && *map != 0 && *size < 1ull << 44) parts.add(*map, *map + *size, MemoryPart::kCardTable);
    return;
  }
}

}  // namespace jtrace::coreinspect
