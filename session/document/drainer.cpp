#include "session/document/drainer.h"

#include <algorithm>

#include "session/document/first_error.h"
#include "trace/gap_option.h"
#include "trace/option_keys.h"

namespace jtrace::session {
namespace {

constexpr std::uint64_t kLossesInterval = kNanosPerSecond;
constexpr std::uint64_t kEventsInAPass = 100'000;
constexpr std::uint64_t kCountRoom = 400;  // bytes of a methodCount with the definition of its method

}  // namespace

Drainer::Drainer(trace::record::RecordSource& records, DocumentOutput& output, TraceIdentity identity,
                 TraceOptions options, const ClockAnchor& anchor)
    : TraceDrain(output, std::move(options)),
      records_(records),
      identity_(std::move(identity)),
      anchor_(anchor),
      document_(output.sink(), !this->options().strict_dtd, this->options().writes_fragments()),
      builder_(document_.events(), anchor, builder_options(this->options())) {
  if (watches_size()) builder_.set_before_event([this](std::uint64_t time) { return watch_size(time); });
}

Result<> Drainer::begin_document(std::uint64_t time) {
  time_reached_ = std::max(time_reached_, time);
  const std::uint64_t wall = anchor_.wall_of(time);
  JTRACE_RETURN_IF_ERROR(document_.begin(identity_, wall));
  JTRACE_RETURN_IF_ERROR(kept_trace_id_.empty() ? document_.begin_trace(wall)
                                                : document_.begin_trace(wall, kept_trace_id_));
  enter_trace();
  return write_head();
}

Result<> Drainer::write_head() {
  for (const EchoedOption& each : effective_options(options()))
    JTRACE_RETURN_IF_ERROR(document_.write_option(each.key, each.value));
  JTRACE_RETURN_IF_ERROR(write_filters());
  std::string vm = "pid=" + std::to_string(identity_.nspid);
  if (!identity_.vm_begin_time.empty()) vm += ",createVmBeginTime=" + identity_.vm_begin_time;
  JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kVmKey, vm));
  JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kGapsKey, trace::kGapsByThread));
  if (options().cpu_time) JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kCpuTimeKey, "platform threads"));
  JTRACE_RETURN_IF_ERROR(document_.write_clock(now()));
  return output().flush();
}

Result<> Drainer::begin_further_document(std::uint64_t time, Further how) {
  document_.redirect(output().sink());
  const std::string before = document_.trace_id();
  JTRACE_RETURN_IF_ERROR(begin_document(time));
  if (how == Further::kSameTrace) {
    JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kContinuesKey, before));
    JTRACE_RETURN_IF_ERROR(builder_.restart(time));
    output().head_is_written();
    return {};
  }
  builder_.forget_calls();
  builder_.forget_waits();
  builder_.forget_standstill();
  builder_.forget_thread_states();
  return builder_.restart_unknown(time);
}

Result<Drainer::Pass> Drainer::take(Mode mode) {
  JTRACE_ASSIGN_OR_RETURN(const auto pass, records_.drain(builder_, mode, kEventsInAPass));
  if (pass.time != UINT64_MAX) {
    JTRACE_RETURN_IF_ERROR(builder_.on_time(pass.time));
    time_reached_ = std::max(time_reached_, pass.time);
  }
  if (in_trace()) JTRACE_RETURN_IF_ERROR(write_losses(false));
  if (in_trace() && mode == Mode::kLive && document_.is_clock_due(monotonic_now())) {
    JTRACE_RETURN_IF_ERROR(document_.write_clock(now()));
    JTRACE_RETURN_IF_ERROR(builder_.write_short_contentions());
  }
  // Frees only what has been written: a later recover finds the rest in the pool.
  JTRACE_RETURN_IF_ERROR(output().flush());
  if (mode != Mode::kReadOnly) records_.release(options().block_when_full);
  return pass;
}

Result<> Drainer::settle(Ending ending) {
  switch (ending) {
    case Ending::kTrace: return builder_.finish();
    case Ending::kDocument:
      JTRACE_RETURN_IF_ERROR(builder_.write_open_gaps());
      return builder_.write_short_contentions();
    case Ending::kEvents: return {};
  }
  return {};
}

Result<> Drainer::finish_document(const End& end) {
  FirstError first;
  if (end.cut) first.add(builder_.write_cut());
  if (!end.time) first.add(write_losses(true));
  for (const TraceNote& note : end.notes) first.add(write_note(note));
  const std::uint64_t last =
      end.mode == Mode::kReadOnly ? std::max(builder_.last_time(), time_reached_) : monotonic_now();
  const std::uint64_t wall = anchor_.wall_of(end.time.value_or(last));
  first.add(document_.end_trace(wall));
  first.add(document_.end(wall));
  first.add(output().finish());
  document_.redirect(discard_);  // for what a paused agent still sends
  return first.result();
}

Drainer::CountRoom Drainer::count_room() const { return {builder_.defined_methods(), kCountRoom}; }

DrainFigures Drainer::figures() const {
  return {.events = document_.events().total(),
          .malformed = records_.counts().malformed + builder_.malformed(),
          .made_up_definitions = builder_.made_up_definitions()};
}

Result<> Drainer::write_note(const TraceNote& note) {
  return std::visit([this](const auto& each) { return write_this(each); }, note);
}

Result<> Drainer::write_this(const FiltersNote& note) {
  set_filters(note.filters);
  JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kFiltersKey, std::to_string(note.filters.size())));
  return write_filters();
}

Result<> Drainer::write_filters() {
  for (const FilterRule& rule : options().filters)
    JTRACE_RETURN_IF_ERROR(document_.events().emit(to_element(rule, !options().strict_dtd)));
  return {};
}

Result<> Drainer::write_this(const PausedNote& note) {
  JTRACE_RETURN_IF_ERROR(builder_.write_held_contentions());
  builder_.forget_calls();
  builder_.forget_ended_waits();
  builder_.forget_thread_states();
  return document_.write_option(trace::kPausedKey, note.paused ? "true" : "false");
}

Result<> Drainer::write_this(const StandstillNote& note) {
  builder_.add_standstill(note.time, note.still);
  return {};
}

Result<> Drainer::write_this(const MethodCounts& counts) {
  const std::uint64_t time = monotonic_now();
  for (const MethodCounts::Count& each : counts.counts)
    JTRACE_RETURN_IF_ERROR(builder_.write_count_of(each.method, each.calls, time));
  return document_.write_option(trace::kCountedKey, counts.coverage);
}

Result<> Drainer::write_this(const OptionNote& note) { return document_.write_option(note.key, note.value); }

// Each element gives the number of events lost since the previous one.
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
