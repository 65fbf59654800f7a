// RecordSource: records in an order in which each can be written down at once, from wherever they are: the pool of a
// running trace, one that was left, a spill. RecordSink takes them. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "trace/record/event_record.h"

namespace jtrace::trace::record {

// Takes records. An error ends the pass and is passed on.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // One definition, after its u32 size: u8 kind | u64 time | u64 id | fields (definition.h). Not yet checked.
  virtual Result<> on_definition(std::span<const std::byte> record) = 0;
  // One event record: record.slots * 16 bytes, a copy, aligned for its struct; kind and flags are not yet checked, the
  // size is: records shorter than the struct of their kind are not handed out.
  virtual Result<> on_event(const RecordHeader& record) = 0;
  // The events from here on are this producer's.
  virtual void on_producer(std::uint32_t producer) { (void)producer; }
};

class RecordSource {
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
    std::uint64_t malformed = 0;  // places that made no sense
    std::uint64_t dropped_events = 0;
    std::uint64_t dropped_definitions = 0;
    std::uint64_t blocked_ns = 0;
    std::uint64_t filtered_events = 0;
    std::uint32_t free_chunks = 0;  // of the last pass
  };

  virtual ~RecordSource() = default;
  // One pass; `limit` bounds its events, so that chunks come free in time where there is much.
  virtual Result<Pass> drain(RecordSink& sink, Mode mode, std::uint64_t limit) = 0;
  // What earlier passes have handed out is safe.
  virtual void release(bool wake_writers) = 0;
  virtual Counts counts() const = 0;
};

}  // namespace jtrace::trace::record
