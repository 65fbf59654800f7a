// Where events were lost, as the document says it (docs/trace_format.md, jtrace.gap).
#include <algorithm>
#include <utility>

#include "session/document/event_builder.h"
#include "trace/gap_option.h"

namespace jtrace::session {

namespace record = trace::record;

// What was open is closed by it, and not known any more.
Result<> EventBuilder::write_gap(const Losses& losses) {
  if (losses.thread == 0) {
    forget_calls();
    forget_waits();
  } else {
    calls_.of(losses.thread).forget([this](const OpenCall& call) { abandon(call); });
    waits_.erase(losses.thread);
    contending_.erase(losses.thread);
  }
  const auto at = [this](std::uint64_t time) { return time == 0 ? 0 : anchor_.wall_of(time); };
  const std::string text =
      trace::gap_text({.thread = losses.thread, .from = at(losses.from), .to = at(losses.to), .lost = losses.events});
  return emitter_.emit(trace::Option{.key = trace::kGapKey, .value = text});
}

// A virtual thread whose events may have been lost on another carrier since the last one that is here. How many, the
// gap of that carrier says.
Result<> EventBuilder::take_switch(const record::ThreadRecord& to) {
  CallStack& stack = calls_.of(to.thread);
  if (stack.last_time > to.lost_until) return {};
  const std::uint64_t from = std::exchange(stack.last_time, std::max(to.header.time, to.lost_until + 1));
  return write_gap({.thread = to.thread, .from = from, .to = to.header.time});
}

Result<> EventBuilder::restart_unknown(std::uint64_t time) {
  constexpr std::uint64_t kInCalls = record::kMethodEvent | record::kCallEvent;
  if ((options_.events & kInCalls) != 0) JTRACE_RETURN_IF_ERROR(write_gap({.to = time}));
  return restart(time);
}

Result<> EventBuilder::say_open_gaps() {
  bool carrier = false;
  for (const auto& [producer, running] : producers_) {
    if (running.loses_from == 0) continue;
    carrier = carrier || running.is_carrier;
    JTRACE_RETURN_IF_ERROR(write_gap({.thread = running.loses_of, .from = running.loses_from}));
  }
  if (!carrier) return {};
  for (const std::uint64_t thread : calls_.open_virtual())
    JTRACE_RETURN_IF_ERROR(write_gap({.thread = thread, .from = calls_.of(thread).last_time}));
  return {};
}

// At the end of a thread all its calls have ended. The ends that are missing were not seen: a probe that finds no stack
// (StackOverflowError) writes nothing. The thread that ends the JVM ends within its calls.
Result<> EventBuilder::say_open_calls(const record::ThreadRecord& end) {
  const std::uint64_t open = calls_.of(end.thread).told();
  if (open == 0) return {};
  if ((end.header.flags & record::kWithinCalls) == 0)
    return write_gap({.thread = end.thread, .from = end.header.time, .to = end.header.time, .events = open});
  const std::string thread = std::to_string(end.thread);
  return emitter_.emit(trace::Option{.key = trace::kExitKey, .value = thread});
}

}  // namespace jtrace::session
