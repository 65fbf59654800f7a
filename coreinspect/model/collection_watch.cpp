#include "coreinspect/model/collection_watch.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kLongest = 1024;  // CollectedHeap is half as large at most

std::optional<std::uint64_t> active_field(const TypeDatabase& types) {
  const auto field = types.offset("CollectedHeap", "_is_stw_gc_active");
  return field ? field : types.offset("CollectedHeap", "_is_gc_active");
}

}  // namespace

CollectionWatch::CollectionWatch(const Inspection& inspection)
    : inspection_(inspection), moves_meanwhile_(inspection.vm().moves_while_running()) {
  const Vm& vm = inspection.vm();
  vm.cached_memory()->forget();
  const auto heap = vm.read_static<Address>("Universe", "_collectedHeap");
  const auto active = active_field(vm.types()), count = vm.types().offset("CollectedHeap", "_total_collections");
  if (!heap || *heap == 0 || !active || !count) return;
  const std::uint64_t first = std::min(*active, *count);
  const std::uint64_t size = std::max(*active + sizeof(std::uint8_t), *count + sizeof(std::uint32_t)) - first;
  if (size > kLongest) return;
  start_ = *heap + first;
  active_ = *active - first;
  count_ = *count - first;
  size_ = size;
  last_ = read().count;
}

CollectionWatch::State CollectionWatch::read() const {
  std::array<std::byte, kLongest> bytes;
  const auto part = std::span(bytes).first(size_);
  if (start_ == 0 || !inspection_.vm().cached_memory()->below().read_exactly(start_, part)) return {.count = last_};
  State state{.is_active = bytes[active_] != std::byte{0}};
  std::memcpy(&state.count, bytes.data() + count_, sizeof state.count);
  return state;
}

CollectionWatch::Sight CollectionWatch::look() {
  const State now = read();
  const bool has_ended = now.count != last_;
  last_ = now.count;
  if (now.is_active || has_ended || moves_meanwhile_) inspection_.vm().cached_memory()->forget();
  return now.is_active ? Sight::kRuns : has_ended && !moves_meanwhile_ ? Sight::kEnded : Sight::kNone;
}

}  // namespace jtrace::coreinspect
