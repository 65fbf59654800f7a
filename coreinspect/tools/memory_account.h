// MemoryAccount: the bytes of each part of a JVM's memory: how many addresses, how many in memory, how many in the
// swap.
//
// What is in memory is what /proc/PID/smaps says of each mapping. A mapping that several parts share is divided by
// /proc/PID/pagemap. ZGC up to JDK 21 maps its heap several times, and RSS counts a page once for each view of it that
// was touched: here it counts once. A value. Threads: one at a time. Errors: those of reading smaps.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/tools/malloc_heaps.h"
#include "coreinspect/tools/memory_owners.h"

namespace jtrace::coreinspect {

struct PartBytes {
  std::uint64_t bytes = 0;     // of addresses
  std::uint64_t resident = 0;  // in memory
  std::uint64_t swap = 0;
};

// A file of the part "mapped files".
struct MappedFileBytes {
  std::string path;
  std::size_t mappings = 0;
  PartBytes bytes;
};

struct MemoryAccount {
  std::array<PartBytes, kMemoryParts> parts;
  bool has_pages = false;           // of a core nothing is known but addresses
  std::uint64_t rss = 0;            // as the kernel counts it
  std::uint64_t counted_again = 0;  // bytes of rss that are further views of pages of the heap
  unsigned heap_views = 1;          // how often the heap is mapped
  MallocMemory malloc;
  std::vector<MappedFileBytes> files;  // that with most bytes first
  std::vector<std::string> missing;    // one line each

  PartBytes& of(MemoryPart part) { return parts[static_cast<std::size_t>(part)]; }
  const PartBytes& of(MemoryPart part) const { return parts[static_cast<std::size_t>(part)]; }
  std::uint64_t resident() const;  // of all parts: rss without counted_again
  std::uint64_t swapped() const;
};

Result<MemoryAccount> take_memory_account(Inspection& inspection);

}  // namespace jtrace::coreinspect
