// SpillState: what a further spill must begin with, so that it can be read without those before it: the definitions of
// what has not ended, and for each producer where it stands and which thread it runs. Learned from all that goes into a
// spill, which it counts on the way. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/result.h"
#include "trace/record/definition.h"
#include "trace/record/record_merger.h"
#include "trace/record/spill_writer.h"

namespace jtrace::session {

class SpillState {
 public:
  // What was written of a part of the stream of definitions, or of a chunk.
  void on_definitions(const trace::record::EventPart& part);
  void on_events(const trace::record::EventPart& part);
  // Definitions, before the trace starts in the further spill; and positions, behind that.
  Result<> write_definitions(trace::record::SpillWriter& writer) const;
  Result<> write_positions(trace::record::SpillWriter& writer) const;

  std::uint64_t events() const { return events_; }  // records that make an element
  std::uint64_t malformed() const { return malformed_; }
  std::uint64_t methods() const;  // that are defined

 private:
  using Key = std::pair<trace::record::DefinitionKind, std::uint64_t>;  // and its id
  struct Position {
    std::uint32_t sequence = 0;  // of the chunk
    std::uint64_t end = 0;       // in the chunk, bytes
    std::optional<trace::record::ThreadRecord> runs;
  };
  class Learner;
  void learn(std::span<const std::byte> definition);
  void forget(trace::record::DefinitionKind kind, std::uint64_t id);
  void learn_event(const trace::record::RecordHeader& header, const std::byte* record, Position& position);

  trace::record::RecordMerger stream_;
  Position stream_position_;
  std::map<std::uint64_t, std::string> definitions_;  // by their place in the stream; with their size in front
  std::map<Key, std::uint64_t> places_;
  std::uint64_t next_place_ = 0;
  std::unordered_map<std::uint32_t, Position> producers_;
  std::uint64_t events_ = 0;
  std::uint64_t malformed_ = 0;
};

}  // namespace jtrace::session
