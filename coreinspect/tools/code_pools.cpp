#include "coreinspect/tools/code_pools.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace jtrace::coreinspect {
namespace {

constexpr std::array<std::string_view, 6> kNames = {
    "CodeHeap 'non-nmethods'",
    "CodeHeap 'profiled nmethods'",
    "CodeHeap 'non-profiled nmethods'",
    "CodeHeap 'hot nmethods'",
    "CodeCache",
    "Code Cache",
};

// The fields of CodeHeap that follow _log2_segment_size and are not in the tables, in words of 8 bytes from the one
// after it on.
struct Tail {
  std::uint64_t next_segment, freelist, words[5];
};
struct Use {
  std::string_view name;
  std::uint64_t segments = 0;
};

// JDK 9 on: _next_segment, _freelist, _last_insert_point, _freelist_segments, _freelist_length,
// _max_allocated_capacity, _name. The name shows that the others are there.
std::optional<Use> use_of_named(const target::MemoryReader& memory, const Tail& tail) {
  std::array<char, 40> text{};
  if (!memory.read_some(tail.words[4], std::as_writable_bytes(std::span(text).first(text.size() - 1))))
    return std::nullopt;
  const auto name = std::find(kNames.begin(), kNames.end(), std::string_view(text.data()));
  if (name == kNames.end()) return std::nullopt;
  return Use{*name, tail.next_segment - tail.words[1]};
}

// JDK 8: _next_segment, _freelist, _freelist_segments.
Use use_of_only(const Tail& tail) { return {"Code Cache", tail.next_segment - tail.words[0]}; }

std::optional<perfdata::PoolBean> pool_of(const Inspection& inspection, const CodeHeap& heap, bool named) {
  const target::MemoryReader& memory = inspection.vm().memory();
  const TypeDatabase& types = inspection.vm().types();
  const auto log2 = types.offset("CodeHeap", "_log2_segment_size"), in_heap = types.offset("CodeHeap", "_memory"),
             high = types.offset("VirtualSpace", "_high");
  if (!log2 || !in_heap || !high) return std::nullopt;
  const Address start = heap.high_at - *high - *in_heap;
  const auto tail = memory.read<Tail>((start + *log2 + 4 + 7) & ~Address{7});
  if (!tail) return std::nullopt;
  const auto use = named ? use_of_named(memory, *tail) : std::optional(use_of_only(*tail));
  const std::uint64_t committed = heap.high - heap.low;
  if (!use || use->segments > committed >> heap.log2_segment) return std::nullopt;
  return perfdata::PoolBean{.name = use->name,
                            .used = static_cast<std::int64_t>(use->segments << heap.log2_segment),
                            .committed = static_cast<std::int64_t>(committed),
                            .max = static_cast<std::int64_t>(heap.reserved_end - heap.low)};
}

}  // namespace

std::vector<perfdata::PoolBean> code_pools(const Inspection& inspection) {
  std::vector<perfdata::PoolBean> pools;
  const auto code = inspection.code();
  if (!code) return pools;
  const bool named = inspection.vm().types().has("CodeCache", "_heaps");
  for (const CodeHeap& heap : (*code)->heaps())
    if (const auto pool = pool_of(inspection, heap, named)) pools.push_back(*pool);
  return pools;
}

}  // namespace jtrace::coreinspect
