// SpillReader: reads the blocks of a spill (spill_format.h) and checks each of them. It does not interpret their
// contents. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/record/spill_format.h"

namespace jtrace::trace::record {

class SpillReader {
 public:
  // Reads up to `size` bytes; fewer only at the end.
  using Read = std::function<Result<std::size_t>(char* out, std::size_t size)>;
  struct Block {
    BlockHeader header;
    std::vector<std::byte> payload;
  };

  // `name` is used in errors. kMalformed: not a spill, or one of another version.
  static Result<SpillReader> open(Read read, std::string name);
  // Reads the next block into `block`; false if nothing more can be read: at the end, where the file is cut off, or at
  // damaged bytes (see fault()). Errors are those of reading.
  Result<bool> next(Block& block);
  // Why next() returned false; "" for a file that ends after a whole block.
  const std::string& fault() const { return fault_; }
  std::uint64_t position() const { return position_; }  // bytes read

 private:
  SpillReader(Read read, std::string name) : read_(std::move(read)), name_(std::move(name)) {}
  Result<bool> fill(void* out, std::size_t size);

  Read read_;
  std::string name_;
  std::uint64_t position_ = 0;
  std::string fault_;
};

}  // namespace jtrace::trace::record
