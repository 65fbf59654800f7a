#include "session/document/loss_events.h"

#include <algorithm>
#include <utility>

#include "trace/gap_option.h"

namespace jtrace::session {

namespace record = trace::record;

Result<> LossEvents::write_gap(const Loss& loss) {
  if (loss.thread == 0) {
    calls_.forget_all();
    waits_.forget_all();
  } else {
    calls_.forget_thread(loss.thread);
    waits_.forget_thread(loss.thread);
  }
  const auto at = [this](std::uint64_t time) { return time == 0 ? 0 : anchor_.wall_of(time); };
  const std::string text =
      trace::gap_text({.thread = loss.thread, .from = at(loss.from), .to = at(loss.to), .lost = loss.events});
  return emitter_.emit(trace::Option{.key = trace::kGapKey, .value = text});
}

Result<> LossEvents::write(const record::GapRecord& gap) {
  return write_gap({gap.thread, gap.from, gap.header.time, gap.header.number});
}

Result<> LossEvents::write_of_switch(const record::ThreadRecord& to) {
  CallStack& stack = calls_.stacks().of(to.thread);
  if (stack.last_time > to.lost_until) return {};
  const std::uint64_t from = std::exchange(stack.last_time, std::max(to.header.time, to.lost_until + 1));
  return write_gap({.thread = to.thread, .from = from, .to = to.header.time});
}

Result<> LossEvents::write_open_gaps() {
  bool carrier = false;
  for (const auto& [number, producer] : producers_.all()) {
    if (producer.loses_from == 0) continue;
    carrier = carrier || producer.is_carrier;
    JTRACE_RETURN_IF_ERROR(write_gap({.thread = producer.loses_of, .from = producer.loses_from}));
  }
  if (!carrier) return {};
  for (const std::uint64_t thread : calls_.stacks().open_virtual())
    JTRACE_RETURN_IF_ERROR(write_gap({.thread = thread, .from = calls_.stacks().of(thread).last_time}));
  return {};
}

Result<> LossEvents::write_unknown_calls(std::uint64_t time) {
  return traces(record::kMethodEvent | record::kCallEvent) ? write_gap({.to = time}) : Result<>();
}

Result<> LossEvents::write_cut(std::uint64_t time) { return write_gap({.from = time}); }

// At the end of a thread all its calls have ended. If ends are missing, their callouts wrote nothing (a callout on a
// full stack throws StackOverflowError). The thread that ends the JVM ends inside its calls.
Result<> LossEvents::write_open_calls(const record::ThreadRecord& end) {
  const std::uint64_t open = calls_.stacks().of(end.thread).reported();
  if (open == 0) return {};
  if ((end.header.flags & record::kWithinCalls) == 0)
    return write_gap({.thread = end.thread, .from = end.header.time, .to = end.header.time, .events = open});
  const std::string thread = std::to_string(end.thread);
  return emitter_.emit(trace::Option{.key = trace::kExitKey, .value = thread});
}

}  // namespace jtrace::session
