// IdMap: numbers to numbers, open addressing. Neither 0 may be a key nor a value. One thread, or under a lock.
#pragma once

#include <cstdint>
#include <vector>

namespace jtrace::agent {

class IdMap {
 public:
  // 0 where the key is not there.
  std::uint32_t find(std::uint64_t key) const {
    if (slots_.empty()) return 0;
    return slots_[place(key)].value;
  }
  // Where the value of a key lies until the next put(); nullptr where the key is not there. 0 may be put there: the key
  // is not there any more.
  std::uint32_t* find_place(std::uint64_t key) {
    if (slots_.empty()) return nullptr;
    Slot& slot = slots_[place(key)];
    return slot.key == 0 ? nullptr : &slot.value;
  }
  void put(std::uint64_t key, std::uint32_t value) {
    if (count_ * 2 >= slots_.size()) grow();
    Slot& slot = slots_[place(key)];
    if (slot.key == 0) ++count_;
    slot = {key, value};
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t value = 0;
  };
  std::size_t place(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ull) >> 20) & mask;
    while (slots_[i].key != 0 && slots_[i].key != key) i = (i + 1) & mask;
    return i;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 256 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.key != 0) slots_[place(slot.key)] = slot;
  }

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

}  // namespace jtrace::agent
