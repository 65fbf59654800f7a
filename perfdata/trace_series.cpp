#include "perfdata/trace_series.h"

#include <cstring>
#include <utility>

#include "base/strings.h"
#include "perfdata/value_format.h"
#include "trace/clock_option.h"
#include "trace/event.h"
#include "trace/gap_option.h"
#include "trace/option_keys.h"

namespace jtrace::perfdata {

Result<> SampleWriter::write(const Snapshot& snapshot) {
  if (!table_ || !table_->is_for(snapshot)) {
    table_ = std::make_unique<CounterTable>(snapshot, options_.filter, false);
    const auto& counters = snapshot.layout().counters();
    rows_.assign(counters.size(), nullptr);
    for (const Row& row : table_->rows()) rows_[static_cast<std::size_t>(row.counter - counters.data())] = &row;
  }
  JTRACE_RETURN_IF_ERROR(document_.begin_trace(snapshot.realtime_ns));
  in_sample_ = true;
  JTRACE_RETURN_IF_ERROR(write_options(snapshot));
  JTRACE_RETURN_IF_ERROR(write_values(snapshot));
  JTRACE_RETURN_IF_ERROR(document_.end_trace(snapshot.realtime_ns + snapshot.read_ns));
  in_sample_ = false;
  previous_ = snapshot;
  known_ = snapshot.layout().counters().size();
  ++samples_;
  return {};
}

Result<> SampleWriter::end(std::uint64_t time) {
  if (in_sample_) {
    JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kStableKey, "false"));
    JTRACE_RETURN_IF_ERROR(document_.end_trace(time));
    in_sample_ = false;
  }
  return document_.end(time);
}

Result<> SampleWriter::write_options(const Snapshot& snapshot) {
  if (samples_ == 0) {
    JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kKindKey, trace::kSnapshotKind));
    JTRACE_RETURN_IF_ERROR(document_.write_clock());
    if (!options_.vm.empty()) JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kVmKey, options_.vm));
    JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kCounterSourceKey, options_.source));
    for (const auto& [key, value] : options_.options) JTRACE_RETURN_IF_ERROR(document_.write_option(key, value));
  }
  std::string prologue = prologue_text(snapshot.prologue(), snapshot.capacity);
  if (prologue != prologue_ || options_.full) {
    prologue_ = std::move(prologue);
    JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kPrologueKey, prologue_));
  }
  if (!snapshot.stable) JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kStableKey, "false"));
  return {};
}

Result<> SampleWriter::write_values(const Snapshot& snapshot) {
  const auto& counters = snapshot.layout().counters();
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if (!rows_[i]) continue;
    const bool first_time = i >= known_;
    if (first_time || options_.full || changed(snapshot, i))
      JTRACE_RETURN_IF_ERROR(write_value(snapshot, counters[i], first_time || options_.full));
  }
  return {};
}

bool SampleWriter::changed(const Snapshot& snapshot, std::size_t index) const {
  const Counter& counter = snapshot.layout().counters()[index];
  const auto now = snapshot.raw_value(counter), before = previous_.raw_value(counter);
  return now.size() != before.size() || std::memcmp(now.data(), before.data(), now.size()) != 0;
}

Result<> SampleWriter::write_value(const Snapshot& snapshot, const Counter& counter, bool first_time) {
  const Row& row = *rows_[static_cast<std::size_t>(&counter - snapshot.layout().counters().data())];
  ValueFormat format{.units = counter.units,
                     .variability = counter.variability,
                     .flags = counter.flags,
                     .length = counter.vector_length};
  std::string value;
  if (counter.kind == ValueKind::kLong) {
    append_decimal(value, snapshot.long_value(counter));
  } else if (counter.kind == ValueKind::kText) {
    std::string text(snapshot.text_value(counter));
    if (row.secret && !options_.show_secrets) {
      std::string masked = table_->text_value(snapshot, row, false);
      format.masked = masked != table_->text_value(snapshot, row, true);
      if (format.masked) text = std::move(masked);
    }
    value = encode_text(text, format.encoding);
  } else {
    format.encoding = ValueEncoding::kHex;
    value = table_->text_value(snapshot, row, true);
  }
  std::string format_text, type;
  // A value that changes from plain to escaped is marked so from then on.
  if (first_time || format.encoding != ValueEncoding::kPlain || format.masked)
    append_value_format(format_text, format, row.metadata.quantity);
  trace::Value element{.name = counter.name};
  if (first_time) {
    type = value_type(counter);
    element.objIdRef = trace::ObjectId::none();
    element.type = type;
  }
  if (!format_text.empty()) element.serializationFormat = format_text;
  element.value = value;
  return document_.events().emit(element);
}

