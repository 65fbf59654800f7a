// CopyPlan: which memory of a process a core holds, and from where: out of the process, out of its files, or zeros.
//
//   anonymous memory           resident or swapped pages out of the process; what was never touched is zeros
//   shared memory (heap of ZGC, hsperfdata)  what its file holds, out of the process; memory mapped twice is copied
//   once private mapping of a file, changed       resident pages out of the process, the rest out of the file library,
//   class data archive              out of the file (CopyOptions::libraries), or a library's first page any other file
//   nothing: NT_FILE names it memory that may not be read, of devices, [vvar]: nothing
//
// Which mappings are changed, smaps says before the stop; a mapping that is new in the stop counts as changed.
// Ownership: borrows process and options. Threads: one.
#pragma once

#include <array>
#include <cstddef>
#include <set>
#include <vector>

#include "target/process_copy.h"

namespace jtrace::target {

// Pages to be copied out of the process.
struct CopyRun {
  Address start = 0, end = 0;
  std::uint64_t offset = 0;  // in the copy
};

// Pages to be read out of a mapped file.
struct FileRun {
  Mapping mapping;
  Address start = 0, end = 0;
  std::uint64_t offset = 0;  // in the copy of files
};

struct PlannedBytes {
  enum Kind : std::uint8_t { kMemory, kFile, kZeros };
  Kind kind = kMemory;
  std::uint64_t offset = 0, size = 0;
};

struct PlannedRange {
  CoreRange range;  // without its bytes
  std::vector<PlannedBytes> parts;
};

class CopyPlan {
 public:
  static constexpr std::size_t kSmallGap = 64u << 10;  // untouched memory that is written as zeros between pages

  CopyPlan(const Process& process, const CopyOptions& options);

  // Before the stop.
  Result<> look();
  // In the stop, or before it to learn how much it will be. `stack_pointers`: of the threads.
  void make(const std::vector<Mapping>& mappings, const std::vector<Address>& stack_pointers);

  const std::vector<CopyRun>& memory_runs() const { return memory_runs_; }
  const std::vector<FileRun>& file_runs() const { return file_runs_; }
  // Of shared memory: read in the stop through its file, because a read of the process's memory would map pages there
  // that it has not touched. Offsets are in the copy of memory.
  const std::vector<FileRun>& shared_runs() const { return shared_runs_; }
  const std::vector<PlannedRange>& ranges() const { return ranges_; }
  std::uint64_t memory_bytes() const { return memory_bytes_; }
  std::uint64_t file_bytes() const { return file_bytes_; }
  // kSmallGap bytes that live as long as the program.
  static std::span<const std::byte> zeros();

 private:
  enum class Source : std::uint8_t { kNothing, kMemory, kShared, kChangedFile, kFile, kFirstPage };

  Source source_of(const Mapping& mapping) const;
  bool is_library(const Mapping& mapping) const;
  bool is_changed(const Mapping& mapping) const;
  std::vector<PageRun> wanted(const Mapping& mapping, Source source, const std::vector<Address>& stack_pointers) const;
  void add_mapping(const Mapping& mapping, const std::vector<Address>& stack_pointers);
  bool add_alias(const Mapping& mapping);
  void add_memory(const Mapping& mapping, const PageRun& run, bool shared);
  void add_changed_file(const Mapping& mapping, const PageRun& run);
  void add_file(const Mapping& mapping, const PageRun& run);
  void add_nothing(const Mapping& mapping, Address start, Address end);
  void add_zeros(const Mapping& mapping, Address start, Address end);
  PlannedRange& new_range(const Mapping& mapping, Address start, Address end);
  void append_memory(PlannedRange& to, Address start, Address end);
  void append_shared(PlannedRange& to, const Mapping& mapping, Address start, Address end);
  void append_file(PlannedRange& to, const Mapping& mapping, Address start, Address end);
  std::vector<PageRun> resident(const Mapping& mapping, const PageRun& run) const;
  std::vector<PageRun> data_of_file(const Mapping& mapping, const PageRun& run) const;

  const Process& process_;
  const CopyOptions& options_;
  Pagemap pagemap_;
  std::set<Address> unchanged_;                          // starts of private file mappings without a page of their own
  std::set<std::pair<dev_t, ino_t>> libraries_;          // files of which some part may be executed
  std::vector<std::pair<Mapping, std::size_t>> shared_;  // whole mappings of shared memory, and their first range
  std::vector<CopyRun> memory_runs_;
  std::vector<FileRun> file_runs_, shared_runs_;
  std::vector<PlannedRange> ranges_;
  std::uint64_t memory_bytes_ = 0, file_bytes_ = 0;
};

}  // namespace jtrace::target
