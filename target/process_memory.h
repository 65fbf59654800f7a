// ProcessMemory: the memory of a live process, read by process_vm_readv(2), otherwise through /proc/PID/mem.
//
// The target runs while it is read: two reads may see two moments. Needs the right to trace it (ptrace(2), "Ptrace
// access mode checking", PTRACE_MODE_ATTACH). Ownership: borrows `process`, which must outlive it. Threads: any.
#pragma once

#include <atomic>
#include <mutex>

#include "target/memory_reader.h"
#include "target/process.h"
#include "target/resident_pages.h"

namespace jtrace::target {

class PageSet;

class ProcessMemory final : public MemoryReader {
 public:
  // `record`, where it is given: gets the pages of everything that is read; any thread may read.
  explicit ProcessMemory(const Process& process, PageSet* record = nullptr);

  Result<std::size_t> read_some(Address address, std::span<std::byte> out) const override;

  // Reads `size` bytes at each of many places, with few system calls; zeros for places that cannot be read. `out` has
  // room for all.
  void read_each(std::span<const Address> places, std::size_t size, std::span<std::byte> out) const;
  // The same for ranges of different sizes; of one that can be read in part, zeros for the rest.
  struct Part {
    Address start = 0;
    std::span<std::byte> into;
  };
  void read_parts(std::span<const Part> parts) const;

  // Switches on or off: long reads do not read pages that the target never touched, but return zeros for them
  // (ResidentPages), so that the target's page tables do not grow. The mappings are read anew.
  void skip_untouched(bool skip) const;
  const ResidentPages& pages() const { return pages_; }
  // The number of bytes of a range that such a read has to copy.
  std::uint64_t resident(Address start, Address end) const;

 private:
  Result<std::size_t> fetch(Address address, std::span<std::byte> out) const;
  void note(Address address, std::size_t size) const;

  const Process& process_;
  ResidentPages pages_;
  PageSet* record_;
  mutable std::mutex record_mutex_;
  UniqueFd mem_;  // /proc/PID/mem; as long as it is open, it refers to this process
  mutable std::atomic<bool> skip_untouched_{false};
  mutable std::atomic<bool> use_mem_{false};  // process_vm_readv does not exist or is not allowed (seccomp)
};

}  // namespace jtrace::target
