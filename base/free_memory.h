// How much memory this process may take without harm to the machine or to its container.
#pragma once

#include <cstdint>
#include <string>

namespace jtrace {

// Where the kernel says it; a test says it itself.
struct MemoryFiles {
  std::string proc = "/proc";
  std::string cgroup = "/sys/fs/cgroup";
};

// Bytes: the least of the machine's MemAvailable (proc(5)), of what the process's cgroup still allows (version 2:
// memory.max and memory.current; version 1: memory.limit_in_bytes and memory.usage_in_bytes; page cache that the kernel
// can drop, inactive_file of memory.stat, counts as free), and of the address space that RLIMIT_AS leaves.
// UINT64_MAX where nothing bounds it. Threads: any.
std::uint64_t free_memory(const MemoryFiles& files = {});

}  // namespace jtrace
