// PoolFile: the mapped file of a pool, in /dev/shm, or beside the output if that is too small. Mode 0600. Its memory is
// allocated, touched and charged here, before the agent sees it. It is removed at a clean end; otherwise `jtrace
// recover` finds it (session/left_pools.h). It gets its name, by which it outlives this process, only when it is
// initialised and locked (on file systems without O_TMPFILE before that).
//
// The target has a descriptor of the file and could truncate it: a read beyond its end raises SIGBUS. The mapping is
// guarded: such a page is replaced by zeros, and was_cut() returns true. Ownership: owns descriptor and mapping; the
// name until remove() or keep(). Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapping_guard.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::session {

class PoolFile {
 public:
  // An empty pool of `size` bytes with `session` (PoolHeader.session) in its header, named after the target. `beside`:
  // the folder to use if /dev/shm has no room.
  static Result<PoolFile> create(std::uint64_t size, std::string_view session, int pid, std::uint64_t start_ticks,
                                 const std::string& beside);
  // For a default size: `size`, or its half, quarter or eighth, the first for which /dev/shm has room; prints a message
  // if it is less. If there is room for none of them: `size`.
  static std::uint64_t size_with_room(std::uint64_t size);
  // Opens a pool that another jtrace left. kMalformed if it is not a pool, kRefused if its jtrace still runs.
  static Result<PoolFile> open(const std::string& path);
  PoolFile(PoolFile&& other) noexcept;
  PoolFile& operator=(PoolFile&&) = delete;
  ~PoolFile();

  std::span<std::byte> memory() const { return memory_; }
  // For the agent: an open file of its own, so that the lock belongs only to this process.
  int shared_fd() const { return shared_fd_.get(); }
  const std::string& path() const { return path_; }
  void remove();  // the name
  bool was_cut() const;

 private:
  enum class Named { kFirst, kLast };

  PoolFile() = default;
  static Result<PoolFile> make(const std::string& path, std::uint64_t size, std::string_view session, Named when);
  Result<> take_name();
  Result<> lock(bool owner);
  Result<> map(std::uint64_t size, bool owner);

  UniqueFd fd_;
  UniqueFd shared_fd_;
  std::string path_;
  bool owns_name_ = false;
  std::span<std::byte> memory_;
  MappingGuard guard_;
};

// The contents of a pool's name: the JVM, as its jtrace saw it.
struct PoolName {
  int pid = 0;
  std::uint64_t start_ticks = 0;
};
// From a path; nullopt if it is not the name of a pool.
std::optional<PoolName> parse_pool_name(std::string_view path);
// The paths in /dev/shm with such names.
std::vector<std::string> pool_files();

}  // namespace jtrace::session
