#include "perfdata/snapshot.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/clock.h"

namespace jtrace::perfdata {

std::int64_t Snapshot::long_value(const Counter& counter) const {
  std::int64_t value = 0;
  if (counter.kind != ValueKind::kLong || counter.value_offset + sizeof value > bytes_.size()) return 0;
  std::memcpy(&value, bytes_.data() + counter.value_offset, sizeof value);
  return layout_->prologue().byte_order == std::endian::native ? value : byte_swapped(value);
}

std::span<const std::byte> Snapshot::raw_value(const Counter& counter) const {
  if (counter.value_offset > bytes_.size() || counter.value_size > bytes_.size() - counter.value_offset) return {};
  return std::span(bytes_).subspan(counter.value_offset, counter.value_size);
}

std::string_view Snapshot::text_value(const Counter& counter) const {
  if (counter.kind != ValueKind::kText) return {};
  const auto raw = raw_value(counter);
  const std::string_view text(reinterpret_cast<const char*>(raw.data()), raw.size());
  return text.substr(0, text.find('\0'));
}

std::optional<std::int64_t> Snapshot::long_value(std::string_view name) const {
  const Counter* counter = layout_ ? layout_->find(name) : nullptr;
  if (counter == nullptr || counter->kind != ValueKind::kLong) return std::nullopt;
  return long_value(*counter);
}

std::optional<std::string_view> Snapshot::text_value(std::string_view name) const {
  const Counter* counter = layout_ ? layout_->find(name) : nullptr;
  if (counter == nullptr || counter->kind != ValueKind::kText) return std::nullopt;
  return text_value(*counter);
}

// Copies the used part of the region; after the first time in one read, sized by what was used before and by one page
// more, so that a region that grew is usually whole in the same read.
Result<std::size_t> RegionReader::copy_region(std::vector<std::byte>& into) {
  constexpr std::size_t kFirstRead = 32768;  // the default PerfDataMemorySize
  std::size_t want = size_hint_ != 0 ? size_hint_ : kFirstRead;
  for (int round = 0;; ++round) {
    if (into.size() < want) into.resize(want);
    std::size_t have = 0;
    while (have < want) {
      auto count = memory_->read_some(base_ + have, std::span(into).subspan(have, want - have));
      if (!count) {
        if (have == 0) return fail(std::move(count).error());
        break;
      }
      have += *count;
    }
    if (have < kPrologueSize) {
      into.resize(have);
      return have;
    }
    auto prologue = parse_prologue(std::span(into).first(have));
    if (!prologue) {  // the layout says what is wrong
      into.resize(have);
      return have;
    }
    if (prologue->used <= have || have < want || round == 2) {
      size_hint_ = std::min<std::size_t>(prologue->used, kMaxRegionSize);
      into.resize(std::min<std::size_t>(have, prologue->used));
      return into.size();
    }
    want = prologue->used;
  }
}

Result<> RegionReader::parse_into(Snapshot& into) {
  into.capacity = std::max(capacity_, into.bytes_.size());
  if (layout_) {
    JTRACE_ASSIGN_OR_RETURN(const Prologue now, parse_prologue(into.bytes_));
    if (now == layout_->prologue() && layout_->complete()) {
      if (into.layout_ != layout_) into.layout_ = layout_;
      return {};
    }
  }
  JTRACE_ASSIGN_OR_RETURN(Layout layout, Layout::parse(into.bytes_, options_));
  layout_ = std::make_shared<const Layout>(std::move(layout));
  into.layout_ = layout_;
  return {};
}

Result<> RegionReader::read_once(Snapshot& into) {
  into.realtime_ns = realtime_ns();
  into.monotonic_ns = monotonic_ns();
  into.stable = false;
  JTRACE_RETURN_IF_ERROR(copy_region(into.bytes_));
  into.read_ns = monotonic_ns() - into.monotonic_ns;
  return parse_into(into);
}

Result<> RegionReader::read_stable(Snapshot& into, int attempts) {
  into.realtime_ns = realtime_ns();
  into.monotonic_ns = monotonic_ns();
  into.stable = false;
  JTRACE_RETURN_IF_ERROR(copy_region(into.bytes_));
  for (int i = 0; i < attempts && !into.stable; ++i) {
    const std::uint64_t real = realtime_ns(), mono = monotonic_ns();
    JTRACE_RETURN_IF_ERROR(copy_region(second_));
    into.stable =
        second_.size() == into.bytes_.size() && std::memcmp(second_.data(), into.bytes_.data(), second_.size()) == 0;
    if (into.stable) break;
    // The later copy is the better one: what it lacks of the earlier was being written then.
    std::swap(second_, into.bytes_);
    into.realtime_ns = real;
    into.monotonic_ns = mono;
  }
  into.read_ns = monotonic_ns() - into.monotonic_ns;
  return parse_into(into);
}

Result<Snapshot> read_snapshot(const target::MemoryReader& memory, target::Address base, const ParseOptions& options) {
  RegionReader reader(memory, base, options);
  Snapshot snapshot;
  JTRACE_RETURN_IF_ERROR(reader.read_stable(snapshot));
  return snapshot;
}

}  // namespace jtrace::perfdata
