// CoreMemory: the memory of a dumped process: the contents of the core and, for what it lacks, the files of its NT_FILE
// note.
//
// A file is used only if it is the one that was mapped: its build id must equal that in the dumped first page. Files
// without a build id (class data archives), and those whose first page is not in the core, are used unchecked and
// counted in notes(). Ownership: borrows the core, maps the files. Threads: const functions from any thread.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "target/core_file.h"
#include "target/memory_reader.h"

namespace jtrace::target {

class PageSet;
class ReadLog;

struct CoreFileOptions {
  std::string sysroot;  // the directory in which the paths of NT_FILE are searched; "" is /
  std::string libjvm;   // used in place of the process's libjvm.so, whatever its path was
  // If it is set: gets the pages of the reads that find nothing; it must outlive the CoreMemory.
  PageSet* missed = nullptr;
  // If they are set: get the bytes that are copied by reads, of at most kShortRead bytes and of more. They must outlive
  // the CoreMemory. What is looked at in place (view()) is in none.
  static constexpr std::size_t kShortRead = 4096;
  ReadLog* read = nullptr;
  ReadLog* long_read = nullptr;
};

class CoreMemory final : public MemoryReader {
 public:
  // Never fails: a file that cannot be used becomes a line in problems() once something of it is read.
  CoreMemory(const CoreFile& core, const CoreFileOptions& options);
  ~CoreMemory() override;
  CoreMemory(const CoreMemory&) = delete;
  CoreMemory& operator=(const CoreMemory&) = delete;

  Result<std::size_t> read_some(Address address, std::span<std::byte> out) const override;
  std::span<const std::byte> view(Address address) const override;

 protected:
  Result<std::size_t> read_text(Address address, std::span<std::byte> out) const override;

 public:
  // Files that cannot be used and from which a read was tried, with the reason; one line each.
  std::vector<std::string> problems() const;
  std::uint64_t bytes_from_files() const { return bytes_from_files_; }
  const std::string& sysroot() const { return options_.sysroot; }
  // The path of a mapped file on this machine.
  std::string local_path(const std::string& path) const;

 private:
  struct Problem {
    std::string text;
    mutable std::atomic<bool> wanted = false;  // several threads may read
  };
  struct Hole {  // memory that such a file would supply
    Address start = 0, end = 0;
    const Problem* problem = nullptr;
  };
  struct Piece {
    Address start = 0;
    Address end = 0;
    const std::byte* bytes = nullptr;
  };
  struct MappedFile {
    const std::byte* bytes = nullptr;
    std::size_t size = 0;
    bool usable = false;
    const Problem* problem = nullptr;  // if it is not usable
  };

  void add_segments();
  void add_files();
  void sort_and_merge(std::vector<Piece>& pieces) const;
  const MappedFile& file_of(const std::string& path);
  Result<MappedFile> map_file(const std::string& path);
  Result<> check_identity(const std::string& path) const;
  std::string dumped_build_id(const std::string& path) const;   // "": the core has none of this file
  std::string help_for_missing(const std::string& path) const;  // "": of no libjvm.so
  Result<> check_machine(const MappedFile& file, const std::string& path) const;
  const Piece* find(Address address) const;
  void note_hole(Address address) const;
  Result<std::size_t> copy_some(Address address, std::span<std::byte> out) const;
  void note_read(Address address, std::size_t size) const;

  const CoreFile& core_;
  CoreFileOptions options_;
  std::vector<Piece> pieces_;
  std::map<std::string, MappedFile> mapped_;
  std::deque<Problem> problems_;
  std::vector<Hole> holes_;  // sorted by start
  std::uint64_t bytes_from_files_ = 0;
  mutable std::mutex missed_mutex_;
};

}  // namespace jtrace::target
