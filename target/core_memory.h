// CoreMemory: the memory of a dumped process: what the core holds, and for what it lacks the files of its NT_FILE note.
//
// A file stands in only where it is the one that was mapped: its build id equals the one in the dumped first page.
// Files that carry no build id (class data archives) or whose first page is not in the core are taken as they are and
// counted in notes(). Ownership: borrows the core, maps the files. Threads: const functions from any thread.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "target/core_file.h"
#include "target/memory_reader.h"

namespace jtrace::target {

struct CoreFileOptions {
  std::string sysroot;  // where the paths of NT_FILE are looked up; "" is /
  std::string libjvm;   // the file that stands for libjvm.so, wherever it was
};

class CoreMemory final : public MemoryReader {
 public:
  // Never fails: a file that cannot be had is a line in problems() once something of it is asked for.
  CoreMemory(const CoreFile& core, const CoreFileOptions& options);
  ~CoreMemory() override;
  CoreMemory(const CoreMemory&) = delete;
  CoreMemory& operator=(const CoreMemory&) = delete;

  Result<std::size_t> read_some(Address address, std::span<std::byte> out) const override;
  std::span<const std::byte> view(Address address) const override;

  // Files that cannot be had and that a read has asked for since, with the reason; one line each.
  std::vector<std::string> problems() const;
  std::uint64_t bytes_from_files() const { return bytes_from_files_; }
  const std::string& sysroot() const { return options_.sysroot; }
  // The mapped path as a file of this machine.
  std::string local_path(const std::string& path) const;

 private:
  struct Problem {
    std::string text;
    mutable std::atomic<bool> wanted = false;  // reads may come from several threads
  };
  struct Hole {  // memory that such a file would give
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
    const Problem* problem = nullptr;  // where it is not usable
  };

  void add_segments();
  void add_files();
  void sort_and_merge(std::vector<Piece>& pieces) const;
  const MappedFile& file_of(const std::string& path);
  Result<MappedFile> map_file(const std::string& path);
  Result<> check_identity(const std::string& path) const;
  const Piece* find(Address address) const;
  void note_hole(Address address) const;

  const CoreFile& core_;
  CoreFileOptions options_;
  std::vector<Piece> pieces_;
  std::map<std::string, MappedFile> mapped_;
  std::deque<Problem> problems_;
  std::vector<Hole> holes_;  // sorted by start
  std::uint64_t bytes_from_files_ = 0;
};

}  // namespace jtrace::target
