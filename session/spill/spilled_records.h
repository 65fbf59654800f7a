// SpilledRecords: the records of a spill as a RecordSource: those of one pass up to its
// watermark. Younger records wait for a later pass, as they did in the pool. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "trace/record/pool_reader.h"
#include "trace/record/record_merger.h"
#include "trace/record/spill_reader.h"

namespace jtrace::session {

class SpilledRecords final : public trace::record::RecordSource {
 public:
  // Takes the payload of a block of kind kDefinitions or kEvents. kMalformed if more records wait than any pool has
  // room for.
  Result<> add(trace::record::SpillReader::Block& block);
  // The pass that the next drain() makes.
  void set_pass(std::uint64_t watermark, std::uint64_t dropped);
  // Adds what a pool has beyond the spill's parts, for the last pass. The pool is only read.
  Result<> add_rest(trace::record::PoolReader& pool);

  // `limit` is not used: no chunk waits to be freed.
  Result<Pass> drain(trace::record::RecordSink& sink, Mode mode, std::uint64_t limit) override;
  void release(bool) override {}
  Counts counts() const override;

 private:
  struct Position {  // of the stream of definitions
    std::uint32_t sequence = 0;
    std::uint64_t end = 0;
  };
  // Up to which byte each chunk of a producer is known. Chunks before the first that the file has are known whole: an
  // earlier file of a rotated trace has them.
  using Chunks = std::map<std::uint32_t, std::uint64_t>;
  class Rest;

  trace::record::RecordMerger merger_;
  std::vector<std::byte> definitions_;
  std::vector<trace::record::EventPart> parts_;  // the tag is the index of its bytes
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<std::uint32_t> unused_;  // of bytes_
  std::uint64_t held_ = 0;             // bytes in parts_
  Position stream_position_;
  std::unordered_map<std::uint32_t, Chunks> chunks_;  // by producer
  std::uint64_t watermark_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace jtrace::session
