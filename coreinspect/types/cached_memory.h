// CachedMemory: pages of a live process read once and kept, so that thousands of small reads cost few system calls, and
// ranges that were copied while the target stood still laid over them.
//
// Not thread-safe: one reader, one thread. Ownership: borrows the memory below. A page is kept until forget() or until
// kMaxPages are held; what is read may be older than what the target has by now.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "target/memory_reader.h"

namespace jtrace::coreinspect {

class CachedMemory final : public target::MemoryReader {
 public:
  explicit CachedMemory(const target::MemoryReader& below) : below_(below) {}

  Result<std::size_t> read_some(target::Address address, std::span<std::byte> out) const override;

  // Bytes that are found at `start` from now on, whatever the target has there. Later ones win.
  void overlay(target::Address start, std::vector<std::byte> bytes) { overlays_[start] = std::move(bytes); }
  // What `layer` has a view of is found in it from now on; null for none. It must outlive this object, or be taken
  // away.
  void set_layer(const target::MemoryReader* layer) { layer_ = layer; }
  void forget() { pages_.clear(); }
  // Forgets overlays as well.
  void reset() {
    pages_.clear();
    overlays_.clear();
    layer_ = nullptr;
  }
  const target::MemoryReader& below() const { return below_; }

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kMaxPages = 32768;
  using Page = std::array<std::byte, kPage>;

  const target::MemoryReader& below_;
  const target::MemoryReader* layer_ = nullptr;
  std::map<target::Address, std::vector<std::byte>> overlays_;
  mutable std::unordered_map<target::Address, std::unique_ptr<Page>> pages_;
};

}  // namespace jtrace::coreinspect
