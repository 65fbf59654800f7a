// ResidentPages: which pages of a live process hold something, so that those that were never touched need not be read.
//
// To read a page that its process has never touched makes the kernel map a page of zeros there: the target's page
// tables grow by what somebody else has read. /proc/PID/pagemap (proc_pid_pagemap(5), Documentation/admin-guide/mm/
// pagemap.rst) tells which pages are there or in the swap; its flags need no more rights than reading the memory does.
// Absence means zeros in private memory without a file alone: a page of shared memory (the heap of ZGC) or of a file
// may be there and not mapped, and one that a userfaultfd supplies comes when it is read. Those are always to be read.
// What is what /proc/PID/smaps says; it is read once a page is absent, or by look(). The kernel walks the target's page
// tables for it: of a process of more than kMaxResident it is not asked, and everything is to be read, as where pagemap
// or smaps cannot be read.
// Ownership: borrows the process. Threads: any.
#pragma once

#include <mutex>
#include <string_view>
#include <vector>

#include "target/pagemap.h"

namespace jtrace::target {

// The ranges of the text of /proc/PID/smaps in which an absent page is one of zeros; neighbours are one range.
std::vector<PageRun> parse_zero_backed(std::string_view smaps);

class ResidentPages {
 public:
  static constexpr std::uint64_t kMaxResident = 4ull << 30;  // bytes
  // What is shorter is read: its page table (of 2 MiB) is there already, or soon.
  static constexpr std::uint64_t kSmallGap = 512u << 10;

  explicit ResidentPages(const Process& process);

  // The parts of [start, end) that are to be read, by address; the rest reads as zeros. Never fails: what is not known
  // is to be read.
  std::vector<PageRun> to_read(Address start, Address end) const;
  // Reads the mappings now: before a stop, which must not wait for it.
  void look() const;
  // What is known of the mappings is asked again when it is needed.
  void forget() const;

 private:
  bool is_zero_backed(const PageRun& gap) const;

  const Process& process_;
  Pagemap pagemap_;
  mutable std::mutex mutex_;
  mutable std::vector<PageRun> zero_backed_;
  mutable bool looked_ = false;
};

}  // namespace jtrace::target
