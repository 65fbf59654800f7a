#include "coreinspect/gc/heap_walker.h"

namespace jtrace::coreinspect {

HeaderShape header_shape(const ObjectModel& objects) {
  const Vm& vm = objects.classes().vm();
  HeaderShape shape;
  shape.compact = objects.compact_headers();
  shape.narrow_klass = objects.compressed_classes();
  shape.klass_base = objects.klass_base();
  shape.klass_shift = objects.klass_shift() & 63;
  shape.mark_klass_shift = objects.mark_klass_shift() & 63;
  shape.length_offset = shape.compact ? 8 : shape.narrow_klass ? 12 : 16;
  shape.compressed_oops = objects.reference_size() == 4;
  const auto constant = [&](const char* name, std::uint32_t otherwise) {
    return static_cast<std::uint32_t>(vm.types().constant(name).value_or(otherwise)) & 63;
  };
  shape.cms_shift = constant("markOopDesc::cms_shift", 7);
  shape.cms_size_shift = constant("markOopDesc::size_shift", 8);
  shape.alignment = object_alignment(vm);
  shape.cms_minimum = (vm.types().size_of("FreeChunk").value_or(24) + shape.alignment - 1) & ~(shape.alignment - 1);
  return shape;
}

WalkTotals& WalkTotals::operator+=(const WalkTotals& other) {
  objects += other.objects;
  bytes += other.bytes;
  holes += other.holes;
  free += other.free;
  forwarded += other.forwarded;
  unparsable += other.unparsable;
  unreadable += other.unreadable;
  breaks += other.breaks;
  return *this;
}

// InstanceMirrorKlass::oop_size and InstanceStackChunkKlass::instance_size: the object has its size in words in a
// field.
std::uint64_t HeapWalker::sized_by_field(const KlassInfo& info, std::uint32_t offset, const std::byte* header,
                                         std::size_t available, Address at) {
  std::int32_t words = 0;
  if (offset == 0) return info.base;
  if (offset + 4 <= available) words = load<std::int32_t>(header + offset);
  else if (const auto read = memory_.read<std::int32_t>(at + offset)) words = *read;
  if (words <= 0) return info.kind == KlassInfo::Kind::kMirror && words == 0 ? info.base : words == 0 ? info.base : 0;
  const auto count = static_cast<std::uint64_t>(words);
  if (info.kind == KlassInfo::Kind::kMirror) return count * 8;
  // The stack, and after it a bitmap with a bit for each word (for each half word with compressed oops).
  const std::uint64_t bits = count << (shape_.compressed_oops ? 1 : 0);
  return info.base + count * 8 + (bits + 63) / 64 * 8;
}

std::uint64_t HeapWalker::forwarded_klass_word(Address to) {
  const auto mark = memory_.read<std::uint64_t>(to);
  return mark ? *mark >> shape_.mark_klass_shift : 0;
}

// With compressed oops a free chunk is recognised by its mark word, otherwise by the lowest bit of its second word.
std::uint64_t HeapWalker::free_chunk(const std::byte* header) const {
  const auto mark = load<std::uint64_t>(header);
  if (shape_.compressed_oops) {
    const bool is_free = (mark & 7) == 1 && (mark >> shape_.cms_shift & 1) == 1;
    return is_free ? (mark >> shape_.cms_size_shift) * 8 : 0;
  }
  return (load<std::uint64_t>(header + 8) & 1) == 1 ? mark * 8 : 0;
}

bool HeapWalker::chain_holds(const HeapRegion& region, Address at, Address end, int objects) {
  for (int i = 0; i < objects && at < end; ++i) {
    std::array<std::byte, kHeader> header{};
    const auto window = source_.window(at, end, kHeader);
    if (window.empty()) return false;
    std::memcpy(header.data(), window.data(), std::min(window.size(), header.size()));
    if (region.free_chunks) {
      if (const std::uint64_t chunk = free_chunk(header.data()); chunk != 0) {
        if (chunk > end - at) return false;
        at += chunk;
        continue;
      }
    }
    const auto mark = load<std::uint64_t>(header.data());
    const std::uint64_t word = klass_word(header.data());
    if (region.zeros_unused && mark == 0 && word == 0) return i > 0;
    const KlassInfo* info = klass_of(word);
    if (!info) return false;
    std::uint32_t length = 0;
    const std::uint64_t size = raw_size(*info, header.data(), window.size(), at, length);
    if (size == 0 || size > end - at) return false;
    at += step_of(round_up(size, shape_.alignment), region);
  }
  return true;
}

Address HeapWalker::load_window(Part& part, Address at) {
  part.window = source_.window(at, part.end, want_);
  part.start = at;
  part.window_end = at + part.window.size();
  if (!part.window.empty()) return at;
  const Address next = std::min((at | 4095) + 1, part.end);  // one page further
  totals_.unreadable += next - at;
  if (next >= part.end || source_.window(next, part.end, want_).empty()) return next;
  const Address found = resynchronise(part.region, next, part.end);
  totals_.unparsable += found - next;
  return found;
}

Address HeapWalker::pass_no_object(Part& part, Address at, Address limit, const std::byte* header) {
  if (part.region.zeros_unused && load<std::uint64_t>(header) == 0 && klass_word(header) == 0) {
    // Room in a ZGC page that is not allocated: zeros up to the next object.
    const std::byte* const bytes = part.window.data() + (at - part.start);
    std::size_t zeros = 0;
    while (zeros + 8 <= part.window_end - at && load<std::uint64_t>(bytes + zeros) == 0) zeros += 8;
    const std::uint64_t room = std::min<std::uint64_t>(std::max<std::size_t>(zeros, 8), part.end - at);
    totals_.free += room;
    return at + room;
  }
  // The last object of a buffer has no header yet: its thread is allocating it.
  if (part.buffer != 0 && at >= part.buffer) {
    totals_.holes += part.end - at;
    return part.end;
  }
  ++totals_.breaks;
  const Address found = std::min(resynchronise(part.region, at, part.end), limit);
  totals_.unparsable += found - at;
  part.window_end = found;  // looking for it has replaced what was loaded
  return found;
}

Address HeapWalker::next_start(const HeapRegion& region, Address at, Address end, Address buffer) {
  const auto next = std::upper_bound(region.starts.begin(), region.starts.end(), at);
  const Address limit = next == region.starts.end() ? end : std::min(*next, end);
  return buffer > at ? std::min(limit, buffer) : limit;
}

Address HeapWalker::resynchronise(const HeapRegion& region, Address at, Address end) {
  const std::uint64_t step = std::min<std::uint64_t>(region.alignment, 256);
  for (Address next = (at + step) / step * step; next < end; next += step) {
    const auto window = source_.window(next, end, kHeader);
    if (window.empty()) return std::min((next | 4095) + 1, end);
    if (chain_holds(region, next, end, kChain)) return next;
  }
  return end;
}

}  // namespace jtrace::coreinspect
