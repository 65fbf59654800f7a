// The header word of an object if it has the class (JDK 24 and later, -XX:+UseCompactObjectHeaders).
#pragma once

#include "target/memory_reader.h"

namespace jtrace::coreinspect {

// The word whose upper bits are the class. A collector that copies objects while the program runs (Shenandoah), or that
// was interrupted (a core), leaves the address of the copy in the old object's header, with 3 in its lowest bits
// (markWord::marked_value). Then the result is the copy's word. A sliding full collection writes 3 too, but keeps the
// class (FullGCForwarding): such a value is too large for an address of user space.
inline Result<std::uint64_t> compact_header(const target::MemoryReader& memory, target::Address object) {
  constexpr std::uint64_t kMarked = 3, kFlags = 7;
  constexpr unsigned kBitsOfAddresses = 47;
  JTRACE_ASSIGN_OR_RETURN(const auto word, memory.read<std::uint64_t>(object));
  if ((word & kMarked) != kMarked || word >> kBitsOfAddresses != 0) return word;
  const auto copy = memory.read<std::uint64_t>(word & ~kFlags);
  return copy && (*copy & kMarked) != kMarked ? *copy : word;
}

}  // namespace jtrace::coreinspect
