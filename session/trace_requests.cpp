// Requests to a running trace: which the agent answers, and which are refused.
#include <unistd.h>

#include "base/clock.h"
#include "session/trace_runner.h"

namespace jtrace::session {

void TraceRunner::take_requests() {
  for (ControlSource* each : options_.controls)
    for (const PendingRequest& request : each->receive()) serve(request);
}

void TraceRunner::answer(Asker asker, const ControlAnswer& answer) {
  if (asker.source != nullptr) asker.source->answer(asker.client, answer);
}

void TraceRunner::serve(const PendingRequest& pending) {
  switch (pending.request.verb) {
    case ControlVerb::kStatus: return ask_agent(AgentQuestion::kStatus, pending.asker);
    case ControlVerb::kPause: return ask_agent(AgentQuestion::kPause, pending.asker);
    case ControlVerb::kResume: return serve_resume(pending.asker);
    case ControlVerb::kStop: return serve_stop(pending.asker);
    case ControlVerb::kStart: return serve_start(pending.asker);
    case ControlVerb::kFilters: return serve_filters(pending.asker, pending.request.filters);
    case ControlVerb::kFlush: return serve_flush(pending.asker);
    case ControlVerb::kCount: return serve_count(pending.asker);
    case ControlVerb::kDetach: return serve_detach(pending.asker);
  }
}

void TraceRunner::ask_agent(AgentQuestion question, Asker asker, std::string_view payload) {
  if (auto asked = agent_.ask(question, asker, payload); !asked) answer(asker, refusal_of(asked.error()));
}

void TraceRunner::serve_stop(Asker asker) {
  if (!drain_.in_trace()) return answer(asker, RefusedAnswer{.why = "the trace is stopped already"});
  // The document has ended and has its counts.
  if (counts_methods(drain_.options())) ask_agent(AgentQuestion::kCount, {});
  ask_agent(AgentQuestion::kStop, asker);
}

void TraceRunner::serve_resume(Asker asker) {
  if (drain_.in_trace()) return ask_agent(AgentQuestion::kResume, asker);
  answer(asker, RefusedAnswer{.why = "the trace is stopped: start begins the next one"});
}

void TraceRunner::serve_start(Asker asker) {
  if (drain_.in_trace()) return answer(asker, RefusedAnswer{.why = "a trace runs already"});
  if (auto begun = drain_.begin_next_trace(); !begun) {
    answer(asker, refusal_of(begun.error()));
    if (begun.error().category != ErrorCategory::kRefused) output_failed(std::move(begun).error());
    return;
  }
  ask_agent(AgentQuestion::kStart, asker);
}

void TraceRunner::serve_filters(Asker asker, const std::vector<FilterRule>& rules) {
  ask_agent(AgentQuestion::kFilters, asker, encode_filter_rules(rules));
  if (drain_.in_trace()) check(drain_.write(FiltersNote{rules}));
}

void TraceRunner::serve_flush(Asker asker) {
  drain();
  answer(asker, FlushedAnswer{output_.bytes()});
}

void TraceRunner::serve_count(Asker asker) {
  if (!counts_methods(drain_.options()))
    return answer(asker, RefusedAnswer{.why = "this trace does not count calls: --events counts does"});
  if (!drain_.in_trace())
    return answer(asker, RefusedAnswer{.why = "the trace is stopped: there is nothing to write counts into"});
  ask_agent(AgentQuestion::kCount, asker);
}

void TraceRunner::serve_detach(Asker asker) {
  waiting_for_end_.push_back(asker);
  end(EndReason::kDetached);
}

StatusAnswer TraceRunner::status(std::string agent) const {
  const Progress now = progress();
  return {.state = !drain_.in_trace() ? TraceState::kStopped
                   : paused_          ? TraceState::kPaused
                                      : TraceState::kTracing,
          .pid = process_.pid(),
          .jtrace = ::getpid(),
          .file = output_.path(),
          .seconds = now.elapsed / kNanosPerSecond,
          .events = now.events,
          .bytes = now.bytes,
          .lost = now.dropped,
          .agent = std::move(agent)};
}

}  // namespace jtrace::session
