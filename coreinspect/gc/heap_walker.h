// HeapWalker: passes the objects of a region to a visitor, one after the other, and counts the bytes between them.
//
// A template, so that the visitor is compiled into the loop: it handles tens of millions of objects a second. What
// cannot be parsed (not a class, an object beyond the region's end, missing memory) is counted and never guessed: the
// walk continues at the next place where a chain of objects begins. Ownership: borrows. Threads: each has a walker of
// its own; the table may be shared.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <vector>

#include "coreinspect/gc/heap_layout.h"
#include "coreinspect/gc/heap_source.h"
#include "coreinspect/gc/klass_table.h"

namespace jtrace::coreinspect {

// Layout of object headers in this VM (oop.hpp, markWord.hpp).
struct HeaderShape {
  bool compact = false, narrow_klass = true;
  Address klass_base = 0;
  std::uint32_t klass_shift = 0, mark_klass_shift = 42;
  std::uint32_t length_offset = 12;  // of an array
  // CMS: bits of a free chunk's mark word (freeChunk.hpp).
  std::uint32_t cms_shift = 7, cms_size_shift = 8;
  bool compressed_oops = true;
  std::uint64_t alignment = 8;     // of objects
  std::uint64_t cms_minimum = 24;  // smallest chunk in bytes; an object takes at least as much
};
HeaderShape header_shape(const ObjectModel& objects);

struct WalkTotals {
  std::uint64_t objects = 0, bytes = 0;  // passed to the visitor
  std::uint64_t holes = 0;               // bytes of allocation buffers that are not filled yet
  std::uint64_t free = 0;       // of free chunks, of room that is not allocated, of fillers after large objects
  std::uint64_t forwarded = 0;  // of objects that were copied to another place
  std::uint64_t unparsable = 0, unreadable = 0;  // bytes
  std::uint64_t breaks = 0;                      // places at which the chain of objects ended
  WalkTotals& operator+=(const WalkTotals& other);
};

struct HeapObject {
  Address address = 0;
  std::uint64_t size = 0;  // bytes, a multiple of the VM's alignment
  const KlassInfo* klass = nullptr;
  const std::byte* bytes = nullptr;
  std::size_t available = 0;  // number of its bytes that can be read here; less than size if it is large
  std::uint32_t length = 0;   // of an array
};

class HeapWalker {
 public:
  // `want`: bytes of each object that the visitor needs (up to HeapSource::kPiece). Of larger objects it gets the
  // beginning.
  HeapWalker(KlassTable& table, const HeaderShape& shape, const target::MemoryReader& memory, std::size_t want = 32)
      : table_(table), shape_(shape), memory_(memory), source_(memory), want_(std::max<std::size_t>(want, kHeader)) {
    cache_.fill({});
  }

  // Calls visitor(const HeapObject&) for each object from `from` (an object's address, or region.start) up to
  // region.top.
  template <class Visitor>
  void walk(const HeapRegion& region, const std::vector<AddressRange>& holes, Address from, Visitor&& visitor);

  // Called every few megabytes with the progress in the region; false ends the walk of the region.
  void set_tick(std::function<bool(std::uint64_t of_region)> tick) { tick_ = std::move(tick); }
  const WalkTotals& totals() const { return totals_; }
  void reset_totals() { totals_ = {}; }
  HeapSource& source() { return source_; }

 private:
  static constexpr std::size_t kHeader = 32;
  static constexpr std::size_t kCacheSize = 4096;
  static constexpr int kChain = 4;  // number of consecutive objects that make a place trustworthy
  struct Known {
    std::uint64_t word = 0;
    const KlassInfo* info = nullptr;
  };

  template <class T>
  static T load(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }

