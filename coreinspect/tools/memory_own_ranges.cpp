// Ranges that the JVM mapped for itself, found through its own data: VirtualSpace and its like hold the two ends of a
// range (virtualspace.hpp, psVirtualspace.hpp, g1PageBasedVirtualSpace.hpp), ReservedSpace start and size
// (reservedSpace.hpp), a bitmap or an array its start (bitMap.hpp). These objects are allocated when the JVM starts,
// near its CollectedHeap, or are variables of libjvm.so.
#include <algorithm>
#include <cstring>
#include <span>

#include "coreinspect/tools/memory_owners.h"

namespace jtrace::coreinspect {
namespace {

using target::PageKind;
using target::PageRun;

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kWindow = 8u << 20;  // of the memory near the CollectedHeap, on each side of it
constexpr std::size_t kNear = 3;             // words between the two ends of a range

// Anonymous memory of no part, of any rights, as one range where it is adjacent.
std::vector<PageRun> runs_of_no_part(const PagesOfMappings& mappings, const PartMap& parts) {
  std::vector<PageRun> runs;
  for (const target::MappedPages& pages : mappings) {
    if (!is_anonymous(pages.mapping)) continue;
    parts.visit(pages.mapping.start, pages.mapping.end, MemoryPart::kUnknown,
                [&](Address start, Address end, MemoryPart part) {
                  if (part != MemoryPart::kUnknown) return;
                  if (!runs.empty() && runs.back().end == start) runs.back().end = end;
                  else runs.push_back({start, end});
                });
  }
  return runs;
}

class Searcher {
 public:
  Searcher(const PagesOfMappings& mappings, const target::Pagemap* pages, PartMap& parts)
      : mappings_(mappings), pages_(pages), parts_(parts), runs_(runs_of_no_part(mappings, parts)) {}

  void search(const target::MemoryReader& memory, Address start, Address end) {
    if (runs_.empty() || end <= start) return;
    if (!pages_) return search_present(memory, start, end);
    std::vector<PageRun> present;
    pages_->visit(start, end, [&](const PageRun& run, PageKind kind) {
      if (kind == PageKind::kPresent) present.push_back(run);
    });
    for (const PageRun& run : present) search_present(memory, std::max(start, run.start), std::min(end, run.end));
  }

 private:
  void search_present(const target::MemoryReader& memory, Address start, Address end) {
    std::vector<Address> words((end - start) / sizeof(Address));
    if (!memory.read_exactly(start, std::as_writable_bytes(std::span(words)))) return;
    for (std::size_t i = 0; i < words.size(); ++i)
      if (const PageRun* run = run_of(words[i])) take(*run, std::span(words).subspan(i));
  }

  const PageRun* run_of(Address word) const {
    if (word % kPage != 0 || word < runs_.front().start || word >= runs_.back().end) return nullptr;
    const auto after =
        std::upper_bound(runs_.begin(), runs_.end(), word, [](Address at, const PageRun& run) { return at < run.end; });
    return after != runs_.end() && word >= after->start ? &*after : nullptr;
  }

  // `words`: from the one that is an address in `run` on.
  void take(const PageRun& run, std::span<const Address> words) {
    const Address start = words[0];
    for (std::size_t i = 1; i <= kNear && i < words.size(); ++i)
      if (words[i] % kPage == 0 && words[i] > start && words[i] <= run.end)
        return parts_.add(start, words[i], MemoryPart::kOwnRanges);
    if (const std::uint64_t size = words.size() > 1 ? size_of(run, start, words[1]) : 0; size > 0)
      return parts_.add(start, start + size, MemoryPart::kOwnRanges);
    for (const target::MappedPages& pages : mappings_)
      if (pages.mapping.start == start) parts_.add(start, std::min(run.end, pages.mapping.end), MemoryPart::kOwnRanges);
  }

  // A size in bytes, or in words (MemRegion) where what it makes ends with a mapping; 0: it is none.
  std::uint64_t size_of(const PageRun& run, Address start, std::uint64_t word) const {
    const std::uint64_t room = run.end - start;
    if (word < kPage / 8 || word > room || word * 8 % kPage != 0) return 0;
    if (word * 8 <= room && ends_a_mapping(start + word * 8)) return word * 8;
    return word % kPage == 0 ? word : 0;
  }
  bool ends_a_mapping(Address at) const {
    return std::any_of(mappings_.begin(), mappings_.end(), [&](const auto& pages) { return pages.mapping.end == at; });
  }

  const PagesOfMappings& mappings_;
  const target::Pagemap* pages_;
  PartMap& parts_;
  const std::vector<PageRun> runs_;
};

// Shenandoah keeps its regions' descriptions in a range whose bounds it does not keep.
void add_shenandoah_regions(const Vm& vm, PartMap& parts) {
  constexpr std::uint64_t kMostRegions = 1u << 20;
  const auto heap = vm.read_static<Address>("Universe", "_collectedHeap");
  if (vm.collector() != "Shenandoah" || !heap) return;
  const auto table = vm.read_pointer(*heap, "ShenandoahHeap", "_regions");
  const auto count = vm.read_field<std::uint64_t>(*heap, "ShenandoahHeap", "_num_regions");
  if (!table || !count || *count < 2 || *count > kMostRegions) return;
  std::vector<Address> regions(*count);
  if (!vm.memory().read_exactly(*table, std::as_writable_bytes(std::span(regions)))) return;
  const auto [first, last] = std::minmax_element(regions.begin(), regions.end());
  const Address stride = (*last - *first) / (*count - 1);
  if (*first != 0 && stride < kPage && stride * (*count - 1) == *last - *first)
    parts.add(*first, *last + stride, MemoryPart::kOwnRanges);
}

void add_mark_stacks(const Vm& vm, const PagesOfMappings& mappings, PartMap& parts) {
  const Address start = vm.quirks().z_mark_stacks;
  if (start == 0 || vm.collector() != "Z") return;
  for (const target::MappedPages& pages : mappings)
    if (pages.mapping.start == start && is_anonymous(pages.mapping))
      parts.add(start, pages.mapping.end, MemoryPart::kOwnRanges);
}

}  // namespace

void find_own_ranges(Inspection& inspection, const PagesOfMappings& mappings, const target::Pagemap* pages,
                     PartMap& parts) {
  add_shenandoah_regions(inspection.vm(), parts);
  add_mark_stacks(inspection.vm(), mappings, parts);
  Searcher searcher(mappings, pages, parts);
  const target::MemoryReader& memory = inspection.target().memory();
  const auto& image = inspection.target().libjvm();
  const Address heap = inspection.vm().read_static<Address>("Universe", "_collectedHeap").value_or(0);
  for (const target::MappedPages& each : mappings) {
    const target::Mapping& mapping = each.mapping;
    if (!mapping.readable || !mapping.writable) continue;
    if (mapping.start >= image.base() && mapping.start < image.end())
      searcher.search(memory, mapping.start, std::min(mapping.end, image.end()));
    else if (mapping.contains(heap))
      searcher.search(memory, heap - std::min(heap - mapping.start, kWindow),
                      heap + std::min(mapping.end - heap, kWindow));
  }
}

}  // namespace jtrace::coreinspect
