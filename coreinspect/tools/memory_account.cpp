#include "coreinspect/tools/memory_account.h"

#include <algorithm>
#include <map>
#include <set>

#include "target/pagemap.h"

namespace jtrace::coreinspect {
namespace {

using target::MappedPages;
using target::PageKind;
using target::PageRun;

// A view of ZGC's heap: a file in memory (zPhysicalMemoryBacking_linux.cpp, "java_heap").
bool is_heap_view(const MappedPages& pages) {
  const std::string_view name = pages.mapping.file_name();
  return name.starts_with("memfd:java_heap") || name.starts_with("java_heap.");
}

std::set<ino_t> libraries_of(const PagesOfMappings& mappings) {
  std::set<ino_t> files;
  for (const MappedPages& pages : mappings)
    if (pages.mapping.executable && pages.mapping.inode != 0) files.insert(pages.mapping.inode);
  return files;
}

// Bytes of ranges of a file, each byte once.
class FileRanges {
 public:
  void add(std::uint64_t start, std::uint64_t end) {
    if (end > start) ranges_.push_back({start, end});
  }
  std::uint64_t bytes() {
    std::sort(ranges_.begin(), ranges_.end(), [](const PageRun& a, const PageRun& b) { return a.start < b.start; });
    std::uint64_t sum = 0, at = 0;
    for (const PageRun& range : ranges_) {
      const std::uint64_t from = std::max(at, range.start);
      if (range.end > from) sum += range.end - from;
      at = std::max(at, range.end);
    }
    return sum;
  }

 private:
  std::vector<PageRun> ranges_;
};

class Accountant {
 public:
  explicit Accountant(Inspection& inspection) : inspection_(inspection), target_(inspection.target()) {}

  Result<MemoryAccount> take() {
    JTRACE_RETURN_IF_ERROR(read_mappings());
    heap_ = find_heap(inspection_, parts_, account_.missing);
    find_code(inspection_, parts_, account_.missing);
    find_stacks(inspection_, mappings_, parts_, account_.missing);
    find_metaspace(inspection_, mappings_, parts_, account_.missing);
    find_card_table(inspection_, parts_);
    find_data_of_libraries();
    account_.malloc = find_malloc(
        target_.memory(), mappings_, [&](Address at) { return is_present(at); }, parts_);
    find_own_ranges(inspection_, mappings_, pagemap_ ? &*pagemap_ : nullptr, parts_);
    for (const MappedPages& pages : mappings_)
      if (!is_heap_view(pages)) divide(pages);
    list_files();
    count_heap_views();
    for (const std::string& line : heap_.layout.missing) account_.missing.push_back(line);
    return std::move(account_);
  }

 private:
  Result<> read_mappings() {
    if (const target::Process* process = target_.process()) {
      JTRACE_ASSIGN_OR_RETURN(const std::string text, process->read_proc("smaps"));
      mappings_ = target::parse_smaps(text);
      pagemap_.emplace(*process);
      account_.has_pages = true;
    } else {
      for (const target::Mapping& mapping : target_.mappings()) mappings_.push_back({.mapping = mapping});
      account_.missing.push_back("a core has only addresses, not what was in memory");
    }
    for (const MappedPages& pages : mappings_) account_.rss += pages.rss;
    libraries_ = libraries_of(mappings_);
    return {};
  }

  bool is_present(Address at) const {
    if (!pagemap_) return true;
    bool present = false;
    pagemap_->visit(at, at + 1,
                    [&](const PageRun&, PageKind kind) { present = present || kind == PageKind::kPresent; });
    return present;
  }

  // What a library has in memory without a file (.bss) lies directly after its last page of the file.
  void find_data_of_libraries() {
    constexpr std::uint64_t kLargest = 16u << 20;
    for (std::size_t i = 1; i < mappings_.size(); ++i) {
      const target::Mapping &before = mappings_[i - 1].mapping, &mapping = mappings_[i].mapping;
      if (is_anonymous(mapping) && mapping.writable && before.writable && before.end == mapping.start &&
          libraries_.contains(before.inode) && mapping.size() <= kLargest)
        parts_.add(mapping.start, mapping.end, MemoryPart::kLibraries);
    }
    parts_.add(target_.libjvm().base(), target_.libjvm().end(), MemoryPart::kLibraries);
  }

  void add_file(const MappedPages& pages) {
    MappedFileBytes& file = files_[pages.mapping.path];
    ++file.mappings;
    file.bytes.bytes += pages.mapping.size();
    file.bytes.resident += pages.rss;
  }

  void list_files() {
    for (auto& [path, file] : files_) {
      file.path = path;
      account_.files.push_back(std::move(file));
    }
    std::stable_sort(account_.files.begin(), account_.files.end(),
                     [](const auto& a, const auto& b) { return a.bytes.bytes > b.bytes.bytes; });
  }

  struct Piece {
    Address start = 0, end = 0;
    MemoryPart part = MemoryPart::kUnknown;
    PartBytes found;
  };
  std::vector<Piece> pieces_of(const MappedPages& pages) const {
    const MemoryPart otherwise = part_of_mapping(pages, libraries_.contains(pages.mapping.inode));
    std::vector<Piece> pieces;
    parts_.visit(pages.mapping.start, pages.mapping.end, otherwise, [&](Address start, Address end, MemoryPart part) {
      if (part == MemoryPart::kHeapUnused && !pages.mapping.writable) part = MemoryPart::kHeapReserved;
      if (part == MemoryPart::kOwnRanges && part_of_mapping(pages, false) == MemoryPart::kReserved)
        part = MemoryPart::kReserved;
      pieces.push_back({start, end, part, {.bytes = end - start}});
    });
    return pieces;
  }

