// IdSet: a set of small dense numbers (ids of a trace): a bit each up to a bound, a hash set above it (VM-internal
// threads). One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace jtrace::session {

class IdSet {
 public:
  // False if it was in the set already.
  bool insert(std::uint64_t id) {
    if (id / 64 >= words_.size()) [[unlikely]] {
      if (id >= kDense) return sparse_.size() < kSparse && sparse_.insert(id).second;
      grow(id / 64 + 1);
    }
    const std::uint64_t bit = std::uint64_t{1} << (id % 64);
    const bool fresh = (words_[id / 64] & bit) == 0;
    words_[id / 64] |= bit;
    return fresh;
  }
  bool contains(std::uint64_t id) const {
    if (id >= kDense) return sparse_.count(id) != 0;
    return id / 64 < words_.size() && (words_[id / 64] >> (id % 64) & 1) != 0;
  }
  void clear() {
    words_.clear();
    sparse_.clear();
  }

 private:
  // The ids come from a foreign process: these limits bound the memory (128 MiB, about 64 MiB).
  static constexpr std::uint64_t kDense = 1u << 30;
  static constexpr std::size_t kSparse = 1u << 20;
  // Never beyond kDense: what is above it stays in `sparse_`. Not inlined: insert() is in the path of every event.
  [[gnu::noinline]] void grow(std::size_t least) {
    words_.resize(std::min<std::size_t>(least + words_.size() / 4, kDense / 64));
  }
  std::vector<std::uint64_t> words_;
  std::unordered_set<std::uint64_t> sparse_;
};

}  // namespace jtrace::session
