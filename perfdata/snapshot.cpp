#include "perfdata/snapshot.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/clock.h"

namespace jtrace::perfdata {
namespace {

// Buffers for a first look, which does not know the used size, and for the second copy. One for each thread instead of
// one for each JVM, so that a thousand JVMs use little memory.
std::vector<std::byte>& scratch(int which) {
  thread_local std::vector<std::byte> buffers[2];
  return buffers[which];
}

// Reads as many bytes as there are from `base` on, up to out.size(); an error if there are none.
Result<std::size_t> read_up_to(const target::MemoryReader& memory, target::Address base, std::span<std::byte> out) {
  std::size_t have = 0;
  while (have < out.size()) {
    auto count = memory.read_some(base + have, out.subspan(have));
    if (!count) {
      if (have == 0) return fail(std::move(count).error());
      break;
    }
    have += *count;
  }
  return have;
}

// The same into a buffer that grows with the data, because a damaged prologue may declare far more.
Result<std::size_t> read_growing(const target::MemoryReader& memory, target::Address base, std::size_t want,
                                 std::vector<std::byte>& into) {
  constexpr std::size_t kStep = 65536;
  std::size_t have = 0;
  for (std::size_t size = std::min(want, kStep);; size = std::min(want, size * 2)) {
    into.resize(size);
    auto more = read_up_to(memory, base + have, std::span(into).subspan(have));
    if (!more && have == 0) return fail(std::move(more).error());
    have += more.value_or(0);
    if (have < size || size == want) break;
  }
  into.resize(have);
  return have;
}

}  // namespace

std::int64_t Snapshot::long_value(const Counter& counter) const {
  std::int64_t value = 0;
  if (counter.kind != ValueKind::kLong || counter.value_offset + sizeof value > bytes_.size()) return 0;
  std::memcpy(&value, bytes_.data() + counter.value_offset, sizeof value);
  return prologue_.byte_order == std::endian::native ? value : byte_swapped(value);
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

// Copies the used part of the region. The first time its size is not known.
Result<> RegionReader::copy_region(std::vector<std::byte>& into) {
  constexpr std::size_t kFirstRead = 16384;  // a JVM usually uses 12 to 15 KiB of its 32
  if (size_hint_ == 0) {
    std::vector<std::byte>& first = scratch(0);
    first.resize(kFirstRead);
    JTRACE_ASSIGN_OR_RETURN(const std::size_t have, read_up_to(*memory_, base_, first));
    const auto prologue = parse_prologue(std::span(first).first(have));
    if (!prologue || prologue->used <= have || have < kFirstRead) {  // if it is damaged, the layout reports it
      const std::size_t size = prologue ? std::min<std::size_t>(have, prologue->used) : have;
      into.assign(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(size));
      if (prologue) size_hint_ = size;
      return {};
    }
    size_hint_ = std::min<std::size_t>(prologue->used, kMaxRegionSize);
  }
  for (int round = 0;; ++round) {
    const std::size_t want = size_hint_;
    JTRACE_ASSIGN_OR_RETURN(const std::size_t have, read_growing(*memory_, base_, want, into));
    const auto prologue = parse_prologue(into);
    if (!prologue) return {};
    size_hint_ = std::min<std::size_t>(prologue->used, kMaxRegionSize);
    if (prologue->used <= have || have < want || round == 2) {
      into.resize(std::min<std::size_t>(have, prologue->used));
      return {};
    }
  }
}

Result<> RegionReader::parse_into(Snapshot& into) {
  into.capacity = std::max(capacity_, into.bytes_.size());
  JTRACE_ASSIGN_OR_RETURN(into.prologue_, parse_prologue(into.bytes_));
  if (!layout_ || !layout_->complete() || !same_entries(into.prologue_, layout_->prologue())) {
    if (cache_) {
      JTRACE_ASSIGN_OR_RETURN(layout_, cache_->get(into.bytes_, options_));
    } else {
      JTRACE_ASSIGN_OR_RETURN(Layout layout, Layout::parse(into.bytes_, options_));
      layout_ = std::make_shared<const Layout>(std::move(layout));
    }
  }
  if (into.layout_ != layout_) into.layout_ = layout_;
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
  std::vector<std::byte>& second = scratch(1);
  for (int i = 0; i < attempts && !into.stable; ++i) {
    const std::uint64_t real = realtime_ns(), mono = monotonic_ns();
    JTRACE_RETURN_IF_ERROR(copy_region(second));
    into.stable =
        second.size() == into.bytes_.size() && std::memcmp(second.data(), into.bytes_.data(), second.size()) == 0;
    if (into.stable) break;
    // The later copy is better: what it lacks of the earlier one was being written.
    into.bytes_ = second;
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
