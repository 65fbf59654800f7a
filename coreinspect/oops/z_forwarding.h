// ZForwardings: where ZGC has moved objects to: the tables that its load barrier asks about a stale reference.
//
// After a relocation a reference keeps its old value until somebody loads it or the next marking comes by; the page it
// leads to may be gone meanwhile. ZForwardingTable, ZForwarding, ZForwardingEntry, ZGeneration, ZHash (HotSpot 17 to
// 27; X in place of Z for 21 without ZGenerational); of 11 ZPage and ZForwardingTableEntry. The tables of the
// generational mode are not exported: ZHeap is searched for its two generations. Offsets are bytes from the start of
// ZGC's address space. Read anew each time, through the VM's cached memory. Ownership: borrows the VM. Threads: one at
// a time. Errors: what cannot be read counts as not moved.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "coreinspect/oops/z_vm.h"

namespace jtrace::coreinspect {

class ZForwardings {
 public:
  enum class Generation : std::uint8_t { kYoung, kOld };  // ZGenerationId; without generations both mean the one table

  explicit ZForwardings(const ZVm& z);

  // False where the tables are not where they should be.
  bool known() const { return z_.of_11() ? pages_.map != 0 : tables_[0].map != 0 && tables_[1].map != 0; }
  // Whether objects were or are being moved out of the page that was at this offset.
  bool covers(Generation generation, std::uint64_t offset) const { return find(generation, offset).has_value(); }
  // Offset that the object at `offset` was moved to.
  std::optional<std::uint64_t> moved_to(Generation generation, std::uint64_t offset) const;
  // The same of an address without a colour, as frames have them: only where the page is still being emptied or gone.
  std::optional<std::uint64_t> moved_from_page(std::uint64_t offset) const;

  // Copies the tables as they are now, so that they tell of this moment later too: for a heap that is copied while its
  // JVM stands.
  void keep(CachedMemory& memory) const;

  struct Emptied {
    std::vector<std::uint64_t> copied;  // offsets of objects that have a copy elsewhere, ascending
    bool in_place = false;              // objects are being moved within the page
  };
  // Of the ZPage at `page`, whose memory starts at `offset`; none where nothing is being moved out of it, and for 11.
  std::optional<Emptied> emptied(Address page, std::uint64_t offset) const;

 private:
  struct Forwarding {
    Address page = 0, entries = 0;
    std::uint64_t start = 0, size = 0, shift = 0, length = 0;
    std::int32_t users = 0;  // ZForwarding::_ref_count: 0 when all objects were moved and the page was given up
  };
  struct Entry {
    bool populated = false;
    std::uint64_t from_index = 0, to = 0;
  };

  const Vm& vm() const { return z_.vm(); }
  void keep_table(const ZVm::GranuleTable& table, CachedMemory& memory) const;
  void find_generations(Address heap, Address page_table);
  std::optional<Forwarding> find(Generation generation, std::uint64_t offset) const;
  std::optional<Forwarding> read(Address forwarding) const;
  std::optional<std::uint64_t> look_up(const Forwarding& in, std::uint64_t offset) const;
  std::optional<Forwarding> find_of_11(std::uint64_t offset) const;
  Entry decode(std::uint64_t entry) const;
  // Which cycle of this generation went on when a page came to be.
  std::optional<std::uint32_t> cycle_of(Address page, Generation generation) const;
  // Whether the page of this offset is of a later cycle of the generation than `page`: objects are copied out of pages
  // of earlier cycles into pages that come in this one.
  bool came_after(std::uint64_t offset, Address page, Generation generation) const;
  // Whether one of the pages that these words of a forwarding table lead to did.
  bool any_came_after(std::span<const std::uint64_t> words, Address page, Generation generation) const;

  ZVm z_;
  std::array<ZVm::GranuleTable, 2> tables_;  // ZForwarding*
  ZVm::GranuleTable pages_;
};

}  // namespace jtrace::coreinspect
