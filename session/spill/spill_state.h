// SpillState: what a further spill must repeat, so that it can be read without those before it: definitions, and for
// each producer its position and its thread. It learns this from everything that goes into a spill, and counts it. One
// thread.
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
  // `counts_methods`: the counts of methods may come after their class was unloaded.
  explicit SpillState(bool counts_methods) : counts_methods_(counts_methods) {}

  // A part of the stream of definitions, or of a chunk, was read. `written`: also written into the current file.
  void on_definitions(const trace::record::EventPart& part, bool written);
  void on_events(const trace::record::EventPart& part);

  // A further spill begins: returns the definitions of its head, which come before the trace's start; after them come
  // positions.
  SpillDefinitions::Missing begin_further();
  Result<> write_positions(trace::record::SpillWriter& writer) const;
  // The definitions to which a part of events, or counts, refers and that the further spill does not have. They count
  // as written.
  SpillDefinitions::Missing missing(const trace::record::EventPart& part);
  SpillDefinitions::Missing missing(const MethodCounts& counts);

  std::uint64_t events() const { return events_; }  // records that make an element
  std::uint64_t malformed() const { return malformed_; }
  std::uint64_t methods() const { return definitions_.methods(); }  // defined methods
  // The bytes of a count with its definitions, if the spill may have none of them yet.
  std::uint64_t count_bytes() const;

 private:
  struct Position {
    std::uint32_t sequence = 0;  // of the chunk
    std::uint64_t end = 0;       // in the chunk, bytes
    std::optional<trace::record::ThreadRecord> runs;
  };
  class Learner;
  void learn_event(const trace::record::RecordHeader& header, const std::byte* record, Position& position);

  const bool counts_methods_;
  trace::record::RecordMerger stream_;
  Position stream_position_;
  SpillDefinitions definitions_;
  bool is_further_ = false;  // the first spill has the stream of definitions from its beginning
  std::unordered_map<std::uint32_t, Position> producers_;
  std::uint64_t events_ = 0;
  std::uint64_t malformed_ = 0;
};

}  // namespace jtrace::session
