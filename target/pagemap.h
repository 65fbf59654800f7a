// Pagemap: which pages of a process are present or in the swap, from /proc/PID/pagemap.
//
// proc_pid_pagemap(5), Documentation/admin-guide/mm/pagemap.rst: reading the flags needs no more rights than reading
// the memory, and does not make pages present. From Linux 6.7 on the kernel returns runs of pages (PAGEMAP_SCAN), four
// times as fast; before that one entry of 8 bytes for each page. In both cases the target's mmap lock is held for short
// times only. Ownership: owns a descriptor, which refers to this address space as long as it is open. Threads: any.
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
  kGuard,    // a guard page (MADV_GUARD_INSTALL); only if the kernel has no PAGEMAP_SCAN
};

class Pagemap {
 public:
  using Visitor = std::function<void(const PageRun&, PageKind)>;

  explicit Pagemap(const Process& process);

  // Visits the pages of [start, end) that are present or in the swap, by address, in runs. The ends are aligned
  // outwards. False if pagemap cannot be read; the visits until then are valid.
  bool visit(Address start, Address end, const Visitor& visitor) const;
  // The same, always by entries, for tests.
  bool visit_entries(Address start, Address end, const Visitor& visitor) const;

  bool is_open() const { return static_cast<bool>(file_); }

  static std::uint64_t page_size();

 private:
  bool visit_runs(Address& at, Address end, const Visitor& visitor) const;

  UniqueFd file_;
};

}  // namespace jtrace::target