  std::uint64_t klass_word(const std::byte* header) const {
    if (shape_.compact) return load<std::uint64_t>(header) >> shape_.mark_klass_shift;
    return shape_.narrow_klass ? load<std::uint32_t>(header + 8) : load<std::uint64_t>(header + 8);
  }
  const KlassInfo* klass_of(std::uint64_t word) {
    if (word == last_.word) return last_.info;
    Known& known = cache_[word * 0x9e3779b97f4a7c15ull >> 52];
    if (known.word != word) known = {word, resolve(word)};
    last_ = known;
    return known.info;
  }
  const KlassInfo* resolve(std::uint64_t word) {
    if (word == 0) return nullptr;
    const bool narrow = shape_.compact || shape_.narrow_klass;
    return table_.find(narrow ? shape_.klass_base + (word << shape_.klass_shift) : word);
  }

  // Size in bytes without alignment; 0 if the header has none.
  std::uint64_t raw_size(const KlassInfo& info, const std::byte* header, std::size_t available, Address at,
                         std::uint32_t& length) {
    switch (info.kind) {
      case KlassInfo::Kind::kInstance: return info.base;
      case KlassInfo::Kind::kPrimitiveArray:
      case KlassInfo::Kind::kObjectArray: {
        const auto count = load<std::int32_t>(header + shape_.length_offset);
        if (count < 0) return 0;
        length = static_cast<std::uint32_t>(count);
        return info.base + (std::uint64_t{length} << info.log2_element);
      }
      case KlassInfo::Kind::kMirror: return sized_by_field(info, table_.mirror_size_offset(), header, available, at);
      case KlassInfo::Kind::kStackChunk: return sized_by_field(info, table_.chunk_size_offset(), header, available, at);
    }
    return 0;
  }
  std::uint64_t sized_by_field(const KlassInfo& info, std::uint32_t offset, const std::byte* header,
                               std::size_t available, Address at);
  // Header of the copy to which a forwarding pointer leads; with compact headers the mark word has the class.
  std::uint64_t forwarded_klass_word(Address to);

  // First address after `at` at which an object is known to begin, at most `end`. Memory before it may have been given
  // to a thread that has not written it yet: what it still shows may seem to continue beyond that address.
  static Address next_start(const HeapRegion& region, Address at, Address end, Address buffer);
  // First address >= at from which a chain of objects begins; end if there is none.
  Address resynchronise(const HeapRegion& region, Address at, Address end);
  bool chain_holds(const HeapRegion& region, Address at, Address end, int objects);
  static std::uint64_t round_up(std::uint64_t size, std::uint64_t alignment) {
    return (size + alignment - 1) & ~(alignment - 1);
  }
  // Bytes to the next object: more than its size in a CMS space and in a medium page of ZGC.
  std::uint64_t step_of(std::uint64_t size, const HeapRegion& region) const {
    if (region.free_chunks) size = std::max(size, shape_.cms_minimum);
    return round_up(size, region.alignment);
  }
  // Bytes of the free chunk at this address; 0 if there is none.
  std::uint64_t free_chunk(const std::byte* header) const;

  template <class Visitor>
  void walk_part(const HeapRegion& region, Address at, Address end, Visitor&& visitor, Address buffer = 0);

