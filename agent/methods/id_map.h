// IdMap: maps numbers to numbers, with open addressing. 0 is neither a key nor a value. MapById has other values than
// numbers. One thread, or under a lock.
#pragma once

#include <cstdint>
#include <vector>

namespace jtrace::agent {

template <class Value>
class MapById {
 public:
  // Value{} if the key is missing.
  Value find(std::uint64_t key) const {
    if (slots_.empty()) return Value{};
    return slots_[place(key)].value;
  }
  void put(std::uint64_t key, Value value) {
    if (count_ * 2 >= slots_.size()) grow();
    Slot& slot = slots_[place(key)];
    if (slot.key == 0) ++count_;
    slot = {key, value};
  }
  void erase(std::uint64_t key) {
    if (slots_.empty()) return;
    std::size_t hole = place(key);
    if (slots_[hole].key == 0) return;
    --count_;
    // Entries that were displaced move up, so that no search ends at the hole.
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = (hole + 1) & mask; slots_[i].key != 0; i = (i + 1) & mask) {
      if (((i - first_place(slots_[i].key)) & mask) < ((i - hole) & mask)) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = {};
  }
  std::size_t size() const { return count_; }
  // use(key, value) for each entry, in no order.
  template <class Use>
  void for_each(Use&& use) const {
    for (const Slot& slot : slots_)
      if (slot.key != 0) use(slot.key, slot.value);
  }

 private:
  static constexpr std::size_t kFewest = 16;
  struct Slot {
    std::uint64_t key = 0;
    Value value{};
  };
  std::size_t first_place(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ull) >> 20) & (slots_.size() - 1);
  }
  std::size_t place(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = first_place(key);
    while (slots_[i].key != 0 && slots_[i].key != key) i = (i + 1) & mask;
    return i;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? kFewest : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.key != 0) slots_[place(slot.key)] = slot;
  }

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

using IdMap = MapById<std::uint32_t>;

}  // namespace jtrace::agent
