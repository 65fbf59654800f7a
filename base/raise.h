// Raises a number that several threads raise. Any thread; it is never lowered.
#pragma once

#include <atomic>
#include <cstdint>

namespace jtrace {

inline void raise_to(std::atomic<std::uint64_t>& place, std::uint64_t value,
                     std::memory_order order = std::memory_order_relaxed) {
  std::uint64_t seen = place.load(std::memory_order_relaxed);
  while (seen < value && !place.compare_exchange_weak(seen, value, order)) {
  }
}

}  // namespace jtrace
