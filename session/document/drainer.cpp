#include "session/document/drainer.h"

#include <time.h>

#include <algorithm>

#include "session/document/first_error.h"
#include "trace/gap_option.h"
#include "trace/option_keys.h"

namespace jtrace::session {
namespace {

constexpr std::uint64_t kLossesInterval = kNanosPerSecond;
constexpr std::uint64_t kEventsInAPass = 100'000;
constexpr std::uint64_t kCountRoom = 400;  // bytes of a methodCount with the definition of its method

BuilderOptions builder_options(const TraceOptions& options) {
  return {.events = options.events,
          .all_loaded_classes = options.all_loaded_classes,
          .nested_frees = options.nested_frees,
          .receivers = options.receivers,
          .cpu_time = options.cpu_time};
}

}  // namespace

Drainer::Drainer(trace::record::RecordSource& records, DocumentOutput& output, TraceIdentity identity,
                 TraceOptions options, const ClockAnchor& anchor)
    : records_(records),
      output_(output),
      identity_(std::move(identity)),
      options_(std::move(options)),
      anchor_(anchor),
      document_(output.sink(), !options_.strict_dtd, options_.writes_fragments()),
      builder_(document_.events(), anchor, builder_options(options_)) {
  if (options_.rotate != 0 || (options_.max_size != 0 && counts_methods(options_)))
    builder_.set_before_event([this](std::uint64_t time) { return watch_size(time); });
}

Result<> Drainer::begin(std::uint64_t time) {
  time_reached_ = time;
  JTRACE_RETURN_IF_ERROR(output_.begin());
  return begin_document(time);
}

Result<> Drainer::begin_document(std::uint64_t time) {
  JTRACE_RETURN_IF_ERROR(document_.begin(identity_, anchor_.wall_of(time)));
  return begin_trace(time);
}

Result<> Drainer::begin_trace(std::uint64_t time) {
  const std::uint64_t wall = anchor_.wall_of(time);
  JTRACE_RETURN_IF_ERROR(kept_trace_id_.empty() ? document_.begin_trace(wall)
                                                : document_.begin_trace(wall, kept_trace_id_));
  for (const EchoedOption& each : effective_options(options_))
    JTRACE_RETURN_IF_ERROR(document_.write_option(each.key, each.value));
  JTRACE_RETURN_IF_ERROR(write_filters());
  std::string vm = "pid=" + std::to_string(identity_.nspid);
  if (!identity_.vm_begin_time.empty()) vm += ",createVmBeginTime=" + identity_.vm_begin_time;
  JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kVmKey, vm));
  JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kGapsKey, trace::kGapsByThread));
  if (options_.cpu_time) JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kCpuTimeKey, "platform threads"));
  JTRACE_RETURN_IF_ERROR(document_.write_clock(now()));
  return output_.flush();
}

Result<Drainer::Pass> Drainer::pass(Mode mode) {
  JTRACE_ASSIGN_OR_RETURN(const auto pass, records_.drain(builder_, mode, kEventsInAPass));
  if (pass.time != UINT64_MAX) {
    JTRACE_RETURN_IF_ERROR(builder_.on_time(pass.time));
    time_reached_ = std::max(time_reached_, pass.time);
  }
  if (in_trace()) JTRACE_RETURN_IF_ERROR(write_losses(false));
  if (in_trace() && mode == Mode::kLive && document_.is_clock_due(monotonic_now()))
    JTRACE_RETURN_IF_ERROR(document_.write_clock(now()));
  // Only what has left us is freed: a later recover finds the rest in the pool.
  JTRACE_RETURN_IF_ERROR(output_.flush());
  if (mode != Mode::kReadOnly) records_.release(options_.block_when_full);
  return pass;
}

Result<> Drainer::end_trace(Mode mode) {
  FirstError first;
  for (bool more = true; more;) {
    auto done = pass(mode);
    more = done && done->more;
    if (!done) first.add(fail(std::move(done).error()));
  }
  first.add(builder_.finish());
  // What comes now is written also where the destination is full.
  output_.begin_closing();
  first.add(write_losses(true));
  if (last_counts_) first.add(say_counts(*last_counts_));
  if (!uncounted_.empty()) first.add(document_.write_option(trace::kUncountedKey, uncounted_));
  const std::uint64_t end = mode == Mode::kReadOnly ? std::max(builder_.last_time(), time_reached_) : monotonic_now();
  first.add(finish_document(end));
  return first.result();
}

