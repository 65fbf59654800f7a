#include "coreinspect/types/cached_memory.h"

#include <algorithm>
#include <utility>

namespace jtrace::coreinspect {

void CachedMemory::overlay(target::Address start, std::vector<std::byte> bytes) {
  const target::Address end = start + bytes.size();
  auto next = overlays_.upper_bound(start);
  if (next != overlays_.begin() && std::prev(next)->first + std::prev(next)->second.size() > start) --next;
  while (next != overlays_.end() && next->first < end) {
    const target::Address at = next->first;
    const std::vector<std::byte> old = std::move(next->second);
    overlays_.erase(next);
    if (at < start) overlays_[at].assign(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(start - at));
    if (at + old.size() > end) overlays_[end].assign(old.begin() + static_cast<std::ptrdiff_t>(end - at), old.end());
    next = overlays_.lower_bound(start);
  }
  if (!bytes.empty()) overlays_[start] = std::move(bytes);
}

void CachedMemory::keep_overlays(const std::vector<std::pair<target::Address, target::Address>>& ranges) {
  const auto all = std::exchange(overlays_, {});
  for (const auto& [start, bytes] : all)
    for (const auto& [from, to] : ranges) {
      const target::Address first = std::max(start, from), last = std::min(start + bytes.size(), to);
      if (first < last)
        overlay(first, {bytes.begin() + static_cast<std::ptrdiff_t>(first - start),
                        bytes.begin() + static_cast<std::ptrdiff_t>(last - start)});
    }
}

void CachedMemory::note(target::Address start, std::uint64_t size) {
  if (record_)
    for (target::Address page = start & ~(kPage - 1); page < start + size; page += kPage) record_->insert(page);
}

Result<std::size_t> CachedMemory::read_some(target::Address address, std::span<std::byte> out) const {
  auto next = overlays_.upper_bound(address);
  if (next != overlays_.begin()) {
    const auto& [start, bytes] = *std::prev(next);
    if (address - start < bytes.size()) {
      const std::size_t count = std::min<std::size_t>(out.size(), bytes.size() - (address - start));
      std::memcpy(out.data(), bytes.data() + (address - start), count);
      return count;
    }
  }
  if (const auto layer = layer_ ? layer_->view(address) : std::span<const std::byte>(); !layer.empty()) {
    const std::size_t count = std::min(out.size(), layer.size());
    std::memcpy(out.data(), layer.data(), count);
    return count;
  }
  if (next != overlays_.end()) out = out.first(std::min<std::size_t>(out.size(), next->first - address));
  if (out.size() > 4 * kPage) return below_.read_some(address, out);
  const target::Address start = address & ~(kPage - 1);
  auto found = pages_.find(start);
  if (found == pages_.end()) {
    if (pages_.size() >= kMaxPages) pages_.clear();
    auto page = std::make_unique<Page>();
    if (!below_.read_exactly(start, *page)) return below_.read_some(address, out);
    found = pages_.emplace(start, std::move(page)).first;
  }
  const std::size_t count = std::min<std::size_t>(out.size(), kPage - (address - start));
  std::memcpy(out.data(), found->second->data() + (address - start), count);
  return count;
}

}  // namespace jtrace::coreinspect
