// RecordSource: supplies records in an order in which each can be written at once: from the pool of a running trace, a
// pool that was left, or a spill. RecordSink takes them. One thread.
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
  // One definition without its u32 size: u8 kind | u64 time | u64 id | fields (definition.h). Not yet checked.
  virtual Result<> on_definition(std::span<const std::byte> record) = 0;
  // One event record of record.slots * 16 bytes: a copy, aligned for its struct. Its size is checked (shorter records
  // than the struct of their kind are not passed on); kind and flags are not.
  virtual Result<> on_event(const RecordHeader& record) = 0;
  // All further events are this producer's.
  virtual void on_producer(std::uint32_t producer) { (void)producer; }
};

class RecordSource {
 public:
  enum class Mode {
    kLive,      // a producer may be writing: only records older than the watermark; drained chunks can be freed
    kFinal,     // the writer has ended: everything
    kReadOnly,  // everything, and the pool is not changed (a pool that others left)
  };
  struct Pass {
    std::uint64_t events = 0;
    std::uint64_t definition_bytes = 0;
    std::uint64_t time = 0;  // no record with an earlier time will follow; UINT64_MAX: none at all
    bool more = false;       // stopped at the limit of a pass: call again at once
  };
  struct Counts {
    std::uint64_t events = 0;
    std::uint64_t definitions = 0;
    std::uint64_t malformed = 0;  // invalid places
    std::uint64_t dropped_events = 0;
    std::uint64_t dropped_definitions = 0;
    std::uint64_t blocked_ns = 0;
    std::uint64_t filtered_events = 0;
    std::uint32_t free_chunks = 0;  // of the last pass
  };

  virtual ~RecordSource() = default;
  // One pass. `limit` bounds its events, so that chunks are freed in time if there are many.
  virtual Result<Pass> drain(RecordSink& sink, Mode mode, std::uint64_t limit) = 0;
  // The data that earlier passes returned is safe.
  virtual void release(bool wake_writers) = 0;
  virtual Counts counts() const = 0;
};

}  // namespace jtrace::trace::record