  void divide(const MappedPages& pages) {
    std::vector<Piece> pieces = pieces_of(pages);
    if (pieces.empty()) return;
    const bool one =
        std::all_of(pieces.begin(), pieces.end(), [&](const Piece& p) { return p.part == pieces[0].part; });
    if (!one && pages.rss + pages.swap > 0) {
      for (Piece& piece : pieces) count(piece);
      settle(pieces, &PartBytes::resident, pages.rss);
      settle(pieces, &PartBytes::swap, pages.swap);
    } else {
      pieces[0].found.resident = pages.rss;
      pieces[0].found.swap = pages.swap;
    }
    if (one && pieces[0].part == MemoryPart::kFiles) add_file(pages);
    for (const Piece& piece : pieces) {
      PartBytes& sum = account_.of(piece.part);
      sum.bytes += piece.found.bytes;
      sum.resident += piece.found.resident;
      sum.swap += piece.found.swap;
    }
  }
  void count(Piece& piece) const {
    pagemap_->visit(piece.start, piece.end, [&](const PageRun& run, PageKind kind) {
      const std::uint64_t bytes = std::min(run.end, piece.end) - std::max(run.start, piece.start);
      if (kind == PageKind::kPresent) piece.found.resident += bytes;
      if (kind == PageKind::kSwapped) piece.found.swap += bytes;
    });
  }
  // The JVM runs between the two readings: the difference goes to the parts that have most, as far as they have room.
  static void settle(std::vector<Piece>& pieces, std::uint64_t PartBytes::*figure, std::uint64_t whole) {
    std::uint64_t sum = 0;
    for (const Piece& piece : pieces) sum += piece.found.*figure;
    std::vector<PartBytes*> by_figure;
    for (Piece& piece : pieces) by_figure.push_back(&piece.found);
    std::sort(by_figure.begin(), by_figure.end(),
              [&](const PartBytes* a, const PartBytes* b) { return a->*figure > b->*figure; });
    for (PartBytes* part : by_figure) {
      const std::uint64_t more =
          sum < whole ? std::min(whole - sum, part->bytes - std::min(part->bytes, part->*figure)) : 0;
      const std::uint64_t less = sum > whole ? std::min(sum - whole, part->*figure) : 0;
      part->*figure += more - less;
      sum += more - less;
    }
  }

  // Pages of the heap by their place in the file: a view's address is the offset in the heap and the view's own bits.
  void count_heap_views() {
    FileRanges all, used, present, present_used;
    std::uint64_t views_rss = 0, views_bytes = 0;
    const Address mask = heap_offset_mask();
    for (const MappedPages& pages : mappings_) {
      if (!is_heap_view(pages)) continue;
      const target::Mapping& mapping = pages.mapping;
      const auto place = [&](Address at) { return mapping.offset + (at - mapping.start); };
      all.add(mapping.offset, place(mapping.end));
      account_.of(MemoryPart::kHeapUsed).swap += pages.swap;
      views_rss += pages.rss;
      views_bytes += mapping.size();
      const auto used_parts = used_in(mapping, mask);
      for (const PageRun& run : used_parts) used.add(place(run.start), place(run.end));
      if (pages.rss == 0 || !pagemap_) continue;
      pagemap_->visit(mapping.start, mapping.end, [&](const PageRun& run, PageKind kind) {
        if (kind != PageKind::kPresent) return;
        present.add(place(run.start), place(run.end));
        for (const PageRun& part : used_parts)
          present_used.add(place(std::max(part.start, run.start)), place(std::min(part.end, run.end)));
      });
    }
    if (views_bytes == 0) return;
    const std::uint64_t size = all.bytes(), once = std::min(present.bytes(), views_rss);
    const std::uint64_t of_used = std::min(present_used.bytes(), once), used_size = used.bytes();
    account_.heap_views = static_cast<unsigned>((views_bytes + size - 1) / size);
    account_.counted_again = views_rss - once;
    PartBytes& taken = account_.of(MemoryPart::kHeapUsed);
    PartBytes& rest = account_.of(MemoryPart::kHeapUnused);
    taken.bytes += used_size;
    taken.resident += of_used;
    rest.bytes += size - used_size;
    rest.resident += once - of_used;
  }
  Address heap_offset_mask() const {
    const auto z = ZVm::open(inspection_.vm());
    return z ? z->offset_mask() : 0;
  }
  std::vector<PageRun> used_in(const target::Mapping& mapping, Address mask) const {
    std::vector<PageRun> runs;
    for (const HeapRegion& region : heap_.layout.regions) {
      const Address start = (mapping.start & ~mask) | (region.start & mask);
      const Address end =
          start + ((region.used() + target::Pagemap::page_size() - 1) & ~(target::Pagemap::page_size() - 1));
      if (end > mapping.start && start < mapping.end)
        runs.push_back({std::max(start, mapping.start), std::min(end, mapping.end)});
    }
    return runs;
  }

  Inspection& inspection_;
  const target::Target& target_;
  PagesOfMappings mappings_;
  std::optional<target::Pagemap> pagemap_;
  std::set<ino_t> libraries_;
  PartMap parts_;
  HeapBounds heap_;
  MemoryAccount account_;
  std::map<std::string, MappedFileBytes> files_;
};

}  // namespace

std::uint64_t MemoryAccount::resident() const {
  std::uint64_t sum = 0;
  for (const PartBytes& part : parts) sum += part.resident;
  return sum;
}

std::uint64_t MemoryAccount::swapped() const {
  std::uint64_t sum = 0;
  for (const PartBytes& part : parts) sum += part.swap;
  return sum;
}

Result<MemoryAccount> take_memory_account(Inspection& inspection) { return Accountant(inspection).take(); }

}  // namespace jtrace::coreinspect
