// PoolReader: the drainer's side of the pool (layout.h). It returns definitions and events in an order in which each
// can be written at once: a definition before the events that were committed after it, events by time, the events of
// one producer exactly in the order in which they were written.
//
// A foreign process writes the pool: everything in it is copied once into own memory and checked before it is used.
// Invalid contents are counted and skipped; they cannot harm the process that maps the pool. Ownership: borrows the
// mapping. Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/record/layout.h"
#include "trace/record/record_merger.h"
#include "trace/record/record_source.h"

namespace jtrace::trace::record {

// Takes the contents of the pool unchanged, for a later reader. An error ends the pass and is passed on.
class PartSink {
 public:
  virtual ~PartSink() = default;
  // The next bytes of the stream of definitions. They come before the events that refer to them.
  virtual Result<> on_definitions(const EventPart& part) = 0;
  // The chunks of one producer are in order. A later pass may have the rest of a chunk though this one had a part of
  // the next: it was filled while this one looked.
  virtual Result<> on_events(const EventPart& part) = 0;
};

class PoolReader final : public RecordSource {
 public:
  // Reads and checks the shape once; kMalformed if it does not fit `memory`.
  static Result<PoolReader> open(std::span<std::byte> memory);

  Result<Pass> drain(RecordSink& sink, Mode mode, std::uint64_t limit = 100'000) override;
  // Replaces drain(): one pass without merging. Parts merged later up to Pass::time give the order in which drain()
  // would have returned them. Pass::events is the number of slots.
  Result<Pass> take(PartSink& sink, Mode mode);
  // Frees the chunks that earlier passes have drained (call it when the drained data is safe), takes back chunks of
  // idle threads if the pool runs low, and wakes writers that wait for room.
  void release(bool wake_writers) override;

  Counts counts() const override;
  AgentState agent_state() const;
  AgentWork agent_work() const;
  // Advances the coarse clock; any thread.
  void tick() const;
  // The same, for the thread whose work that is: notes how late it was (clock_gap.h), and counts that in `gaps`.
  void tick(std::uint32_t& gaps) const;
  std::uint32_t chunk_count() const { return chunk_count_; }
  std::string session_text() const;  // PoolHeader.session, up to the NUL

 private:
  struct Chunk {
    std::uint64_t drained = 0;    // bytes handed out
    std::uint64_t committed = 0;  // of the last scan that found something new
    std::uint64_t quiet_at = 0;   // `now` of the last scan that found no record being written
    std::uint64_t moved_at = 0;   // `now` of the last scan that found something new
    bool finished = false;        // as `committed`
    bool retained = false;        // definitions, read, kept for `jtrace recover`
  };

  PoolReader(Pool pool, const PoolHeader& header);
  std::uint64_t scan(Mode mode);
  void consider(std::uint32_t index, Mode mode, std::uint64_t now, std::uint64_t& watermark);
  Result<std::uint64_t> read_definitions(RecordSink& sink, PartSink* parts, Mode mode);
  bool find_definition_chunk(Mode mode);
  void note_first_record(std::size_t start);
  void mark_drained(std::uint32_t index, std::uint64_t bytes);
  void publish_resume_level();
  void free_chunk(std::uint32_t index);
  void recycle_definitions();
  void take_back_idle();
  std::byte* data(std::uint32_t index) const;

  Pool pool_;
  std::uint64_t data_offset_;
  std::uint32_t chunk_size_;
  std::uint32_t chunk_count_;
  std::vector<Chunk> chunks_;
  std::vector<EventPart> ready_;  // the parts to merge; the tag is the chunk's index
  RecordMerger merger_;
  std::vector<std::uint32_t> finished_;     // drained and finished: freed by release()
  std::vector<std::uint32_t> definitions_;  // chunks of the stream that were read, oldest first
  std::uint32_t definition_sequence_ = 0;
  std::uint32_t definition_chunk_;
  std::uint64_t last_now_ = 0;
  std::uint32_t full_chunks_ = 0;  // of events: chunks that are freed without action of their writers
  Counts counts_;
};

}  // namespace jtrace::trace::record