  KlassTable& table_;
  const HeaderShape shape_;
  const target::MemoryReader& memory_;  // the walked heap, which may be a copy
  HeapSource source_;
  std::size_t want_;
  WalkTotals totals_;
  std::function<bool(std::uint64_t)> tick_;
  Known last_;
  std::array<Known, kCacheSize> cache_;
};

template <class Visitor>
void HeapWalker::walk(const HeapRegion& region, const std::vector<AddressRange>& holes, Address from,
                      Visitor&& visitor) {
  Address at = from;
  auto hole = std::lower_bound(holes.begin(), holes.end(), at,
                               [](const AddressRange& range, Address address) { return range.end <= address; });
  for (; hole != holes.end() && hole->start < region.top; ++hole) {
    if (hole->start > at) walk_part(region, at, hole->start, visitor, hole->buffer);
    const Address next = std::min(std::max(at, hole->end), region.top);
    totals_.holes += next - std::max(at, hole->start);
    at = next;
  }
  if (at < region.top) walk_part(region, at, region.top, visitor);
}

template <class Visitor>
void HeapWalker::walk_part(const HeapRegion& region, Address at, Address end, Visitor&& visitor, Address buffer) {
  std::array<std::byte, kHeader> padded{};
  auto copied = std::lower_bound(region.copied.begin(), region.copied.end(), at);
  Address limit = at;  // an object that begins before it ends there at the latest
  while (at < end) {
    if (tick_ && !tick_(at - region.start)) return;
    std::span<const std::byte> window = source_.window(at, end, want_);
    if (window.empty()) {
      const Address next = std::min((at | 4095) + 1, end);  // one page further
      totals_.unreadable += next - at;
      at = next;
      if (at >= end) break;
      const auto look = source_.window(at, end, want_);
      if (look.empty()) continue;
      const Address found = resynchronise(region, at, end);
      totals_.unparsable += found - at;
      at = found;
      continue;
    }
    const std::byte* const base = window.data();
    const Address window_start = at, window_end = at + window.size();
    while (at < end) {
      const std::size_t offset = at - window_start;
      const std::byte* header = base + offset;
      std::size_t available = window.size() - offset;
      if (available < kHeader) {
        if (window_end < end && offset > 0) break;  // load the rest
        std::memcpy(padded.data(), header, available);
        std::memset(padded.data() + available, 0, kHeader - available);
        header = padded.data();
      }
      if (at >= limit) limit = next_start(region, at, end, buffer);
      HeapObject object{.address = at};
      const auto mark = load<std::uint64_t>(header);
      std::uint64_t word = klass_word(header);
      if (region.free_chunks) {
        if (const std::uint64_t chunk = free_chunk(header); chunk != 0 && chunk <= end - at) {
          totals_.free += chunk;
          at += chunk;
          if (at > window_end) break;
          continue;
        }
      }
      while (copied != region.copied.end() && *copied < at) ++copied;
      const bool copied_away = copied != region.copied.end() && *copied == at;
      const bool forwards = region.forwarding && (mark & 3) == 3;
      const bool moved = forwards || copied_away;
      if (forwards && shape_.compact) word = forwarded_klass_word(mark & ~std::uint64_t{7});
      object.klass = klass_of(word);
      std::uint64_t size = 0;
      if (object.klass) size = raw_size(*object.klass, header, available, at, object.length);
      object.size = round_up(size, shape_.alignment);
      const std::uint64_t step = step_of(object.size, region);
      if (size == 0 || object.size > limit - at) {
        if (region.zeros_unused && mark == 0 && word == 0) {
          // Room in a ZGC page that is not allocated: zeros up to the next object.
          std::size_t zeros = 0;
          while (zeros + 8 <= available && load<std::uint64_t>(base + offset + zeros) == 0) zeros += 8;
          zeros = std::max<std::size_t>(zeros, 8);
          zeros = std::min<std::size_t>(zeros, end - at);
          totals_.free += zeros;
          at += zeros;
          if (at >= window_end) break;
          continue;
        }
        // The last object of a buffer has no header yet: its thread is allocating it.
        if (buffer != 0 && at >= buffer) {
          totals_.holes += end - at;
          return;
        }
        ++totals_.breaks;
        const Address found = std::min(resynchronise(region, at, end), limit);
        totals_.unparsable += found - at;
        at = found;
        break;  // the window was moved
      }
      if (available < object.size && available < want_ && window_end < end && offset > 0) break;  // load the rest
      object.bytes = header;
      object.available = std::min<std::uint64_t>(available, object.size);
      if (moved) {
        totals_.forwarded += object.size;
      } else {
        ++totals_.objects;
        totals_.bytes += object.size;
        visitor(static_cast<const HeapObject&>(object));
      }
      totals_.free += std::min(step, end - at) - object.size;
      at += std::min(step, end - at);
      if (region.one_object) {
        totals_.free += end - at;
        return;
      }
      if (at >= window_end) break;
    }
  }
}

}  // namespace jtrace::coreinspect
