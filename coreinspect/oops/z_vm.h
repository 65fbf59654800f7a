// ZVm: where a JVM with ZGC keeps its masks, its pages and its tables by granule. References (ObjectModel), moved
// objects (ZForwardings) and the layout of the heap are read with it.
//
// ZGlobalsForVMStructs, ZCollectedHeap, ZHeap, ZPageTable, ZVirtualMemory (HotSpot of JDK 11 to 27); X in place of Z
// for 21 without ZGenerational. Offsets are bytes from the start of ZGC's address space. Ownership: borrows the VM.
// Threads: one at a time. Errors: those of the memory; kMalformed if the JVM's tables lack something.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "coreinspect/vm/vm.h"

namespace jtrace::coreinspect {

class ZVm {
 public:
  static constexpr int kGranuleShift = 21;  // ZGranuleSizeShift

  // For a VM whose collector is "Z".
  static Result<ZVm> open(const Vm& vm);

  const Vm& vm() const { return *vm_; }
  // "ZPage" for "Page", or "XPage".
  std::string type(std::string_view name) const { return letter_ + std::string(name); }
  bool generational() const { return generational_; }
  bool of_11() const { return of_11_; }

  // The bits of an address that are the offset.
  std::uint64_t offset_mask() const { return offset_mask_; }
  // The colour that is good at this moment, as recent as the VM's cached memory; 0 if it cannot be read.
  std::uint64_t good_mask() const;
  // Address of the JVM's variable; 0 if it is not known.
  Address good_mask_place() const { return good_mask_place_; }

  Result<Address> heap() const;        // ZHeap
  Result<Address> page_table() const;  // ZPageTable

  // An array with an entry for each granule.
  struct GranuleTable {
    Address map = 0;
    std::uint64_t count = 0;
    // Address of the entry of the granule at this offset; 0 if there is none.
    Address entry(const Vm& vm, std::uint64_t offset) const;
    // Visits the parts of the table that are present, with their addresses. Long stretches of zeros are left out: a
    // core does not have them, and of a live JVM they are not read.
    void visit(const Vm& vm, const std::function<void(Address at, std::span<const Address> entries)>& visitor) const;
  };
  Result<GranuleTable> pages() const;  // ZPage*; of JDK 11 with a flag in bit 0: page_of()
  // Address of the page of an entry of pages().
  static Address page_of(Address entry) { return entry & ~Address{1}; }
  // The ZGranuleMap at this address.
  Result<GranuleTable> granule_map(Address map) const;

  struct Range {
    std::uint64_t start = 0, size = 0;
  };
  // The ZVirtualMemory at this address.
  Result<Range> range(Address virtual_memory) const;

 private:
  explicit ZVm(const Vm& vm);

  const Vm* vm_;
  std::string letter_ = "Z";
  bool generational_ = false, of_11_ = false;
  std::uint64_t offset_mask_ = 0;
  Address good_mask_place_ = 0;
};

}  // namespace jtrace::coreinspect
