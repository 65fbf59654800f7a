// PoolReader: the drainer's side of the pool (layout.h). It hands out definitions and events in an order in which each
// can be written down at once: a definition before the events that were committed after it, events by time, the events
// of one producer exactly in the order in which they were written.
//
// The pool is written by a foreign process: everything in it is checked, and read once into own memory before it is
// used. What makes no sense is counted and skipped; the process that maps the pool never depends on it. Ownership:
// borrows the mapping. Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/record/event_record.h"
#include "trace/record/layout.h"

namespace jtrace::trace::record {

// Takes what the pool holds. An error ends the pass and is passed on.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // One definition, behind its u32 size: u8 kind | u64 time | u64 id | fields (definition.h). Not yet checked.
  virtual Result<> on_definition(std::span<const std::byte> record) = 0;
  // One event record: record.slots * 16 bytes, a copy, aligned for its struct; kind and flags are not yet checked, the
  // size is: records shorter than the struct of their kind are not handed out.
  virtual Result<> on_event(const RecordHeader& record) = 0;
  // The events from here on are this producer's.
  virtual void on_producer(std::uint32_t producer) { (void)producer; }
};

class PoolReader {
 public:
  enum class Mode {
    kLive,      // a producer may be writing: only what is older than the watermark; drained chunks can be freed
    kFinal,     // nobody writes any more: everything
    kReadOnly,  // everything, and nothing in the pool is changed (a pool that others left)
  };
  struct Pass {
    std::uint64_t events = 0;
    std::uint64_t definition_bytes = 0;
    std::uint64_t time = 0;  // no record with an earlier time will come; UINT64_MAX: none at all
    bool more = false;       // stopped at the pass limit: another pass at once
  };
  struct Counts {
    std::uint64_t events = 0;
    std::uint64_t definitions = 0;
    std::uint64_t malformed = 0;  // places in the pool that made no sense
    std::uint64_t dropped_events = 0;
    std::uint64_t dropped_definitions = 0;
    std::uint64_t blocked_ns = 0;
    std::uint64_t filtered_events = 0;
    std::uint32_t free_chunks = 0;  // of the last pass
  };

  // The shape is read and checked once, here; kMalformed where it does not fit `memory`.
  static Result<PoolReader> open(std::span<std::byte> memory);

  // One pass; `limit` bounds its events, so that chunks come free in time where there is much.
  Result<Pass> drain(RecordSink& sink, Mode mode, std::uint64_t limit = 100'000);
  // Frees the chunks that earlier passes have drained (call it when what was drained is safe), takes back chunks of
  // idle threads where the pool runs low, and wakes writers that wait for room.
  void release(bool wake_writers);

  Counts counts() const;
  AgentState agent_state() const;
  // Moves the coarse clock on; any thread.
  void tick() const;
  std::uint32_t chunk_count() const { return chunk_count_; }
  std::string session_text() const;  // PoolHeader.session, cut at the NUL

 private:
  struct Chunk {
    std::uint64_t drained = 0;   // bytes handed out
    std::uint64_t quiet_at = 0;  // `now` of the last scan that found no record being written
    std::uint64_t moved_at = 0;  // `now` of the last scan that found something new
    bool retained = false;       // definitions, read, kept for `jtrace recover`
  };
  struct Ready {  // a chunk that has something to merge
    std::uint32_t index;
    std::uint32_t producer;
    std::uint32_t sequence;
    std::uint64_t committed;
    bool finished;
  };
  struct Cursor {  // the next record of one producer
    std::uint64_t time;
    std::uint32_t ready;
    std::uint32_t end;
    std::uint32_t slots;
  };

  PoolReader(Pool pool, const PoolHeader& header);
  std::uint64_t scan(Mode mode);
  void consider(std::uint32_t index, Mode mode, std::uint64_t now, std::uint64_t& watermark);
  Result<std::uint64_t> read_definitions(RecordSink& sink, Mode mode);
  bool find_definition_chunk(Mode mode);
  void note_first_record(std::size_t cut);
  Result<> parse_definitions(RecordSink& sink);
  Result<Pass> merge(RecordSink& sink, std::uint64_t watermark, std::uint64_t limit);
  bool advance(Cursor& cursor);
  Result<> hand_out(RecordSink& sink, const Cursor& cursor);
  void free_chunk(std::uint32_t index);
  void recycle_definitions();
  void take_back_idle();
  std::byte* data(std::uint32_t index) const;

  Pool pool_;
  std::uint64_t data_offset_;
  std::uint32_t chunk_size_;
  std::uint32_t chunk_count_;
  std::vector<Chunk> chunks_;
  std::vector<Ready> ready_;
  std::vector<Cursor> heap_;
  std::vector<std::uint32_t> finished_;     // drained and finished: freed by release()
  std::vector<std::uint32_t> definitions_;  // chunks of the stream that are read, oldest first
  std::string stream_;                      // bytes of the stream of definitions that are no whole record yet
  bool stream_broken_ = false;
  std::uint32_t definition_sequence_ = 0;
  std::uint32_t definition_chunk_;
  std::uint64_t last_now_ = 0;
  std::uint64_t reached_ = 0;        // the latest time handed out
  std::uint32_t last_producer_ = 0;  // of the last event handed out; 0: none
  Counts counts_;
};

}  // namespace jtrace::trace::record
