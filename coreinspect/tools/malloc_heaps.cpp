#include "coreinspect/tools/malloc_heaps.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "coreinspect/gc/heap_source.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kHeapSize = 64u << 20;  // HEAP_MAX_SIZE: twice the largest mmap threshold
constexpr std::uint64_t kInUse = 1, kMapped = 2, kOfArena = 4, kFlags = 7;  // bits of a chunk's size
constexpr std::uint64_t kSmallest = 32;                                     // MINSIZE
constexpr std::uint64_t kSmallestBlock = 128u << 10;                        // DEFAULT_MMAP_THRESHOLD_MIN
// sizeof(malloc_state) is 2200 in glibc 2.26 to 2.42, other in others: the first chunk is searched between these.
constexpr std::uint64_t kSmallestState = 1024, kLargestState = 4096;

// heap_info: arena, previous heap, size, size with rights; from 2.35 on also the page size, and padding.
struct HeapInfo {
  Address arena = 0, previous = 0;
  std::uint64_t size = 0, accessible = 0;
};

bool is_possible(const HeapInfo& info, Address start, std::uint64_t room) {
  const Address home = info.arena & ~(kHeapSize - 1), inside = info.arena - home;
  const bool sizes = info.size > kSmallest && info.size <= info.accessible && info.accessible <= kHeapSize &&
                     info.size % kPage == 0 && info.accessible % kPage == 0 && info.accessible <= room;
  const bool first = home == start && info.previous == 0;
  const bool later = home != start && info.previous != 0 && info.previous % kHeapSize == 0;
  return sizes && info.arena % 16 == 0 && inside >= 0x20 && inside <= 0x40 && (first || later);
}

class Finder {
 public:
  Finder(const target::MemoryReader& memory, const std::vector<target::MappedPages>& mappings,
         const std::function<bool(Address)>& is_present, PartMap& parts)
      : memory_(memory), mappings_(mappings), is_present_(is_present), parts_(parts) {}

  MallocMemory find_arenas(std::uint64_t most) {
    most_ = most;
    for (const target::MappedPages& pages : mappings_)
      if (is_candidate(pages)) find_heaps(pages.mapping);
    confirm();
    return totals_;
  }
  MallocMemory find() {
    find_arenas(~0ull);
    for (const target::MappedPages& pages : mappings_)
      if (is_candidate(pages)) find_blocks(pages.mapping);
    return totals_;
  }

 private:
  static bool is_candidate(const target::MappedPages& pages) {
    return is_anonymous(pages.mapping) && pages.mapping.writable && pages.mapping.readable && pages.rss > 0;
  }

  void find_heaps(const target::Mapping& mapping) {
    for (Address at = (mapping.start + kHeapSize - 1) & ~(kHeapSize - 1); at < mapping.end; at += kHeapSize) {
      if (parts_.has(at) || !is_present_(at)) continue;
      const auto info = memory_.read<HeapInfo>(at);
      if (info && is_possible(*info, at, mapping.end - at))
        heaps_.push_back({at, info->size, info->arena, (info->arena & ~(kHeapSize - 1)) == at});
    }
  }

  // A further heap of an arena counts only if the first one was found too.
  void confirm() {
    std::set<Address> arenas;
    for (const MallocHeap& heap : heaps_)
      if (heap.first) arenas.insert(heap.arena);
    for (const MallocHeap& heap : heaps_) {
      if (!arenas.contains(heap.arena)) continue;
      parts_.add(heap.start, heap.start + kHeapSize, MemoryPart::kArenas);
      ++totals_.heaps;
      totals_.held += heap.size;
      if (read_ >= most_) {
        totals_.unread += heap.size;
        continue;
      }
      read_ += heap.size;
      const Address end = heap.start + heap.size;
      if (heap.first) walk_chunks(memory_, first_chunk(heap.arena, end), end, totals_);
      else walk_chunks(memory_, heap.start + (heap.arena & (kHeapSize - 1)), end, totals_);
    }
    totals_.arenas = arenas.size();
  }

