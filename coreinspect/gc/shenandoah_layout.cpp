// Shenandoah: regions of one size (shenandoahHeap.hpp, shenandoahHeapRegion.hpp).
#include <algorithm>
#include <array>

#include "base/strings.h"
#include "coreinspect/gc/heap_layout.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kMaxRegions = 1u << 20;

// ShenandoahHeapRegion::RegionState; the numbers are the same in JDK 11 to 27, and exported from 17 on.
enum State : std::int32_t {
  kEmptyUncommitted = 0,
  kEmptyCommitted = 1,
  kRegular = 2,
  kHumongousStart = 3,
  kHumongousContinues = 4,
  kPinnedHumongousStart = 5,
  kCollectionSet = 6,
  kPinned = 7,
  kPinnedCollectionSet = 8,
  kTrash = 9
};

class ShenandoahReader {
 public:
  ShenandoahReader(const Vm& vm, HeapLayout& layout) : vm_(vm), layout_(layout) {
    const TypeDatabase& types = vm.types();
    // JDK 11 does not export these offsets. Those of 17 are used, whose regions have the same size; find_regions()
    // checks that they fit.
    index_ = types.offset("ShenandoahHeapRegion", "_index").value_or(0);
    bottom_ = types.offset("ShenandoahHeapRegion", "_bottom").value_or(8);
    end_ = types.offset("ShenandoahHeapRegion", "_end").value_or(16);
    state_ = types.offset("ShenandoahHeapRegion", "_state").value_or(40);
    top_ = types.offset("ShenandoahHeapRegion", "_top").value_or(48);
  }

  Result<> read(Address heap) {
    JTRACE_ASSIGN_OR_RETURN(layout_.region_size,
                            vm_.read_static<std::uint64_t>("ShenandoahHeapRegion", "RegionSizeBytes"));
    JTRACE_ASSIGN_OR_RETURN(const auto count, vm_.read_field<std::uint64_t>(heap, "ShenandoahHeap", "_num_regions"));
    if (count == 0 || count > kMaxRegions)
      return fail(ErrorCategory::kMalformed, "a table of " + counted(count, "region"));
    Address table = 0;
    if (vm_.types().has("ShenandoahHeap", "_regions")) {
      JTRACE_ASSIGN_OR_RETURN(table, vm_.read_pointer(heap, "ShenandoahHeap", "_regions"));
    } else {
      JTRACE_ASSIGN_OR_RETURN(table, find_regions(heap, count));
    }
    std::vector<Address> pointers(count);
    JTRACE_RETURN_IF_ERROR(vm_.memory().read_exactly(table, std::as_writable_bytes(std::span(pointers))));
    std::size_t unreadable = 0;
    for (Address pointer : pointers)
      if (!add(pointer)) ++unreadable;
    if (unreadable > 0) layout_.missing.push_back(counted(unreadable, "region") + " could not be read");
    note_evacuation();
    return {};
  }

 private:
  // JDK 11: searches the heap object for a pointer to a table of consecutive regions, each with its number.
  Result<Address> find_regions(Address heap, std::uint64_t count) const {
    const auto size = vm_.types().size_of("ShenandoahHeap");
    if (!size || *size > 65536 || vm_.types().size_of("ShenandoahHeapRegion").value_or(0) != 96)
      return fail(Vm::no_field("ShenandoahHeap", "_regions"));
    std::vector<Address> words(*size / 8);
    JTRACE_RETURN_IF_ERROR(vm_.memory().read_exactly(heap, std::as_writable_bytes(std::span(words))));
    for (Address table : words)
      if (table != 0 && table % 8 == 0 && is_region_table(table, count)) return table;
    return fail(Vm::no_field("ShenandoahHeap", "_regions"));
  }
  bool is_region_table(Address table, std::uint64_t count) const {
    Address expected = 0;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, 8); ++i) {
      const auto region = vm_.memory().read<Address>(table + i * 8);
      if (!region || *region == 0 || *region % 8 != 0) return false;
      const auto index = vm_.memory().read<std::uint64_t>(*region + index_);
      const auto bottom = vm_.memory().read<Address>(*region + bottom_);
      const auto end = vm_.memory().read<Address>(*region + end_);
      if (!index || !bottom || !end || *index != i || *end - *bottom != layout_.region_size) return false;
      if (i > 0 && *bottom != expected) return false;
      expected = *end;
    }
    return true;
  }

  // Each worker copies into a buffer of its own, and nothing describes the buffer's unfilled end. Its contents are from
  // before the last collection: an old object there may reach over the end, and hides what lies after it.
  void note_evacuation() {
    const auto evacuated = std::count_if(layout_.regions.begin(), layout_.regions.end(), [](const HeapRegion& region) {
      return region.collection_set && region.used() > 0;
    });
    if (evacuated > 0)
      layout_.missing.push_back("regions that are being evacuated: " + std::to_string(evacuated) +
                                "; a few of the objects just copied may be missing");
  }

  Result<> add(Address at) {
    HeapRegion region;
    JTRACE_ASSIGN_OR_RETURN(region.start, vm_.memory().read<Address>(at + bottom_));
    JTRACE_ASSIGN_OR_RETURN(region.end, vm_.memory().read<Address>(at + end_));
    JTRACE_ASSIGN_OR_RETURN(region.top, vm_.memory().read<Address>(at + top_));
    JTRACE_ASSIGN_OR_RETURN(const auto state, vm_.memory().read<std::int32_t>(at + state_));
    region.forwarding = true;
    region.collection_set = state == kCollectionSet || state == kPinnedCollectionSet;
    if (state == kHumongousContinues && !layout_.regions.empty() && layout_.regions.back().one_object &&
        layout_.regions.back().end == region.start) {
      layout_.regions.back().end = region.end;
      if (region.top > region.start) layout_.regions.back().top = region.top;
      return {};
    }
    region.type = name_of(state);
    region.one_object = state == kHumongousStart || state == kPinnedHumongousStart;
    if (state == kEmptyUncommitted || state == kEmptyCommitted || state == kTrash) region.top = region.start;
    layout_.regions.push_back(region);
    return {};
  }
  static std::string_view name_of(std::int32_t state) {
    constexpr std::array<std::string_view, 10> names = {
        "free",      "free",           "regular", "humongous",      "humongous-continued",
        "humongous", "collection-set", "pinned",  "collection-set", "trash"};
    return state >= 0 && static_cast<std::size_t>(state) < names.size() ? names[static_cast<std::size_t>(state)]
                                                                        : "unknown";
  }

  const Vm& vm_;
  HeapLayout& layout_;
  std::uint64_t index_, bottom_, end_, state_, top_;
};

}  // namespace

Result<> read_shenandoah_layout(const Vm& vm, Address heap, HeapLayout& layout) {
  return ShenandoahReader(vm, layout).read(heap);
}

}  // namespace jtrace::coreinspect
