// ProcessMemory: the memory of a live process, by process_vm_readv(2), else by /proc/PID/mem.
//
// The target runs on while it is read: two reads may see two moments. Needs the right to trace it (ptrace(2), "Ptrace
// access mode checking", PTRACE_MODE_ATTACH). Ownership: borrows `process`, which must outlive it. Threads: any.
#pragma once

#include <atomic>

#include "target/memory_reader.h"
#include "target/process.h"

namespace jtrace::target {

class ProcessMemory final : public MemoryReader {
 public:
  explicit ProcessMemory(const Process& process);

  Result<std::size_t> read_some(Address address, std::span<std::byte> out) const override;

 private:
  const Process& process_;
  UniqueFd mem_;                              // /proc/PID/mem; opened once: it stays of this process
  mutable std::atomic<bool> use_mem_{false};  // process_vm_readv is not there or not allowed (seccomp)
};

}  // namespace jtrace::target
