// SpillState: what a further spill must repeat, so that it can be read without
// those before it: definitions, and for each producer its position and its thread.
// It learns this from all that goes into a spill, and counts it. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "base/result.h"
#include "session/document/method_counts.h"
#include "session/spill/spill_definitions.h"
#include "trace/record/definition.h"
#include "trace/record/record_merger.h"
#include "trace/record/spill_writer.h"

namespace jtrace::session {

class SpillState {
 public:
  // What was written of a part of the stream of definitions, or of a chunk.
  // `written`: into the file at hand; else it is known alone.
  void on_definitions(const trace::record::EventPart& part, bool written);
  void on_events(const trace::record::EventPart& part);

  // A further spill begins: the definitions of its head, before the trace starts; and positions, after that.
  SpillDefinitions::Missing begin_further();
  Result<> write_positions(trace::record::SpillWriter& writer) const;
  // What a part of events, or counts, refer to and the further spill has not. They count as written.
  SpillDefinitions::Missing missing(const trace::record::EventPart& part);
  SpillDefinitions::Missing missing(const MethodCounts& counts);

  std::uint64_t events() const { return events_; }  // records that make an element
  std::uint64_t malformed() const { return malformed_; }
  std::uint64_t methods() const { return definitions_.methods(); }  // that are defined
  // Of a count with its definitions, where the spill may have none of them yet.
  std::uint64_t count_bytes() const;

 private:
  struct Position {
    std::uint32_t sequence = 0;  // of the chunk
    std::uint64_t end = 0;       // in the chunk, bytes
    std::optional<trace::record::ThreadRecord> runs;
  };
  class Learner;
  void learn_event(const trace::record::RecordHeader& header, const std::byte* record, Position& position);

  trace::record::RecordMerger stream_;
  Position stream_position_;
  SpillDefinitions definitions_;
  bool is_further_ = false;  // the first spill has the stream of definitions from its beginning
  std::unordered_map<std::uint32_t, Position> producers_;
  std::uint64_t events_ = 0;
  std::uint64_t malformed_ = 0;
};

}  // namespace jtrace::session
