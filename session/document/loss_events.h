// LossEvents: writes where events were lost (docs/trace_format.md, jtrace.gap). A gap
// closes all that was open on its thread, which is unknown from there on. One thread.
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
  // A virtual thread: events may have been lost on another carrier
  // since its last one here. The gap of that carrier has their number.
  Result<> write_of_switch(const trace::record::ThreadRecord& to);
  // The open calls of threads that are losing events are unknown from there on.
  Result<> write_open_gaps();
  // The open calls of threads, for a document that begins within a trace.
  Result<> write_unknown_calls(std::uint64_t time);
  // Of all threads, from then on.
  Result<> write_cut(std::uint64_t time);
  // The calls that are open when a thread ends: their ends were not seen.
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
