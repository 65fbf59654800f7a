// ZGC: pages of several sizes, found through the table that maps granules of 2 MB to pages (zHeap.hpp, zPageTable.hpp,
// zPage.hpp, zAddress.hpp; xHeap.hpp and so on in 21 without ZGenerational). While it empties a page, objects stand
// there and where they were copied to: the page's forwarding table tells which.
#include <algorithm>
#include <bit>

#include "base/strings.h"
#include "coreinspect/gc/heap_layout.h"
#include "coreinspect/oops/z_forwarding.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kGranule = 2u << 20;         // ZGranuleSize
constexpr std::uint64_t kMaxGranules = 1ull << 26;   // of a heap of 128 TB
constexpr std::uint64_t kMaxMediumPage = 32u << 20;  // ZHeuristics::set_medium_page_size
constexpr int kMediumAlignmentShift = 13;            // objects in a medium page: page size over this
constexpr std::uint64_t kGranulesOf11 = 1ull << 21;  // ZPageTable of 11 covers 4 TB

class ZReader {
 public:
  ZReader(const Vm& vm, HeapLayout& layout)
      : vm_(vm),
        layout_(layout),
        x_(vm.types().has("XGlobalsForVMStructs", "_instance_p") && !vm.flag_is_true("ZGenerational")),
        letter_(x_ ? "X" : "Z"),
        forwardings_(vm) {}

  Result<> read(Address heap) {
    JTRACE_RETURN_IF_ERROR(read_masks());
    const std::string type = letter_ + "Heap";
    const auto inner = vm_.types().offset(letter_ + "CollectedHeap", "_heap");
    auto table = vm_.types().offset(type, "_page_table");
    if (!table) table = vm_.types().offset(type, "_pagetable");  // 11
    if (!inner || !table) return fail(Vm::no_field(type, "_page_table"));
    JTRACE_ASSIGN_OR_RETURN(const auto pages, page_addresses(heap + *inner + *table));
    std::size_t unreadable = 0;
    for (Address page : pages)
      if (!add(page)) ++unreadable;
    if (unreadable > 0) layout_.missing.push_back(std::to_string(unreadable) + " pages could not be read");
    if (compacted_ > 0)
      layout_.missing.push_back(std::to_string(compacted_) +
                                " bytes are in pages that are compacted in place just now: objects may be counted "
                                "twice or missing");
    // The pages stay until the next cycle.
    if (relocating_ > 0)
      layout_.missing.push_back(std::to_string(relocating_) +
                                " bytes are in pages that the ZGC of 11 empties: objects may be counted twice");
    if (!forwardings_.known())
      layout_.missing.push_back("the tables of moved objects were not found: objects may be counted twice");
    return {};
  }

 private:
  // The globals are pointers to the collector's variables.
  std::optional<std::uint64_t> global(Address instance, const std::string& name) const {
    const auto at = vm_.read_pointer(instance, letter_ + "GlobalsForVMStructs", name);
    const auto value = at ? vm_.memory().read<std::uint64_t>(*at) : Result<std::uint64_t>(std::uint64_t{0});
    return at && value ? std::optional(*value) : std::nullopt;
  }
  Result<> read_masks() {
    JTRACE_ASSIGN_OR_RETURN(const Address instance,
                            vm_.read_static<Address>(letter_ + "GlobalsForVMStructs", "_instance_p"));
    generational_ = !x_ && vm_.types().has("ZGlobalsForVMStructs", "_ZPointerLoadShift");
    if (generational_) layout_.collector = "Z generational";
    const auto good = global(instance, "_" + letter_ + "AddressGoodMask");
    if (const auto mask = global(instance, "_" + letter_ + "AddressOffsetMask")) offset_mask_ = *mask;
    else offset_mask_ = (1ull << 42) - 1;  // 11: ZAddressOffsetBits
    // Generational: ZAddressHeapBase, the bit above the offset. Else the colour that is good at this moment.
    base_ = generational_ ? offset_mask_ + 1 : good.value_or(0);
    if (base_ == 0) return fail(ErrorCategory::kMalformed, "the address masks of ZGC cannot be read");
    const VmFlag* flag = vm_.flag("MaxHeapSize");
    const auto max = flag ? parse_decimal<std::uint64_t>(flag->value) : std::nullopt;
    const std::uint64_t medium = std::clamp(std::bit_floor(max.value_or(0) / 32), kGranule, kMaxMediumPage);
    medium_alignment_ = vm_.feature() < 15 ? kMaxMediumPage >> kMediumAlignmentShift : medium >> kMediumAlignmentShift;
    return {};
  }

