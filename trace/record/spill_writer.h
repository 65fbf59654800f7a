// SpillWriter: writes the blocks of a spill (spill_format.h) into a ByteSink, each as one record of the sink, so that
// none is cut in two if the sink is full. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "trace/byte_sink.h"
#include "trace/record/record_merger.h"
#include "trace/record/spill_format.h"

namespace jtrace::trace::record {

class SpillWriter {
 public:
  // Borrows `bytes`.
  explicit SpillWriter(ByteSink& bytes) : bytes_(&bytes) {}
  // Continues in another file.
  void redirect(ByteSink& bytes) { bytes_ = &bytes; }

  Result<> begin();
  Result<> write(BlockKind kind, std::span<const std::byte> payload);
  Result<> write(BlockKind kind, std::string_view text) { return write(kind, std::as_bytes(std::span(text))); }
  template <class Block>
  Result<> write_block(BlockKind kind, const Block& block) {
    return write(kind, std::as_bytes(std::span(&block, 1)));
  }
  // Copies the part and writes the copy, so that the checksum is that of the written bytes, whatever the part's writer
  // does meanwhile. `copy` is the copy, valid until the next call.
  Result<> write_part(BlockKind kind, const EventPart& part, std::span<const std::byte>& copy);

 private:
  Result<std::span<const std::byte>> append(BlockHeader header, std::span<const std::byte> payload);

  ByteSink* bytes_;
};

// The checksum of a block.
std::uint64_t check_of(const BlockHeader& header, std::span<const std::byte> payload);

}  // namespace jtrace::trace::record
