// PoolFile: the file behind a pool, mapped. In /dev/shm, or beside the output where
// that is too small. Mode 0600. Its memory is allocated, touched and charged here,
// before the agent sees it. Removed at a clean end; else `jtrace recover` finds it
// (session/left_pools.h). It has its name, and with it a life beyond this process, only
// when it is laid out and locked; on file systems without O_TMPFILE before that.
//
// The target holds a descriptor of the file and could cut it: a read beyond its end raises SIGBUS. The mapping is
// guarded: such a page becomes one of zeros, and was_cut() says so. Ownership: owns descriptor and mapping; the name
// until remove() or keep(). Threads: one.
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
  // folder to use where /dev/shm has no room.
  static Result<PoolFile> create(std::uint64_t size, std::string_view session, int pid, std::uint64_t start_ticks,
                                 const std::string& beside);
  // For a size that nobody asked for: it, or its half, quarter or eighth, whichever /dev/shm has room for first, and
  // said where that is less. Where it has room for none of them: `size`.
  static std::uint64_t size_with_room(std::uint64_t size);
  // A pool that another jtrace left. kMalformed where it is no pool, kRefused where its jtrace still lives.
  static Result<PoolFile> open(const std::string& path);
  PoolFile(PoolFile&& other) noexcept;
  PoolFile& operator=(PoolFile&&) = delete;
  ~PoolFile();

  std::span<std::byte> memory() const { return memory_; }
  // To hand to the agent: an open file of its own, so that the lock below is ours alone.
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

// What the name of a pool says: the JVM, as its jtrace saw it.
struct PoolName {
  int pid = 0;
  std::uint64_t start_ticks = 0;
};
// Of a path; nullopt where it is no pool's.
std::optional<PoolName> parse_pool_name(std::string_view path);
// Paths in /dev/shm of the right name.
std::vector<std::string> pool_files();

}  // namespace jtrace::session