Result<> PauseWriter::begin(std::uint64_t time) {
  last_time_ = time;
  JTRACE_RETURN_IF_ERROR(document_.begin_trace(time));
  JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kSeriesKey, trace::kPausesSeries));
  return document_.write_clock();
}

Result<> PauseWriter::write(const std::vector<GcPause>& pauses, std::int64_t missed, const Snapshot& snapshot,
                            const TickClock& clock, const ClockAnchor& anchor) {
  if (missed != 0) JTRACE_RETURN_IF_ERROR(document_.write_option(trace::kMissedPausesKey, std::to_string(missed)));
  if (pauses.empty()) return {};
  JTRACE_RETURN_IF_ERROR(
      set_zero(anchor.wall_of(static_cast<std::uint64_t>(clock.zero())), pauses.front().entry, clock));
  const auto wall = [&](std::int64_t tick) {
    return trace::Time(zero_ + static_cast<std::uint64_t>(clock.ns_of(tick)));
  };
  const HeapUse heap = heap_use(snapshot);
  for (std::size_t i = 0; i < pauses.size(); ++i) {
    // A pause that overlaps one that is written already is the same pause: at most its rest is new.
    const std::int64_t entry = std::max(pauses[i].entry, last_exit_);
    std::int64_t exit = pauses[i].exit;
    const GcPause* named = &pauses[i];
    while (i + 1 < pauses.size() && pauses[i + 1].entry <= exit) {
      exit = std::max(exit, pauses[++i].exit);
      if (named->cause.empty()) named = &pauses[i];
    }
    if (exit <= last_exit_) continue;
    last_exit_ = exit;
    JTRACE_RETURN_IF_ERROR(document_.events().emit(trace::GcStart{.time = wall(entry)}));
    JTRACE_RETURN_IF_ERROR(document_.events().emit(
        trace::GcFinish{.time = wall(exit),
                        .totalObjectSpace = heap.capacity,
                        .usedObjectSpace = heap.used,
                        .cause = named->cause.empty() ? trace::Text() : trace::Text(named->cause),
                        .kind = named->kind.empty() ? trace::Text() : trace::Text(named->kind)}));
    last_pause_end_ = wall(exit).ns();
    last_time_ = std::max(last_time_, last_pause_end_);
    ++pauses_;
  }
  return {};
}

// Takes a better estimate of when tick 0 was, unless that puts the pause before the end of the previous one. The
// estimate is written, so that the ticks of a pause can be recomputed exactly.
Result<> PauseWriter::set_zero(std::uint64_t zero, std::int64_t next_entry, const TickClock& clock) {
  const bool goes_back = zero + static_cast<std::uint64_t>(clock.ns_of(next_entry)) < last_pause_end_;
  if (zero == zero_ || (zero_ != 0 && goes_back)) return {};
  zero_ = zero;
  return document_.write_option(trace::kTicksKey, "zero=" + trace::seconds_text(zero));
}

Result<> PauseWriter::runtime_shutdown(std::uint64_t time) {
  last_time_ = std::max(last_time_, time);
  return document_.events().emit(trace::RuntimeShutdown{.time = trace::Time(last_time_)});
}

Result<> PauseWriter::cut(std::uint64_t time) {
  return document_.write_option(trace::kGapKey, trace::gap_text({.from = std::max(last_time_, time)}));
}

Result<> PauseWriter::end(std::uint64_t time) { return document_.end_trace(std::max(last_time_, time)); }

HeapUse heap_use(const Snapshot& snapshot) {
  HeapUse heap;
  for (const Counter& counter : snapshot.layout().counters()) {
    if (!counter.name.starts_with("sun.gc.generation.")) continue;
    const bool of_space = counter.name.find(".space.") != counter.name.npos;
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(0, snapshot.long_value(counter)));
    if (of_space && counter.name.ends_with(".used")) heap.used += value;
    if (of_space && counter.name.ends_with(".capacity")) heap.capacity += value;
  }
  return heap;
}

TickClock first_tick_clock(const Snapshot& snapshot, const ClockAnchor& anchor) {
  const std::int64_t begin_ms = snapshot.long_value("sun.rt.createVmBeginTime").value_or(0);
  const std::int64_t frequency = snapshot.long_value("sun.os.hrt.frequency").value_or(0);
  // Recorded in whole ms, just before the first tick.
  const std::int64_t begin = static_cast<std::int64_t>(static_cast<std::uint64_t>(begin_ms) * 1'000'000 + 500'000);
  const auto monotonic = static_cast<std::uint64_t>(begin) - anchor.realtime + anchor.monotonic;
  return {static_cast<std::int64_t>(monotonic), frequency > 0 ? static_cast<double>(frequency) : 1e9};
}

}  // namespace jtrace::perfdata
