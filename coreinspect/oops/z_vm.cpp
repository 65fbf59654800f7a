#include "coreinspect/oops/z_vm.h"

#include <algorithm>
#include <vector>

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kOffsetMaskOf11 = (1ull << 42) - 1;  // ZAddressOffsetBits of JDK 11; not exported
constexpr std::uint64_t kGranulesOf11 = 1ull << 21;          // ZPageTable of JDK 11 covers 4 TB
constexpr std::size_t kEntriesAtATime = 4096;

}  // namespace

ZVm::ZVm(const Vm& vm) : vm_(&vm) {
  if (vm.types().has("XGlobalsForVMStructs", "_instance_p") && !vm.flag_is_true("ZGenerational")) letter_ = "X";
  generational_ = letter_ == "Z" && vm.types().has("ZGlobalsForVMStructs", "_ZPointerLoadShift");
  of_11_ = !vm.types().has(type("GranuleMapForPageTable"), "_map");
}

// ZGlobalsForVMStructs holds pointers to the collector's variables.
Result<ZVm> ZVm::open(const Vm& vm) {
  ZVm z(vm);
  const std::string globals = z.type("GlobalsForVMStructs");
  JTRACE_ASSIGN_OR_RETURN(const Address instance, vm.read_static<Address>(globals, "_instance_p"));
  const auto offset_mask = vm.read_pointer(instance, globals, "_" + z.type("AddressOffsetMask"));
  const auto value = offset_mask ? vm.memory().read<std::uint64_t>(*offset_mask) : Result<std::uint64_t>(0);
  z.offset_mask_ = offset_mask && value ? *value : kOffsetMaskOf11;
  const std::string good_mask = z.generational_ ? "_ZPointerLoadGoodMask" : "_" + z.type("AddressGoodMask");
  z.good_mask_place_ = vm.read_pointer(instance, globals, good_mask).value_or(0);
  return z;
}

std::uint64_t ZVm::good_mask() const {
  return good_mask_place_ == 0 ? 0 : vm_->memory().read<std::uint64_t>(good_mask_place_).value_or(0);
}

Result<Address> ZVm::heap() const {
  JTRACE_ASSIGN_OR_RETURN(const Address heap, vm_->read_static<Address>("Universe", "_collectedHeap"));
  const auto inner = vm_->types().offset(type("CollectedHeap"), "_heap");
  if (heap == 0 || !inner) return fail(Vm::no_field(type("CollectedHeap"), "_heap"));
  return heap + *inner;
}

Result<Address> ZVm::page_table() const {
  auto table = vm_->types().offset(type("Heap"), "_page_table");
  if (!table) table = vm_->types().offset(type("Heap"), "_pagetable");  // JDK 11
  if (!table) return fail(Vm::no_field(type("Heap"), "_page_table"));
  JTRACE_ASSIGN_OR_RETURN(const Address heap, this->heap());
  return heap + *table;
}

Result<ZVm::GranuleTable> ZVm::pages() const {
  JTRACE_ASSIGN_OR_RETURN(const Address table, page_table());
  if (!of_11_) return granule_map(table);
  JTRACE_ASSIGN_OR_RETURN(const Address map, vm_->read_pointer(table, "ZAddressRangeMapForPageTable", "_map"));
  return GranuleTable{map, kGranulesOf11};
}

// Its size, then the map, for any type of entry; ZPageTable and ZForwardingTable have no other fields.
Result<ZVm::GranuleTable> ZVm::granule_map(Address map) const {
  JTRACE_ASSIGN_OR_RETURN(const auto count, vm_->memory().read<std::uint64_t>(map));
  JTRACE_ASSIGN_OR_RETURN(const Address entries, vm_->read_pointer(map, type("GranuleMapForPageTable"), "_map"));
  return GranuleTable{entries, count};
}

Address ZVm::GranuleTable::entry(const Vm& vm, std::uint64_t offset) const {
  const std::uint64_t granule = offset >> kGranuleShift;
  return map == 0 || granule >= count ? 0 : vm.memory().read<Address>(map + granule * 8).value_or(0);
}

void ZVm::GranuleTable::visit(const Vm& vm,
                              const std::function<void(Address, std::span<const Address>)>& visitor) const {
  // Of a live JVM most of the table was never touched, and is not to be touched by being read.
  const target::ProcessMemory* memory = vm.target().process_memory();
  const Address map_end = map + count * 8;
  const auto runs = memory ? memory->pages().to_read(map, map_end) : std::vector<target::PageRun>{{map, map_end}};
  std::vector<Address> part(kEntriesAtATime);
  for (const target::PageRun& run : runs)
    for (Address at = run.start; at < run.end; at += part.size() * 8) {
      const std::span<Address> piece(part.data(), std::min<std::uint64_t>(part.size(), (run.end - at) / 8));
      if (vm.memory().read_exactly(at, std::as_writable_bytes(piece))) visitor(at, piece);
    }
}

Result<ZVm::Range> ZVm::range(Address virtual_memory) const {
  const std::string memory = type("VirtualMemory");
  JTRACE_ASSIGN_OR_RETURN(const auto start, vm_->read_field<std::uint64_t>(virtual_memory, memory, "_start"));
  if (!vm_->types().has(memory, "_end")) {
    JTRACE_ASSIGN_OR_RETURN(const auto size, vm_->read_field<std::uint64_t>(virtual_memory, memory, "_size"));
    return Range{start, size};
  }
  JTRACE_ASSIGN_OR_RETURN(const auto end, vm_->read_field<std::uint64_t>(virtual_memory, memory, "_end"));
  return Range{start, end - start};
}

}  // namespace jtrace::coreinspect
