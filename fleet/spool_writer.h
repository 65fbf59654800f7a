// SpoolWriter: appends batches to a spool on disk, within a limit. Killed at any moment, it leaves whole records and at
// most a part of one, which the next writer cuts off. Its reader is another thread or process: they share files only.
// One writer a folder (a lock). One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::fleet {

struct SpoolLimits {
  std::uint64_t size = 1u << 30;        // of all files
  std::uint64_t file_size = 16u << 20;  // a file is deleted as a whole once all of it was sent
  std::uint64_t min_free = 64u << 20;   // bytes that stay free in the file system
};

class SpoolWriter {
 public:
  // Makes the folder where there is none. kRefused: another writer has it.
  static Result<SpoolWriter> open(const std::string& folder, const SpoolLimits& limits = {});

  // False: there is no room for it (the limit, or the disk); nothing was written.
  Result<bool> append(std::uint64_t batch, std::string_view bytes);
  // The number of the last batch that the folder has; 0: none.
  std::uint64_t last_batch() const { return last_batch_; }
  // What was cut off of a record that a killed writer had begun.
  std::uint64_t cut_bytes() const { return cut_bytes_; }
  // Writes to the disk what is in the system's memory.
  Result<> sync();

 private:
  Result<> recover();
  Result<> cut(int fd, std::uint64_t whole);
  Result<> next_file();
  bool has_room(std::uint64_t size);

  std::string folder_;
  SpoolLimits limits_;
  UniqueFd lock_, fd_;
  std::uint32_t file_ = 0;
  std::uint64_t in_file_ = 0;
  std::uint64_t total_ = 0;  // an upper bound: the reader deletes files
  std::uint64_t last_batch_ = 0, cut_bytes_ = 0;
};

}  // namespace jtrace::fleet
