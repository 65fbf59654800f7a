// Memory of glibc's malloc, recognised by the headers of heaps and chunks alone (malloc/malloc.c, malloc/arena.c; the
// same from glibc 2.3 to 2.42), without symbols.
//
// An arena's heap is aligned to 64 MiB and begins with its heap_info. A block of the mmap threshold or more has a
// mapping of its own, which its chunk records. Only pages that are in memory are read. Threads: one at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "coreinspect/tools/memory_parts.h"
#include "target/memory_reader.h"

namespace jtrace::coreinspect {

struct MallocHeap {
  Address start = 0;
  std::uint64_t size = 0;  // bytes in use by the arena: heap_info::size
  Address arena = 0;       // malloc_state
  bool first = false;      // of its arena: it contains the malloc_state
};

struct MallocMemory {
  std::uint64_t heaps = 0, arenas = 0;  // arenas: without the main one
  std::uint64_t held = 0;               // bytes of all heaps
  std::uint64_t free = 0;               // of these, in free chunks and at the top: a lower bound
  std::uint64_t unparsable = 0;         // bytes after a chunk that changed while it was read
  std::uint64_t blocks = 0;             // large blocks
  std::uint64_t unread = 0;             // bytes of heaps that were not read: there are more than was asked for
};

// Finds both kinds and adds their parts. `is_present`: whether the page of an address is in memory.
MallocMemory find_malloc(const target::MemoryReader& memory, const std::vector<target::MappedPages>& mappings,
                         const std::function<bool(Address)>& is_present, PartMap& parts);

// The arenas alone, without their large blocks and parts, from mappings whose pages are not counted. At most about
// `most` bytes of heaps are read.
MallocMemory find_arenas(const target::MemoryReader& memory, const std::vector<target::Mapping>& mappings,
                         const std::function<bool(Address)>& is_present, std::uint64_t most);

// The chunks of a heap from `at` on, up to `end`: adds to free and unparsable. For tests.
void walk_chunks(const target::MemoryReader& memory, Address at, Address end, MallocMemory& totals);

}  // namespace jtrace::coreinspect
