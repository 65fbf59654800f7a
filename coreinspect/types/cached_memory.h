// CachedMemory: keeps the pages of a live process that were read, so that thousands of small reads need few system
// calls. Copies made while the target was stopped can be laid over them.
//
// Not thread-safe: one reader, one thread. Ownership: borrows the underlying memory. A page is kept until forget() or
// until kMaxPages are held; the target may have changed it in the meantime.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "target/memory_reader.h"

namespace jtrace::coreinspect {

class CachedMemory final : public target::MemoryReader {
 public:
  static constexpr std::size_t kPage = 4096;

  explicit CachedMemory(const target::MemoryReader& below) : below_(below) {}

  Result<std::size_t> read_some(target::Address address, std::span<std::byte> out) const override;

  // From now on reads at `start` find these bytes, whatever the target has there. Later ones take precedence.
  void overlay(target::Address start, std::vector<std::byte> bytes);
  // Removes what was laid over, but for the part in these ranges.
  void keep_overlays(const std::vector<std::pair<target::Address, target::Address>>& ranges);
  // From now on reads find what `layer` has a view of; null for none. The layer must outlive this object, or be
  // removed.
  void set_layer(const target::MemoryReader* layer) { layer_ = layer; }
  void forget() { pages_.clear(); }
  // From now on the start of each page that is noted is added; null: no longer.
  void record(std::set<target::Address>* pages) { record_ = pages; }
  // These bytes change when the target moves objects.
  void note(target::Address start, std::uint64_t size);
  // Forgets overlays too.
  void reset() {
    pages_.clear();
    overlays_.clear();
    layer_ = nullptr;
  }
  const target::MemoryReader& below() const { return below_; }

 private:
  static constexpr std::size_t kMaxPages = 32768;
  using Page = std::array<std::byte, kPage>;

  const target::MemoryReader& below_;
  const target::MemoryReader* layer_ = nullptr;
  std::set<target::Address>* record_ = nullptr;
  std::map<target::Address, std::vector<std::byte>> overlays_;  // that do not overlap
  mutable std::unordered_map<target::Address, std::unique_ptr<Page>> pages_;
};

}  // namespace jtrace::coreinspect
