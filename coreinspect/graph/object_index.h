// ObjectIndex: a dense number for each object id, in the order of the ids.
//
// HotSpot's ids are addresses, multiples of 8: one bit represents each, with the count of bits before each word, so
// that ordering and duplicate ids need no work. Only parts of the address space that have objects take memory. Ids of
// other writers may be anything: where the bits would cost more, ids are sorted. Threads: any number, after finish().
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "coreinspect/graph/dominators.h"

namespace jtrace::coreinspect {

class ObjectIndex {
 public:
  struct Range {
    std::uint64_t least = ~0ull, greatest = 0, count = 0, together = 0;  // together: all bits that any id has
    void add(std::uint64_t id) {
      least = id < least ? id : least;
      greatest = id > greatest ? id : greatest;
      together |= id;
      ++count;
    }
  };
  // Reserves room for the ids of this range.
  explicit ObjectIndex(const Range& range);
  void add(std::uint64_t id);
  // Call it after the last add().
  void finish();

  std::uint32_t size() const { return size_; }
  std::uint64_t twice() const { return twice_; }  // ids that were added more than once
  std::uint32_t find(std::uint64_t id) const {
    if (is_sparse_) return find_sorted(id);
    const std::uint64_t slot = (id - least_) / 8;
    if (id < least_ || id % 8 != 0 || slot / kPageSlots >= page_of_.size()) return kNoObject;
    const std::uint32_t page = page_of_[slot / kPageSlots];
    if (page == kNoPage) return kNoObject;
    const std::size_t word = slot / 64 % kPageWords;
    const std::uint64_t bits = pages_[page].bits[word], bit = 1ull << slot % 64;
    return (bits & bit) == 0 ? kNoObject : pages_[page].before[word] + count_of(bits & (bit - 1));
  }

 private:
  static constexpr std::size_t kPageWords = 64, kPageSlots = 64 * kPageWords;
  static constexpr std::uint32_t kNoPage = kNoObject;
  struct Page {
    std::array<std::uint64_t, kPageWords> bits{};
    std::array<std::uint32_t, kPageWords> before{};
  };
  std::uint32_t page(std::uint64_t slot);
  void sort_instead();
  std::uint32_t find_sorted(std::uint64_t id) const;
  // std::popcount() is a call where the processor need not have the instruction.
  static std::uint32_t count_of(std::uint64_t bits) {
    bits -= bits >> 1 & 0x5555'5555'5555'5555;
    bits = (bits & 0x3333'3333'3333'3333) + (bits >> 2 & 0x3333'3333'3333'3333);
    bits = (bits + (bits >> 4)) & 0x0f0f'0f0f'0f0f'0f0f;
    return static_cast<std::uint32_t>(bits * 0x0101'0101'0101'0101 >> 56);
  }

  std::vector<std::uint32_t> page_of_;  // by the page's number from the least id on
  std::vector<Page> pages_;
  std::size_t most_pages_ = 0;
  std::vector<std::uint64_t> sorted_;
  std::uint64_t least_ = 0, twice_ = 0;
  std::uint32_t size_ = 0;
  bool is_sparse_ = false;
};

}  // namespace jtrace::coreinspect