Result<> Drainer::end(Mode mode) { return in_trace() ? end_trace(mode) : Result<>(); }

Result<> Drainer::finish_document(std::uint64_t time) {
  FirstError first;
  first.add(document_.end_trace(anchor_.wall_of(time)));
  first.add(document_.end(anchor_.wall_of(time)));
  first.add(output_.finish());
  document_.redirect(discard_);  // what a paused agent still says
  return first.result();
}

// In the middle of a pass, between two events.
Result<> Drainer::watch_size(std::uint64_t time) {
  if (rotating_ || !in_trace()) return {};
  if (!output_.is_nearly_full(room_for_counts(options_, builder_.known_methods(), kCountRoom))) return {};
  if (options_.rotate != 0) return rotate(time);
  if (!counted_out_) {
    counted_out_ = true;
    JTRACE_RETURN_IF_ERROR(say_last_counts());
  }
  return fail(ErrorCategory::kPartial,
              "the output has reached its limit of " + std::to_string(options_.max_size) + " bytes");
}

// Of the document that ends, not of the trace.
Result<> Drainer::say_last_counts() {
  if (!counts_methods(options_)) return {};
  auto counts = last_counts(options_, builder_.known_methods(), kCountRoom, counter_);
  if (!counts) return document_.write_option(trace::kUncountedKey, counts.error().message());
  return say_counts(*counts);
}

Result<> Drainer::say_counts(const MethodCounts& counts) {
  const std::uint64_t time = monotonic_now();
  for (const MethodCounts::Count& each : counts.counts)
    JTRACE_RETURN_IF_ERROR(builder_.write_count_of(each.method, each.calls, time));
  return document_.write_option(trace::kCountedKey, counts.coverage);
}

Result<> Drainer::rotate(std::uint64_t time) {
  rotating_ = true;
  JTRACE_RETURN_IF_ERROR(builder_.say_open_gaps());
  JTRACE_RETURN_IF_ERROR(say_last_counts());
  JTRACE_RETURN_IF_ERROR(finish_document(time));
  JTRACE_RETURN_IF_ERROR(output_.next_document(options_.rotate));
  document_.redirect(output_.sink());
  ++documents_;
  const std::string before = document_.trace_id();
  JTRACE_RETURN_IF_ERROR(begin_document(time));
  JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kContinuesKey, before));
  JTRACE_RETURN_IF_ERROR(builder_.restart(time));
  output_.head_is_written();
  rotating_ = false;
  return {};
}

Result<> Drainer::begin_next_trace() {
  JTRACE_RETURN_IF_ERROR(output_.next_document(std::max(options_.rotate, 1u)));
  document_.redirect(output_.sink());
  ++documents_;
  const std::uint64_t time = monotonic_now();
  JTRACE_RETURN_IF_ERROR(begin_document(time));
  builder_.forget_calls();
  builder_.forget_waits();
  builder_.forget_standstill();
  builder_.forget_thread_states();
  return builder_.restart_unknown(time);
}

Result<> Drainer::say_filters(std::vector<FilterRule> filters) {
  options_.filters = std::move(filters);
  JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kFiltersKey, std::to_string(options_.filters.size())));
  return write_filters();
}

Result<> Drainer::write_filters() {
  for (const FilterRule& rule : options_.filters)
    JTRACE_RETURN_IF_ERROR(document_.events().emit(to_element(rule, !options_.strict_dtd)));
  return {};
}

Result<> Drainer::say_paused(bool paused) {
  builder_.forget_calls();
  builder_.forget_ended_waits();
  builder_.forget_thread_states();
  return document_.write_option(trace::kPausedKey, paused ? "true" : "false");
}

Result<> Drainer::say_standstill(std::uint64_t time, bool still) {
  builder_.announce_standstill(time, still);
  return {};
}

// Each element says how many were lost since the last one.
Result<> Drainer::write_losses(bool at_once) {
  const std::uint64_t lost = records_.counts().dropped_events;
  if (lost <= document_.written_losses()) return {};
  const std::uint64_t time = monotonic_now();
  if (!at_once && time - last_losses_time_ < kLossesInterval) return {};
  last_losses_time_ = time;
  builder_.forget_thread_states();
  JTRACE_RETURN_IF_ERROR(document_.write_losses(lost));
  return {};
}

}  // namespace jtrace::session
