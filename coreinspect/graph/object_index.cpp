#include "coreinspect/graph/object_index.h"

#include <algorithm>

namespace jtrace::coreinspect {
namespace {

// Bits take less memory than sorted ids while an object comes every 512 words of the heap or more often.
constexpr std::uint64_t kSparse = 4096;

}  // namespace

ObjectIndex::ObjectIndex(const Range& range) {
  if (range.count == 0) return;
  least_ = range.least & ~7ull;
  is_sparse_ = range.together % 8 != 0 || (range.greatest - range.least) / kSparse > range.count;
  if (is_sparse_) sorted_.reserve(range.count);
  else words_.resize((range.greatest - least_) / 512 + 1);
}

void ObjectIndex::add(std::uint64_t id) {
  if (is_sparse_) {
    sorted_.push_back(id);
    return;
  }
  const std::uint64_t slot = (id - least_) / 8, bit = 1ull << slot % 64;
  if ((words_[slot / 64].bits & bit) != 0) ++twice_;
  words_[slot / 64].bits |= bit;
}

void ObjectIndex::finish() {
  if (is_sparse_) {
    std::sort(sorted_.begin(), sorted_.end());
    const auto end = std::unique(sorted_.begin(), sorted_.end());
    twice_ = static_cast<std::uint64_t>(sorted_.end() - end);
    sorted_.erase(end, sorted_.end());
    size_ = static_cast<std::uint32_t>(sorted_.size());
    return;
  }
  for (Word& word : words_) {
    word.before = size_;
    size_ += static_cast<std::uint32_t>(std::popcount(word.bits));
  }
}

std::uint32_t ObjectIndex::find_sorted(std::uint64_t id) const {
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), id);
  return found == sorted_.end() || *found != id ? kNoObject : static_cast<std::uint32_t>(found - sorted_.begin());
}

}  // namespace jtrace::coreinspect