  Result<std::vector<Address>> page_addresses(Address table) const {
    std::uint64_t count = kGranulesOf11;
    Address map = 0;
    const std::string granules = letter_ + "GranuleMapForPageTable";
    const bool of_11 = !vm_.types().has(granules, "_map");
    if (of_11) {
      JTRACE_ASSIGN_OR_RETURN(map, vm_.read_pointer(table, "ZAddressRangeMapForPageTable", "_map"));
    } else {
      JTRACE_ASSIGN_OR_RETURN(count, vm_.memory().read<std::uint64_t>(table));  // ZGranuleMap::_size
      JTRACE_ASSIGN_OR_RETURN(map, vm_.read_pointer(table, granules, "_map"));
    }
    if (count > kMaxGranules)
      return fail(ErrorCategory::kMalformed, "a page table of " + std::to_string(count) + " entries");
    std::vector<Address> pages;
    std::vector<Address> part(65536);
    for (std::uint64_t done = 0; done < count; done += part.size()) {
      const std::span<Address> wanted(part.data(), std::min<std::uint64_t>(part.size(), count - done));
      // A core leaves pages of zeros out.
      if (!vm_.memory().read_exactly(map + done * 8, std::as_writable_bytes(wanted))) continue;
      for (Address entry : wanted) {
        if (entry != 0 && (pages.empty() || pages.back() != entry)) pages.push_back(entry);
      }
    }
    std::sort(pages.begin(), pages.end());
    pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
    return pages;
  }

  // `page`: with the flag of ZPageTableEntry (11) in bit 0: objects are being copied out of it.
  Result<> add(Address page) {
    const bool relocating = (page & 1) != 0;
    page &= ~Address{1};
    const std::string type = letter_ + "Page", memory = letter_ + "VirtualMemory";
    const auto virtual_memory = vm_.types().offset(type, "_virtual");
    if (!virtual_memory) return fail(Vm::no_field(type, "_virtual"));
    const Address at = page + *virtual_memory;
    JTRACE_ASSIGN_OR_RETURN(const auto kind, vm_.read_field<std::uint8_t>(page, type, "_type"));
    JTRACE_ASSIGN_OR_RETURN(const auto start, vm_.read_field<std::uint64_t>(at, memory, "_start"));
    std::uint64_t end = 0;
    if (vm_.types().has(memory, "_end")) {
      JTRACE_ASSIGN_OR_RETURN(end, vm_.read_field<std::uint64_t>(at, memory, "_end"));
    } else {
      JTRACE_ASSIGN_OR_RETURN(const auto size, vm_.read_field<std::uint64_t>(at, memory, "_size"));
      end = start + size;
    }
    // 11 does not export it: it stands after _virtual.
    JTRACE_ASSIGN_OR_RETURN(
        const auto top,
        vm_.memory().read<std::uint64_t>(page + vm_.types().offset(type, "_top").value_or(*virtual_memory + 16)));
    HeapRegion region;
    region.start = (start & offset_mask_) | base_;
    region.end = region.start + (end - start);
    region.top = region.start + ((top & offset_mask_) - (start & offset_mask_));
    region.type = kind == 0 ? "small" : kind == 1 ? "medium" : kind == 2 ? "large" : "unknown";
    region.one_object = kind == 2;
    region.zeros_unused = true;
    if (kind == 1) region.alignment = static_cast<std::uint32_t>(medium_alignment_);
    if (relocating) {
      region.type = "relocating";
      relocating_ += region.used();
    }
    add_copied(page, start & offset_mask_, region);
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
  }

  const Vm& vm_;
  HeapLayout& layout_;
  const bool x_;
  const std::string letter_;
  const ZForwardings forwardings_;
  bool generational_ = false;
  std::uint64_t offset_mask_ = 0, base_ = 0, medium_alignment_ = 0;
  std::uint64_t relocating_ = 0, compacted_ = 0;  // bytes of pages
};

}  // namespace

Result<> read_z_layout(const Vm& vm, Address heap, HeapLayout& layout) { return ZReader(vm, layout).read(heap); }

}  // namespace jtrace::coreinspect
