// Drainer: from a pool to a document: the head, passes over the pool, what was lost, the end. Used by a live trace, by
// the child that -agentpath starts, and by recover. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "session/event_builder.h"
#include "session/event_emitter.h"
#include "session/options.h"
#include "session/trace_identity.h"
#include "session/trace_output.h"
#include "trace/record/pool_reader.h"

namespace jtrace::session {

class Drainer {
 public:
  using Mode = trace::record::PoolReader::Mode;

  // `output`: borrowed. `anchor`: the trace's one relation of monotonic to wall time. The events of `options` are those
  // that are really on.
  Drainer(trace::record::PoolReader reader, TraceOutput& output, TraceIdentity identity, TraceOptions options,
          const ClockAnchor& anchor);

  // The head: node to traceStart, options, filters, the JVM's times, the clock. `time`: monotonic, of the trace's
  // start.
  Result<> begin(std::uint64_t time);
  // One pass, written and flushed; frees what was drained. Errors are the output's.
  Result<trace::record::PoolReader::Pass> pass(Mode mode);
  // All that the pool still holds, traceEnd, agentDestroy; the document is whole afterwards, as far as its destination
  // takes it. `mode`: kFinal or kReadOnly. Returns the first error.
  Result<> end(Mode mode);

  // The trace ends (the agent is paused): as end(), but a new one may follow.
  Result<> end_trace(Mode mode);
  // The next trace, in a document of its own.
  Result<> begin_next_trace();

  // A new block of filters is active.
  Result<> say_filters(std::vector<FilterRule> filters);
  Result<> say_paused(bool paused);
  Result<> say_clock();

  const trace::record::PoolReader& reader() const { return reader_; }
  const EventEmitter& emitter() const { return emitter_; }
  const TraceOptions& options() const { return options_; }
  const TraceIdentity& identity() const { return identity_; }
  std::uint64_t dropped() const { return reader_.counts().dropped_events; }
  std::uint64_t malformed() const { return reader_.counts().malformed + builder_.malformed(); }
  std::uint64_t made_up_definitions() const { return builder_.made_up_definitions(); }
  std::uint64_t orphan_exits() const { return builder_.orphan_exits(); }
  std::uint64_t documents() const { return documents_; }
  bool in_trace() const { return in_trace_; }

 private:
  Result<> begin_document(std::uint64_t time);
  Result<> begin_trace(std::uint64_t time);
  Result<> finish_document(std::uint64_t time);
  Result<> rotate(std::uint64_t time);
  Result<> say_dropped(bool now);
  Result<> write_filters();
  Result<> option(std::string_view key, std::string_view value);
  trace::Time wall(std::uint64_t monotonic) const { return trace::Time(anchor_.wall_of(monotonic)); }

  trace::record::PoolReader reader_;
  TraceOutput& output_;
  TraceIdentity identity_;
  TraceOptions options_;
  ClockAnchor anchor_;
  trace::NullSink discard_;
  EventEmitter emitter_;
  EventBuilder builder_;
  bool in_trace_ = false;
  bool rotating_ = false;
  std::uint64_t documents_ = 1;
  std::uint64_t said_dropped_ = 0;
  std::uint64_t last_dropped_time_ = 0;
  std::uint64_t last_clock_time_ = 0;
  std::uint64_t time_reached_ = 0;  // no event before this monotonic time will come
};

// The first error of several steps that all have to be taken.
class FirstError {
 public:
  void add(Result<> result) {
    if (!result && !error_) error_ = std::move(result).error();
  }
  Result<> result() const { return error_ ? Result<>(fail(*error_)) : Result<>(); }

 private:
  std::optional<Error> error_;
};

}  // namespace jtrace::session
