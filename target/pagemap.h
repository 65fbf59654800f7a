// Pagemap: which pages of a process are there or in the swap, from /proc/PID/pagemap.
//
// proc_pid_pagemap(5), Documentation/admin-guide/mm/pagemap.rst: its flags need no more rights than reading the memory
// does, and asking for them makes no page appear. From Linux 6.7 on the kernel gives runs of pages (PAGEMAP_SCAN), four
// times as fast; before that one entry of 8 bytes for each page. Either way the target's mmap lock is held for a short
// stretch at a time. Ownership: owns a descriptor; opened once, it stays of this address space. Threads: any.
#pragma once

#include <functional>

#include "target/memory_reader.h"
#include "target/process.h"

namespace jtrace::target {

struct PageRun {
  Address start = 0, end = 0;
  bool operator==(const PageRun&) const = default;
};

enum class PageKind : std::uint8_t {
  kPresent,
  kZero,     // the kernel's page of zeros: read, but never written, and not part of RSS
  kSwapped,  // in the swap
  kGuard,    // a guard page (MADV_GUARD_INSTALL); only where the kernel has no PAGEMAP_SCAN
};

class Pagemap {
 public:
  using Visitor = std::function<void(const PageRun&, PageKind)>;

  explicit Pagemap(const Process& process);

  // Visits the pages of [start, end) that are there or in the swap, by address, in runs. The ends are aligned outwards.
  // False where it cannot be read; what was visited until then counts.
  bool visit(Address start, Address end, const Visitor& visitor) const;
  // The same by entries alone, for tests.
  bool visit_entries(Address start, Address end, const Visitor& visitor) const;

  bool is_open() const { return static_cast<bool>(file_); }

  static std::uint64_t page_size();

 private:
  bool visit_runs(Address& at, Address end, const Visitor& visitor) const;

  UniqueFd file_;
};

}  // namespace jtrace::target
