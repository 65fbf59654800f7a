// ObjectIndex: a dense number for each object id, in the order of the ids.
//
// HotSpot's ids are addresses, multiples of 8: one bit represents each, with the count of bits before each word, so
// that ordering and duplicate ids need no work. Ids of other writers may be anything: they are sorted. Threads: any
// number, after finish().
#pragma once

#include <bit>
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
    if (!sorted_.empty()) return find_sorted(id);
    const std::uint64_t slot = (id - least_) / 8;
    if (id < least_ || id % 8 != 0 || slot / 64 >= words_.size()) return kNoObject;
    const Word& word = words_[slot / 64];
    const std::uint64_t bit = 1ull << slot % 64;
    return (word.bits & bit) == 0 ? kNoObject
                                  : word.before + static_cast<std::uint32_t>(std::popcount(word.bits & (bit - 1)));
  }

 private:
  struct Word {
    std::uint64_t bits = 0;
    std::uint32_t before = 0;
  };
  std::uint32_t find_sorted(std::uint64_t id) const;

  std::vector<Word> words_;
  std::vector<std::uint64_t> sorted_;
  std::uint64_t least_ = 0, twice_ = 0;
  std::uint32_t size_ = 0;
  bool is_sparse_ = false;
};

}  // namespace jtrace::coreinspect
