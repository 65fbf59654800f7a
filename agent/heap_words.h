// Words of the JVM that jtrace has named (CountersFields), read in the JVM. Any thread, also at a safepoint.
#pragma once

#include <cstdint>

#include "trace/record/frames.h"

namespace jtrace::agent {

inline std::uint64_t read_counter(std::uint64_t address) {
  return *reinterpret_cast<const volatile std::uint64_t*>(address);
}
inline const char* text_at(std::uint64_t address) { return reinterpret_cast<const char*>(address); }

// Bytes of the heap in use.
inline std::uint64_t used_in(const trace::record::frame_types::Spaces& spaces) {
  std::uint64_t used = 0;
  for (const trace::record::SpaceItem& space : spaces)
    used += read_counter(space.top) - (space.bottom != 0 ? read_counter(space.bottom) : 0);
  return used;
}

// Bytes of the survivor space in use. Only in a pause: a collection makes the other one that.
inline std::uint64_t size_of_survivor(const trace::record::CountersFields& counters) {
  const std::uint64_t space = read_counter(counters.survivor);
  return read_counter(space + counters.survivor_end) - read_counter(space + counters.survivor_bottom);
}

}  // namespace jtrace::agent
