#include "coreinspect/graph/object_index.h"

#include <algorithm>
#include <bit>

namespace jtrace::coreinspect {
namespace {

// Bits cost little more than sorted ids while each page has 32 objects, and so many pages cost little in any case: to
// find an id among sorted ones takes ten times as long.
constexpr std::uint64_t kObjectsOfPage = 32, kFewPages = 1u << 14, kFewPlaces = 1u << 16;

}  // namespace

ObjectIndex::ObjectIndex(const Range& range) : least_(range.least & ~7ull) {
  if (range.count == 0) return;
  const std::uint64_t places = (range.greatest - least_) / (8 * kPageSlots) + 1;
  most_pages_ = static_cast<std::size_t>(range.count / kObjectsOfPage + kFewPages);
  is_sparse_ = range.together % 8 != 0 || places > range.count + kFewPlaces;
  if (is_sparse_) sorted_.reserve(range.count);
  else page_of_.assign(places, kNoPage);
}

// Its place in pages_; kNoPage if that would be too many.
std::uint32_t ObjectIndex::page(std::uint64_t slot) {
  std::uint32_t& place = page_of_[slot / kPageSlots];
  if (place == kNoPage && pages_.size() < most_pages_) {
    place = static_cast<std::uint32_t>(pages_.size());
    pages_.emplace_back();
  }
  return place;
}

void ObjectIndex::add(std::uint64_t id) {
  const std::uint64_t slot = (id - least_) / 8;
  const std::uint32_t its = is_sparse_ ? kNoPage : page(slot);
  if (its == kNoPage) {
    if (!is_sparse_) sort_instead();
    sorted_.push_back(id);
    return;
  }
  std::uint64_t& bits = pages_[its].bits[slot / 64 % kPageWords];
  const std::uint64_t bit = 1ull << slot % 64;
  if ((bits & bit) != 0) ++twice_;
  bits |= bit;
}

void ObjectIndex::sort_instead() {
  is_sparse_ = true;
  for (std::size_t place = 0; place < page_of_.size(); ++place)
    for (std::size_t word = 0; page_of_[place] != kNoPage && word < kPageWords; ++word)
      for (std::uint64_t bits = pages_[page_of_[place]].bits[word]; bits != 0; bits &= bits - 1)
        sorted_.push_back(least_ +
                          8 * (place * kPageSlots + word * 64 + static_cast<unsigned>(std::countr_zero(bits))));
  std::vector<std::uint32_t>().swap(page_of_);
  std::vector<Page>().swap(pages_);
}

void ObjectIndex::finish() {
  if (is_sparse_) {
    std::sort(sorted_.begin(), sorted_.end());
    const auto end = std::unique(sorted_.begin(), sorted_.end());
    twice_ += static_cast<std::uint64_t>(sorted_.end() - end);
    sorted_.erase(end, sorted_.end());
    size_ = static_cast<std::uint32_t>(sorted_.size());
    return;
  }
  for (const std::uint32_t place : page_of_)
    for (std::size_t word = 0; place != kNoPage && word < kPageWords; ++word) {
      pages_[place].before[word] = size_;
      size_ += count_of(pages_[place].bits[word]);
    }
}

std::uint32_t ObjectIndex::find_sorted(std::uint64_t id) const {
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), id);
  return found == sorted_.end() || *found != id ? kNoObject : static_cast<std::uint32_t>(found - sorted_.begin());
}

}  // namespace jtrace::coreinspect