  // The first chunk follows the malloc_state. Its flag says that the chunk before it is in use (there is none), and the
  // chunks after it all have the flag of an arena. `end` if there is no such chunk.
  Address first_chunk(Address arena, Address end) const {
    for (Address at = arena + kSmallestState; at <= arena + kLargestState && at + 16 <= end; at += 16) {
      std::uint64_t word = size_word(at);
      if ((word & kInUse) == 0) continue;
      Address next = at;
      int hops = 0;
      for (; hops < kHops && (word & kOfArena) != 0 && (word & kMapped) == 0; ++hops) {
        const std::uint64_t size = word & ~kFlags;
        if (size < kSmallest || size % 16 != 0 || size > end - next) break;
        next += size;
        if (next == end) return at;  // the top
        word = size_word(next);
      }
      if (hops == kHops) return at;
    }
    return end;
  }
  std::uint64_t size_word(Address at) const { return memory_.read<std::uint64_t>(at + 8).value_or(0); }

  // The chunk of a large block: what is before it in its first page, the block's size with its flag.
  void find_blocks(const target::Mapping& mapping) {
    std::uint64_t tries = 0;
    for (Address at = mapping.start; at < mapping.end && tries < kMostTries;) {
      const std::uint64_t size = parts_.has(at) ? 0 : block_at(at, mapping.end - at, tries);
      if (size > 0) {
        parts_.add(at, at + size, MemoryPart::kBlocks);
        ++totals_.blocks;
      }
      at += std::max(size, kPage);
    }
  }
  std::uint64_t block_at(Address at, std::uint64_t room, std::uint64_t& tries) {
    if (!is_present_(at)) return 0;
    ++tries;
    const auto chunk = memory_.read<std::array<std::uint64_t, 2>>(at);
    if (!chunk || (*chunk)[0] != 0 || ((*chunk)[1] & kFlags) != kMapped) return 0;
    // Up to glibc 2.42 the chunk is the mapping, later it ends 16 bytes before the mapping's end.
    std::uint64_t size = (*chunk)[1] & ~kFlags;
    if (size % kPage == kPage - 16) size += 16;
    return size % kPage == 0 && size >= kSmallestBlock && size <= room ? size : 0;
  }

  static constexpr int kHops = 3;
  static constexpr std::uint64_t kMostTries = 1u << 16;  // pages of one mapping: 256 MiB without a block

  const target::MemoryReader& memory_;
  const std::vector<target::MappedPages>& mappings_;
  const std::function<bool(Address)>& is_present_;
  PartMap& parts_;
  std::vector<MallocHeap> heaps_;
  MallocMemory totals_;
  std::uint64_t read_ = 0, most_ = ~0ull;  // bytes of heaps
};

}  // namespace

void walk_chunks(const target::MemoryReader& memory, Address at, Address end, MallocMemory& totals) {
  HeapSource source(memory);
  std::uint64_t pending = 0;  // size of the chunk before `at`, which is free if `at` says so
  while (at + 16 <= end) {
    const auto bytes = source.window(at, end, 16);
    if (bytes.size() < 16) break;
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + 8, sizeof word);
    const std::uint64_t size = word & ~kFlags;
    if ((word & kInUse) == 0) totals.free += pending;
    if (size == 0 && end - at <= kSmallest) return;  // the fence at the end of a heap that is full
    if (size < kSmallest / 2 || size % 16 != 0 || size > end - at) break;
    pending = size;
    if (at + size == end) {  // the top
      totals.free += size;
      return;
    }
    at += size;
  }
  totals.unparsable += end - at;
}

MallocMemory find_malloc(const target::MemoryReader& memory, const std::vector<target::MappedPages>& mappings,
                         const std::function<bool(Address)>& is_present, PartMap& parts) {
  return Finder(memory, mappings, is_present, parts).find();
}

MallocMemory find_arenas(const target::MemoryReader& memory, const std::vector<target::Mapping>& mappings,
                         const std::function<bool(Address)>& is_present, std::uint64_t most) {
  std::vector<target::MappedPages> pages;
  for (const target::Mapping& each : mappings) pages.push_back({.mapping = each, .rss = each.size()});
  PartMap parts;
  return Finder(memory, pages, is_present, parts).find_arenas(most);
}

}  // namespace jtrace::coreinspect
