// How much memory this process may use without harm to the machine or to its container.
#pragma once

#include <cstdint>
#include <string>

namespace jtrace {

// The kernel's files; tests supply others.
struct MemoryFiles {
  std::string proc = "/proc";
  std::string cgroup = "/sys/fs/cgroup";
};

// Bytes: the minimum of
// - the machine's MemAvailable (proc(5));
// - what the process's cgroup still allows (version 2: memory.max and memory.current; version 1: memory.limit_in_bytes
// and memory.usage_in_bytes). Page cache that the kernel can drop, inactive_file of memory.stat, counts as free;
// - the address space that RLIMIT_AS leaves.
// UINT64_MAX if there is no limit. Threads: any.
std::uint64_t free_memory(const MemoryFiles& files = {});

}  // namespace jtrace
