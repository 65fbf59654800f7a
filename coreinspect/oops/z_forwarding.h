// ZForwardings: the new places of objects that ZGC has moved, from the tables that its load barrier uses for a stale
// reference.
//
// After a relocation a reference keeps its old value until it is loaded or the next marking updates it; the page to
// which it leads may be freed by then. ZForwardingTable, ZForwarding, ZForwardingEntry, ZGeneration, ZHash (HotSpot of
// JDK 17 to 27; X in place of Z for 21 without ZGenerational); for JDK 11 ZPage and ZForwardingTableEntry. The tables
// of the generational mode are not exported: ZHeap is searched for its two generations. Offsets are bytes from the
// start of ZGC's address space. Each call reads again, through the VM's cached memory. Ownership: borrows the VM.
// Threads: one at a time. Errors: what cannot be read counts as not moved.
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
  enum class Generation : std::uint8_t {
    kYoung,
    kOld
  };  // ZGenerationId; without generations both values mean the only table

  explicit ZForwardings(const ZVm& z);

  // False if the tables were not found.
  bool known() const { return tables_[0].map != 0 && tables_[1].map != 0; }
  // Whether objects were or are being moved out of the page at this offset.
  bool covers(Generation generation, std::uint64_t offset) const { return find(generation, offset).has_value(); }
  // New offset of the object that was at `offset`.
  std::optional<std::uint64_t> moved_to(Generation generation, std::uint64_t offset) const;
  // The same for an address without a colour, as frames have: only if the page is still being emptied, or is freed.
  std::optional<std::uint64_t> moved_from_page(std::uint64_t offset) const;

  // The places to which an object at `offset` was moved by either generation, whatever is there now: a frame may have
  // been updated before or after that.
  std::vector<std::uint64_t> new_places(std::uint64_t offset) const;

  // Copies the tables, so that they describe this moment later too: for a heap that is copied while its JVM is stopped.
  void keep(CachedMemory& memory) const;

  struct Emptied {
    std::vector<std::uint64_t> copied;  // offsets of objects that have a copy elsewhere, ascending
    std::vector<std::uint64_t> copies;  // offsets of those copies, in the order of the table
    bool in_place = false;              // objects are being moved within the page
  };
  // For the ZPage at `page`, whose memory starts at `offset`; nothing if no objects are being moved out of it.
  std::optional<Emptied> emptied(Address page, std::uint64_t offset) const;

 private:
  struct Forwarding {
    Address page = 0, entries = 0;
    std::uint64_t start = 0, size = 0, shift = 0, length = 0;
    // ZForwarding::_ref_count: 0 when all objects were moved and the page was released. JDK 11 has no such count: 0.
    std::int32_t users = 0;
  };
  struct Entry {
    bool populated = false;
    std::uint64_t from_index = 0, to = 0;
  };

  const Vm& vm() const { return z_.vm(); }
  void keep_table(const ZVm::GranuleTable& table, CachedMemory& memory) const;
  void keep_forwarding(Address entry, CachedMemory& memory) const;
  void find_generations(Address heap, Address page_table);
  std::optional<Forwarding> find(Generation generation, std::uint64_t offset) const;
  // `entry` of one of tables_.
  std::optional<Forwarding> read(Address entry) const { return z_.of_11() ? read_of_11(entry) : read_later(entry); }
  std::optional<Forwarding> read_later(Address forwarding) const;
  std::optional<Forwarding> read_of_11(Address entry) const;
  std::optional<std::uint64_t> look_up(const Forwarding& in, std::uint64_t offset) const;
  Entry decode(std::uint64_t entry) const;
  // The cycle of this generation in which the page was allocated.
  std::optional<std::uint32_t> cycle_of(Address page, Generation generation) const;
  // Address of the ZPage at this offset; 0 if there is none.
  Address page_at(std::uint64_t offset) const;
  // Whether the page at this offset is of a later cycle of the generation than `page`: objects are copied out of pages
  // of earlier cycles into pages that are allocated in this one.
  bool was_allocated_later(std::uint64_t offset, Address page, Generation generation) const;
  // Whether was_allocated_later() holds for one of the pages of these words of a forwarding table.
  bool any_was_allocated_later(std::span<const std::uint64_t> words, Address page, Generation generation) const;

  ZVm z_;
  std::array<ZVm::GranuleTable, 2> tables_;  // ZForwarding*; of JDK 11 its pages, each of which has its own table
  ZVm::GranuleTable pages_;
};

}  // namespace jtrace::coreinspect
