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

  // A stretch of a region without holes, and what of it is loaded.
  struct Part {
    const HeapRegion& region;
    Address end;
    Address buffer;                          // from there on its thread may be allocating an object; 0: nowhere
    std::span<const std::byte> window = {};  // of [start, window_end)
    Address start = 0, window_end = 0;
  };
  template <class Visitor>
  void walk_part(const HeapRegion& region, Address at, Address end, Visitor&& visitor, Address buffer = 0);
  // Loads what begins at `at`. Returns where the walk goes on: later if that cannot be read, and is passed.
  Address load_window(Part& part, Address at);
  // Walks as far as what is loaded goes. Returns where the walk goes on.
  template <class Visitor>
  Address walk_window(Part& part, Address at, Visitor&& visitor);
  // The header at `at`, with zeros after the end of the memory; nullptr: the rest of it is still to be loaded.
  const std::byte* header_in(const Part& part, Address at, std::size_t available) {
    if (available >= kHeader) return part.window.data() + (at - part.start);
    if (part.window_end < part.end && at > part.start) return nullptr;
    padded_.fill({});
    std::memcpy(padded_.data(), part.window.data() + (at - part.start), available);
    return padded_.data();
  }
  // Sets class, size (0: this is no object) and length.
  void measure(HeapObject& object, const std::byte* header, std::size_t available, bool is_forwarded) {
    const std::uint64_t word = is_forwarded && shape_.compact
                                   ? forwarded_klass_word(load<std::uint64_t>(header) & ~std::uint64_t{7})
                                   : klass_word(header);
    object.klass = klass_of(word);
    if (object.klass == nullptr) return;
    object.size = round_up(raw_size(*object.klass, header, available, object.address, object.length), shape_.alignment);
  }
  // Passes room that is not allocated, or what cannot be parsed: that up to `limit`, where an object begins, at most.
  Address pass_no_object(Part& part, Address at, Address limit, const std::byte* header);

  KlassTable& table_;
  const HeaderShape shape_;
  const target::MemoryReader& memory_;  // the walked heap, which may be a copy
  HeapSource source_;
  std::size_t want_;
  WalkTotals totals_;
  std::function<bool(std::uint64_t)> tick_;
  Known last_;
  std::array<std::byte, kHeader> padded_{};  // the last header, where the memory ends within it
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
  Part part{.region = region, .end = end, .buffer = buffer};
  while (at < end) {
    if (tick_ && !tick_(at - region.start)) return;
    at = load_window(part, at);
    if (!part.window.empty()) at = walk_window(part, at, visitor);
  }
}

template <class Visitor>
Address HeapWalker::walk_window(Part& part, Address at, Visitor&& visitor) {
  const HeapRegion& region = part.region;
  const Address end = part.end;
  Address window_end = part.window_end;
  Address limit = at;  // an object that begins before it ends there at the latest
  auto copied = std::lower_bound(region.copied.begin(), region.copied.end(), at);
  while (at < window_end) {
    const std::size_t available = window_end - at;
    const std::byte* const header = header_in(part, at, available);
    if (header == nullptr) return at;
    if (at >= limit) limit = next_start(region, at, end, part.buffer);
    if (region.free_chunks) {
      if (const std::uint64_t chunk = free_chunk(header); chunk != 0 && chunk <= end - at) {
        totals_.free += chunk;
        at += chunk;
        continue;
      }
    }
    while (copied != region.copied.end() && *copied < at) ++copied;
    const bool is_copied = copied != region.copied.end() && *copied == at;
    const bool is_forwarded = region.forwarding && (load<std::uint64_t>(header) & 3) == 3;
    HeapObject object{.address = at};
    measure(object, header, available, is_forwarded);
    if (object.size == 0 || object.size > limit - at) {
      at = pass_no_object(part, at, limit, header);
      window_end = part.window_end;
      continue;
    }
    if (available < object.size && available < want_ && window_end < end && at > part.start)
      return at;  // load the rest
    object.bytes = header;
    object.available = std::min<std::uint64_t>(available, object.size);
    if (is_forwarded || is_copied) {
      totals_.forwarded += object.size;
    } else {
      ++totals_.objects;
      totals_.bytes += object.size;
      visitor(static_cast<const HeapObject&>(object));
    }
    const std::uint64_t step = std::min(step_of(object.size, region), end - at);
    totals_.free += step - object.size;
    at += step;
    if (region.one_object) {
      totals_.free += end - at;
      return end;
    }
  }
  return at;
}

}  // namespace jtrace::coreinspect
