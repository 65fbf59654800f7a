// ResidentPages: which pages of a live process have contents, so that pages that were never touched need not be read.
//
// If a page that its process has never touched is read, the kernel maps a page of zeros there: the target's page tables
// grow because of the reader. /proc/PID/pagemap (proc_pid_pagemap(5), Documentation/admin-guide/mm/pagemap.rst) shows
// which pages are present or in the swap; reading its flags needs no more rights than reading the memory. An absent
// page is zero only in private memory without a file: a page of shared memory (the heap of ZGC) or of a file may exist
// without being mapped, and a userfaultfd supplies a page when it is read. Such pages must always be read. The kind of
// memory is taken from /proc/PID/smaps, which is read when the first absent page is found, or by look(). For that file
// the kernel walks the target's page tables, so it is not read for a process of more than kMaxResident; then, and if
// pagemap or smaps cannot be read, all pages must be read. Ownership: borrows the process. Threads: any.
#pragma once

#include <mutex>
#include <string_view>
#include <vector>

#include "target/pagemap.h"

namespace jtrace::target {

// The ranges of the text of /proc/PID/smaps in which an absent page is zero; adjacent ranges are joined.
std::vector<PageRun> parse_zero_backed(std::string_view smaps);

class ResidentPages {
 public:
  static constexpr std::uint64_t kMaxResident = 4ull << 30;  // bytes
  // Shorter gaps are read: their page table (of 2 MiB) exists already, or will soon.
  static constexpr std::uint64_t kSmallGap = 512u << 10;

  explicit ResidentPages(const Process& process);

  // The parts of [start, end) that must be read, by address; the rest is zero. Never fails: unknown parts must be read.
  std::vector<PageRun> to_read(Address start, Address end) const;
  // Reads the mappings now: before a stop, which must not wait for it.
  void look() const;
  // Discards what is known of the mappings; it is read again when needed.
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
