// ValueCounts: how many objects have each value, for a bounded number of different values.
//
// Values are keys of 64 bits. With more different ones than kMost it forgets all of them. Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace jtrace::coreinspect {

class ValueCounts {
 public:
  static constexpr std::size_t kMost = 100'000;
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t count = 0;   // 0: the slot is free
    std::uint32_t object = 0;  // the first one that has it
  };

  void add(std::uint64_t key, std::uint32_t object) {
    if (is_full_) return;
    if (2 * (used_ + 1) > slots_.size()) grow();
    Entry& entry = slots_[slot_of(key)];
    if (entry.count++ > 0) return;
    entry.key = key;
    entry.object = object;
    if (++used_ > kMost) forget();
  }
  bool is_full() const { return is_full_; }  // more than kMost
  std::size_t different() const { return used_; }
  // Those that most objects have, these first; of equal ones in the order of the objects.
  std::vector<Entry> most(std::size_t count) const {
    std::vector<Entry> all;
    for (const Entry& each : slots_)
      if (each.count > 0) all.push_back(each);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size()));
    std::partial_sort(all.begin(), end, all.end(), [](const Entry& a, const Entry& b) {
      return a.count != b.count ? a.count > b.count : a.object < b.object;
    });
    all.erase(end, all.end());
    return all;
  }

 private:
  std::size_t slot_of(std::uint64_t key) const {
    constexpr std::uint64_t kMultiplier = 0x9e37'79b9'7f4a'7c15;
    const std::size_t mask = slots_.size() - 1;
    std::uint64_t mixed = key * kMultiplier;
    mixed = (mixed ^ mixed >> 32) * kMultiplier;
    std::size_t slot = static_cast<std::size_t>(mixed >> 32) & mask;
    while (slots_[slot].count > 0 && slots_[slot].key != key) slot = (slot + 1) & mask;
    return slot;
  }
  void grow() {
    constexpr std::size_t kFirst = 32;  // a power of two, as all sizes
    std::vector<Entry> before(slots_.empty() ? kFirst : 2 * slots_.size());
    before.swap(slots_);
    for (const Entry& each : before)
      if (each.count > 0) slots_[slot_of(each.key)] = each;
  }
  void forget() {
    std::vector<Entry>().swap(slots_);
    is_full_ = true;
    used_ = kMost;
  }

  std::vector<Entry> slots_;
  std::size_t used_ = 0;
  bool is_full_ = false;
};

}  // namespace jtrace::coreinspect
