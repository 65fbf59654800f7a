// LossEvents: where events were lost, as the document says it (docs/trace_format.md, jtrace.gap). What was open there
// is closed by it, and not known any more. One thread.
#pragma once

#include "session/document/call_events.h"
#include "session/document/event_part.h"
#include "session/document/producer_states.h"
#include "session/document/wait_events.h"

namespace jtrace::session {

class LossEvents : private EventPart {
 public:
  // `calls`, `waits`, `producers`: borrowed.
  LossEvents(const BuilderContext& context, CallEvents& calls, WaitEvents& waits, const ProducerStates& producers)
      : EventPart(context), calls_(calls), waits_(waits), producers_(producers) {}

  Result<> write(const trace::record::GapRecord& gap);
  // A virtual thread whose events may have been lost on another carrier since the last one that is here. How many, the
  // gap of that carrier says.
  Result<> write_of_switch(const trace::record::ThreadRecord& to);
  // What the threads that lose events just now have open is not known from there on.
  Result<> write_open_gaps();
  // What threads are in when a document begins in the middle of a trace.
  Result<> write_unknown_calls(std::uint64_t time);
  // The calls that are open where a thread ends: their ends were not seen.
  Result<> write_open_calls(const trace::record::ThreadRecord& end);

 private:
  struct Loss {  // times monotonic, 0: not known
    std::uint64_t thread = 0, from = 0, to = 0, events = 0;
  };
  Result<> write_gap(const Loss& loss);

  CallEvents& calls_;
  WaitEvents& waits_;
  const ProducerStates& producers_;
};

}  // namespace jtrace::session
