// Zeroed memory in a mapping of its own; the kernel supplies each page when it is touched.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace jtrace::agent {

// nullptr if there is none. `at` with MAP_FIXED in `flags`: replaces what is mapped there.
inline void* anonymous_memory(std::size_t size, void* at = nullptr, int flags = 0) {
  void* memory = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace jtrace::agent
