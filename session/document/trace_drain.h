// TraceDrain: what takes a running trace out of its pool: into a document (Drainer) or a spill (Spiller). One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "session/document/method_counts.h"
#include "session/document/session_text.h"
#include "session/document/trace_output.h"
#include "session/options/options.h"
#include "trace/record/record_source.h"

namespace jtrace::session {

class TraceDrain {
 public:
  using Mode = trace::record::RecordSource::Mode;
  using Pass = trace::record::RecordSource::Pass;

  virtual ~TraceDrain() = default;

  // The head. `time`: monotonic, of the trace's start.
  virtual Result<> begin(std::uint64_t time) = 0;
  // One pass, written and flushed; frees what was drained. Errors are the output's.
  virtual Result<Pass> pass(Mode mode) = 0;
  // All that the pool still holds, and the end; the output is whole afterwards, as far as its destination takes it.
  // `mode`: kFinal or kReadOnly. Returns the first error.
  virtual Result<> end(Mode mode) = 0;

  // The trace ends (the agent is paused): as end(), but a new one may follow.
  virtual Result<> end_trace(Mode mode) = 0;
  // The next trace, in an output of its own.
  virtual Result<> begin_next_trace() = 0;

  // A new block of filters is active.
  virtual Result<> say_filters(std::vector<FilterRule> filters) = 0;
  virtual Result<> say_paused(bool paused) = 0;
  // The process stands still from `time` on, or did until then (monotonic). Written where it belongs among the events.
  virtual Result<> say_standstill(std::uint64_t time, bool still) = 0;

  virtual Result<> say_counts(const MethodCounts& counts) = 0;
  // Where a document ends in the middle of the trace, at a limit: asked for the counts of then. Before begin().
  using Counter = std::function<Result<MethodCounts>()>;
  virtual void set_counter(Counter counter) = 0;
  // Those for the end of the trace; or why there are none.
  virtual void set_last_counts(MethodCounts counts) = 0;
  virtual void set_uncounted(std::string why) = 0;
  // The document has come to --max-size, and has its counts.
  virtual bool is_counted_out() const = 0;

  virtual const TraceOptions& options() const = 0;
  virtual std::uint64_t events() const = 0;  // written
  virtual std::uint64_t malformed() const = 0;
  virtual std::uint64_t made_up_definitions() const = 0;
  virtual std::uint64_t documents() const = 0;
  virtual bool in_trace() const = 0;
};

}  // namespace jtrace::session
