// CoreMemory: the memory of a dumped process: the contents of the core and, for what it lacks, the files of its NT_FILE
// note.
//
// A file is used only if it is the one that was mapped: its build id must equal that in the dumped first page. Files
// without a build id (class data archives), and those whose first page is not in the core, are used unchecked and
// counted in notes(). Ownership: borrows the core, maps the files. Threads: const functions from any thread.
//
// A file whose bytes are all in the core is not opened until its symbols are asked for (note_unnamed).
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
  // False for a copy that is read without files on purpose: note_unnamed() does nothing.
  bool tell_unnamed = true;
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
  // Files that cannot be used and from which a read was tried, or whose symbols were asked for, with the reason; one
  // line each.
  std::vector<std::string> problems() const;
  // Symbols of that file were asked for, and it was not there or not the one that was mapped.
  void note_unnamed(const std::string& path) const;
  // "--sysroot /x is not used ..." if that or --libjvm was given, what it has in the place of `path`, a libjvm.so, does
  // not fit, and no line of problems() says so; otherwise "".
  std::string unused_option(const std::string& path) const;
  std::uint64_t bytes_from_files() const { return bytes_from_files_; }
  const std::string& sysroot() const { return options_.sysroot; }
  bool has_own_libjvm() const { return !options_.libjvm.empty(); }  // --libjvm
  // Opens the file that is in the place of a mapped one: that of --libjvm, or the one below the sysroot.
  Result<UniqueFd> open_mapped(const std::string& path) const;
  // That file is the one that was mapped. Errors: it is missing, or another one; the help says what would fit.
  Result<> check_mapped(const std::string& path) const;

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
  std::string local_path(const std::string& path) const;  // as it is shown
  const MappedFile& file_of(const std::string& path);
  Result<MappedFile> map_file(const std::string& path) const;
  Result<MappedFile> check_and_map(const std::string& path) const;
  Result<> check_identity(UniqueFd file, const std::string& path) const;
  std::string why_unusable(const std::string& path) const;     // "": it is the file that was mapped
  bool is_told(const std::string& path) const;                 // as a file from which a read was tried
  std::string dumped_build_id(const std::string& path) const;  // "": the core has none of this file
  std::string help_for_missing(const std::string& path) const;
  std::string help_for(const std::string& path, const std::string& fits) const;
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
  mutable std::mutex unnamed_mutex_;
  mutable std::map<std::string, std::string> unnamed_;  // by path, why; "": it fits
};

}  // namespace jtrace::target
