// G1: regions of one size (g1CollectedHeap.hpp, heapRegion.hpp, heapRegionType.hpp, heapRegionManager.hpp; with the
// prefix G1 from JDK 24 on).
#include <array>

#include "base/strings.h"
#include "coreinspect/gc/heap_layout.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kMaxRegions = 1u << 20;

class G1Reader {
 public:
  G1Reader(const Vm& vm, HeapLayout& layout)
      : vm_(vm),
        layout_(layout),
        prefix_(vm.types().size_of("G1HeapRegion") ? "G1" : ""),
        region_(prefix_ + "HeapRegion") {
    // Humongous and archive are bits of the tag (heapRegionType.hpp). Their numbers differ between JDKs; JDK 8 exports
    // none.
    const std::string type = prefix_ + "HeapRegionType::";
    const auto tag = [&](const char* name) { return vm.types().constant(type + name).value_or(-1); };
    free_ = tag("FreeTag");
    eden_ = tag("EdenTag");
    survivor_ = tag("SurvTag");
    humongous_start_ = tag("StartsHumongousTag");
    humongous_continues_ = tag("ContinuesHumongousTag");
    archive_ = tag("ArchiveMask");
  }

  Result<> read(Address heap) {
    JTRACE_ASSIGN_OR_RETURN(layout_.region_size, vm_.read_static<std::uint64_t>(region_, "GrainBytes"));
    const auto manager = vm_.types().offset("G1CollectedHeap", "_hrm");
    const auto table = vm_.types().offset(prefix_ + "HeapRegionManager", "_regions");
    if (!manager || !table) return fail(Vm::no_field("G1CollectedHeap", "_hrm"));
    const Address regions = heap + *manager + *table;
    JTRACE_ASSIGN_OR_RETURN(const Address base, vm_.read_pointer(regions, "G1HeapRegionTable", "_base"));
    JTRACE_ASSIGN_OR_RETURN(const auto length, vm_.read_field<std::uint64_t>(regions, "G1HeapRegionTable", "_length"));
    if (length > kMaxRegions) return fail(ErrorCategory::kMalformed, "a table of " + counted(length, "region"));
    std::vector<Address> pointers(length);
    JTRACE_RETURN_IF_ERROR(vm_.memory().read_exactly(base, std::as_writable_bytes(std::span(pointers))));
    std::size_t unreadable = 0;
    for (Address pointer : pointers)
      if (pointer != 0 && !add(pointer)) ++unreadable;
    if (unreadable > 0) layout_.missing.push_back(counted(unreadable, "region") + " could not be read");
    return {};
  }

 private:
  Result<Address> bound(Address region, const char* name) const {
    const auto offset = vm_.types().offset({region_, "G1ContiguousSpace", "G1OffsetTableContigSpace", "Space"}, name);
    if (!offset) return fail(Vm::no_field(region_, name));
    return vm_.memory().read<Address>(region + *offset);
  }

  Result<> add(Address at) {
    HeapRegion region;
    JTRACE_ASSIGN_OR_RETURN(region.start, bound(at, "_bottom"));
    JTRACE_ASSIGN_OR_RETURN(region.end, bound(at, "_end"));
    JTRACE_ASSIGN_OR_RETURN(region.top, bound(at, "_top"));
    std::int64_t tag = -2;
    if (const auto type = vm_.types().offset(region_, "_type")) {
      JTRACE_ASSIGN_OR_RETURN(tag, vm_.read_field<std::int32_t>(at + *type, prefix_ + "HeapRegionType", "_tag"));
    } else if (region.start < covered_) {  // JDK 8: the end of a humongous object's first region is the end of its last
      return {};
    } else if (region.end - region.start > layout_.region_size) {
      tag = humongous_start_ = -3;
    }
    describe(region, tag);
    if (tag == humongous_start_) covered_ = region.end;
    if (tag == humongous_continues_ && join(region)) return {};
    layout_.regions.push_back(region);
    return {};
  }

  // Regions that continue an object are joined to the region where it starts.
  bool join(const HeapRegion& part) {
    if (layout_.regions.empty()) return false;
    HeapRegion& first = layout_.regions.back();
    if (!first.one_object || first.end != part.start) return false;
    first.end = part.end;
    if (part.top > part.start) first.top = part.top;
    return true;
  }

  void describe(HeapRegion& region, std::int64_t tag) const {
    region.young = tag == eden_ || tag == survivor_;
    region.one_object = tag == humongous_start_;
    if (tag == -2) region.type = region.top == region.start ? "free" : "regular";  // JDK 8 does not export it
    else if (tag == free_) region.type = "free";
    else if (tag == eden_) region.type = "eden";
    else if (tag == survivor_) region.type = "survivor";
    else if (tag == humongous_start_) region.type = "humongous";
    else if (tag == humongous_continues_) region.type = "humongous-continued";
    else region.type = archive_ > 0 && (tag & archive_) != 0 ? "archive" : "old";
    if (region.type == "free") region.top = region.start;
  }

  const Vm& vm_;
  HeapLayout& layout_;
  const std::string prefix_, region_;
  std::int64_t free_, eden_, survivor_, humongous_start_, humongous_continues_, archive_;
  Address covered_ = 0;
};

}  // namespace

Result<> read_g1_layout(const Vm& vm, Address heap, HeapLayout& layout) { return G1Reader(vm, layout).read(heap); }

}  // namespace jtrace::coreinspect
