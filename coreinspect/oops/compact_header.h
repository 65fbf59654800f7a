// The header word of an object where the class stands in it (JDK 24 and later, -XX:+UseCompactObjectHeaders).
#pragma once

#include "target/memory_reader.h"

namespace jtrace::coreinspect {

// The word in whose upper bits the class stands. A collector that copies objects beside the program (Shenandoah), or
// that was stopped in the middle (a core), leaves the address of the copy in the old object's header, with 3 in its
// lowest bits (markWord::marked_value): then it is the copy's. A header that a sliding full collection has written has
// 3 there too, and keeps the class (FullGCForwarding): no address of user space is that large.
inline Result<std::uint64_t> compact_header(const target::MemoryReader& memory, target::Address object) {
  constexpr std::uint64_t kMarked = 3, kFlags = 7;
  constexpr unsigned kBitsOfAddresses = 47;
  JTRACE_ASSIGN_OR_RETURN(const auto word, memory.read<std::uint64_t>(object));
  if ((word & kMarked) != kMarked || word >> kBitsOfAddresses != 0) return word;
  const auto copy = memory.read<std::uint64_t>(word & ~kFlags);
  return copy && (*copy & kMarked) != kMarked ? *copy : word;
}

}  // namespace jtrace::coreinspect
