// ZGC: pages of several sizes, found through the table that maps granules of 2 MB to pages (zHeap.hpp, zPageTable.hpp,
// zPage.hpp, zAddress.hpp; xHeap.hpp and so on in JDK 21 without ZGenerational). While ZGC relocates the objects of a
// page, they are both in the page and at their new place; the page's forwarding table has the new place.
#include <algorithm>
#include <bit>

#include "base/strings.h"
#include "coreinspect/gc/heap_layout.h"
#include "coreinspect/oops/z_forwarding.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kMaxGranules = 1ull << 26;   // for a heap of 128 TB
constexpr std::uint64_t kMaxMediumPage = 32u << 20;  // ZHeuristics::set_medium_page_size
constexpr int kMediumAlignmentShift = 13;  // alignment of objects in a medium page: page size shifted right by this

// The bits above the offset: with generations ZAddressHeapBase, otherwise the colour that is good at this moment.
Result<std::uint64_t> view_base(const ZVm& z) {
  const std::uint64_t base = z.generational() ? z.offset_mask() + 1 : z.good_mask();
  if (base == 0) return fail(ErrorCategory::kMalformed, "the address masks of ZGC cannot be read");
  return base;
}

class ZReader {
 public:
  ZReader(const ZVm& z, HeapLayout& layout) : z_(z), vm_(z.vm()), layout_(layout), forwardings_(z) {}

  Result<> read() {
    JTRACE_RETURN_IF_ERROR(find_base());
    JTRACE_ASSIGN_OR_RETURN(const auto pages, page_addresses());
    std::size_t unreadable = 0;
    for (Address page : pages)
      if (!add(page)) ++unreadable;
    place_copies();
    if (unreadable > 0) layout_.missing.push_back(counted(unreadable, "page") + " could not be read");
    if (compacted_ > 0)
      layout_.missing.push_back(std::to_string(compacted_) +
                                " bytes are in pages that are being compacted in place: objects may be counted "
                                "twice or missing");
    if (!forwardings_.known())
      layout_.missing.push_back("the tables of moved objects were not found: objects may be counted twice");
    return {};
  }

 private:
  Result<> find_base() {
    if (z_.generational()) layout_.collector = "Z generational";
    JTRACE_ASSIGN_OR_RETURN(base_, view_base(z_));
    const VmFlag* flag = vm_.flag("MaxHeapSize");
    const auto max = flag ? parse_decimal<std::uint64_t>(flag->value) : std::nullopt;
    const std::uint64_t medium =
        std::clamp(std::bit_floor(max.value_or(0) / 32), std::uint64_t{1} << ZVm::kGranuleShift, kMaxMediumPage);
    medium_alignment_ = vm_.feature() < 15 ? kMaxMediumPage >> kMediumAlignmentShift : medium >> kMediumAlignmentShift;
    return {};
  }

  Result<std::vector<Address>> page_addresses() const {
    JTRACE_ASSIGN_OR_RETURN(const auto table, z_.pages());
    if (table.count > kMaxGranules)
      return fail(ErrorCategory::kMalformed, "a page table of " + counted(table.count, "entry", "entries"));
    std::vector<Address> pages;
    table.visit(vm_, [&](Address, std::span<const Address> entries) {
      for (Address entry : entries)
        if (entry != 0 && (pages.empty() || pages.back() != entry)) pages.push_back(entry);
    });
    std::sort(pages.begin(), pages.end());
    pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
    return pages;
  }

  // The ZGC of JDK 11 has the pages that it has freed in its table still. _refcount, which is not exported, is before
  // the aligned _forwarding.
  bool is_free(Address page) const {
    const auto forwarding = vm_.types().offset("ZPage", "_forwarding");
    return z_.of_11() && forwarding && vm_.memory().read<std::uint32_t>(page + *forwarding - 8).value_or(1) == 0;
  }

  // `entry` of the page table.
  Result<> add(Address entry) {
    const Address page = ZVm::page_of(entry);
    if (is_free(page)) return {};
    const std::string type = z_.type("Page");
    const auto virtual_memory = vm_.types().offset(type, "_virtual");
    if (!virtual_memory) return fail(Vm::no_field(type, "_virtual"));
    JTRACE_ASSIGN_OR_RETURN(const auto kind, vm_.read_field<std::uint8_t>(page, type, "_type"));
    JTRACE_ASSIGN_OR_RETURN(const auto range, z_.range(page + *virtual_memory));
    // JDK 11 does not export it: it follows _virtual.
    JTRACE_ASSIGN_OR_RETURN(
        const auto top,
        vm_.memory().read<std::uint64_t>(page + vm_.types().offset(type, "_top").value_or(*virtual_memory + 16)));
    HeapRegion region;
    const std::uint64_t offset = range.start & z_.offset_mask();
    region.start = offset | base_;
    region.end = region.start + range.size;
    region.top = region.start + ((top & z_.offset_mask()) - offset);
    region.type = kind == 0 ? "small" : kind == 1 ? "medium" : kind == 2 ? "large" : "unknown";
    region.one_object = kind == 2;
    region.zeros_unused = true;
    if (kind == 1) region.alignment = static_cast<std::uint32_t>(medium_alignment_);
    add_copied(page, offset, region);
    layout_.regions.push_back(std::move(region));
    return {};
  }
  void add_copied(Address page, std::uint64_t offset, HeapRegion& region) {
    auto emptied = forwardings_.emptied(page, offset);
    if (!emptied) return;
    region.type = "relocating";
    if (emptied->in_place) {
      compacted_ += region.used();
      return;
    }
    region.copied = std::move(emptied->copied);
    for (Address& each : region.copied) each |= base_;
    for (const std::uint64_t each : emptied->copies) copies_.push_back(each | base_);
  }
  void place_copies() {
    std::sort(copies_.begin(), copies_.end());
    for (HeapRegion& region : layout_.regions) {
      const auto first = std::lower_bound(copies_.begin(), copies_.end(), region.start);
      region.starts.assign(first, std::lower_bound(first, copies_.end(), region.top));
    }
  }

  const ZVm& z_;
  const Vm& vm_;
  HeapLayout& layout_;
  const ZForwardings forwardings_;
  std::uint64_t base_ = 0, medium_alignment_ = 0;
  std::vector<Address> copies_;  // of all pages
  std::uint64_t compacted_ = 0;  // bytes of pages
};

}  // namespace

Result<> read_z_layout(const Vm& vm, HeapLayout& layout) {
  JTRACE_ASSIGN_OR_RETURN(const ZVm z, ZVm::open(vm));
  return ZReader(z, layout).read();
}

// A thread's buffer keeps the colour of its allocation until the thread runs again (ZThreadLocalAllocBuffer::remap,
// called by the watermark of its stack). The regions are at the good colour.
Result<std::vector<AddressRange>> read_z_holes(const Vm& vm) {
  JTRACE_ASSIGN_OR_RETURN(const ZVm z, ZVm::open(vm));
  JTRACE_ASSIGN_OR_RETURN(const std::uint64_t base, view_base(z));
  JTRACE_ASSIGN_OR_RETURN(auto holes, read_tlab_holes(vm));
  for (AddressRange& hole : holes) {
    const std::uint64_t size = hole.end - hole.start;
    hole.start = (hole.start & z.offset_mask()) | base;
    hole.end = hole.start + size;
    hole.buffer = (hole.buffer & z.offset_mask()) | base;
  }
  std::sort(holes.begin(), holes.end(), [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
  return holes;
}

}  // namespace jtrace::coreinspect
