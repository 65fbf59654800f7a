#include "session/spill/spiller.h"

#include <algorithm>

#include "base/uuid.h"
#include "session/document/first_error.h"
#include "trace/option_keys.h"

namespace jtrace::session {

namespace record = trace::record;
using record::BlockKind;

namespace {

// What a document says now and then, it says at a pass: there is one, though it be empty, as often as this.
constexpr std::uint64_t kPassInterval = kNanosPerSecond;

record::SpillMoment moment_now() {
  const ClockAnchor now = ClockAnchor::now();
  return {now.monotonic, now.realtime};
}

}  // namespace

Result<> Spiller::begin(std::uint64_t time) {
  JTRACE_RETURN_IF_ERROR(output_.begin());
  session_.start = time;
  return begin_file(time);
}

Result<> Spiller::begin_file(std::uint64_t time) {
  JTRACE_RETURN_IF_ERROR(writer_.begin());
  JTRACE_RETURN_IF_ERROR(writer_.write(BlockKind::kSession, whole_session_text(session_)));
  if (documents_ > 1) JTRACE_RETURN_IF_ERROR(SpillDefinitions::write(state_.begin_further(), writer_));
  const record::StartBlock start{moment_now(), time, documents_ > 1 ? 1u : 0u};
  std::string block(reinterpret_cast<const char*>(&start), sizeof start);
  JTRACE_RETURN_IF_ERROR(writer_.write(BlockKind::kTraceStart, block + random_uuid()));
  if (documents_ > 1) JTRACE_RETURN_IF_ERROR(state_.write_positions(writer_));
  in_trace_ = true;
  output_.head_is_written();
  return output_.flush();
}

Result<Spiller::Pass> Spiller::pass(Mode mode) {
  JTRACE_ASSIGN_OR_RETURN(const Pass pass, reader_.take(*this, mode));
  const bool something = pass.events != 0 || pass.definition_bytes != 0 || mode != Mode::kLive;
  if (in_trace_ && (something || dropped() != said_dropped_ || monotonic_ns() - last_pass_ >= kPassInterval))
    JTRACE_RETURN_IF_ERROR(write_pass(pass.time));
  // Only what has left us is freed: a later recover finds the rest in the pool.
  JTRACE_RETURN_IF_ERROR(output_.flush());
  if (mode != Mode::kReadOnly) reader_.release(session_.options.block_when_full);
  return pass;
}

Result<> Spiller::write_pass(std::uint64_t watermark) {
  said_dropped_ = dropped();
  const record::PassBlock pass{moment_now(), watermark, said_dropped_};
  last_pass_ = pass.moment.monotonic;
  return writer_.write_block(BlockKind::kPass, pass);
}

// The part as it is in the file, whatever its producer does with the pool's bytes meanwhile.
Result<record::EventPart> Spiller::write_part(BlockKind kind, const record::EventPart& part) {
  record::EventPart written = part;
  std::span<const std::byte> copy;
  JTRACE_RETURN_IF_ERROR(writer_.write_part(kind, part, copy));
  written.data = copy.data();
  return written;
}

// What comes while the trace is stopped (a paused agent still says something) is known, but not written.
Result<> Spiller::on_definitions(const record::EventPart& part) {
  if (!in_trace_) {
    state_.on_definitions(part, false);
    return {};
  }
  JTRACE_RETURN_IF_ERROR(watch_size(0));
  JTRACE_ASSIGN_OR_RETURN(const record::EventPart written, write_part(BlockKind::kDefinitions, part));
  state_.on_definitions(written, true);
  return {};
}

Result<> Spiller::on_events(const record::EventPart& part) {
  if (!in_trace_) return {};
  JTRACE_RETURN_IF_ERROR(restate(part));
  JTRACE_ASSIGN_OR_RETURN(const record::EventPart written, write_part(BlockKind::kEvents, part));
  state_.on_events(written);
  return {};
}

// What the part refers to, before it; in the next file where this one has no room for them.
Result<> Spiller::restate(const record::EventPart& part) {
  const std::uint64_t document = documents_;
  SpillDefinitions::Missing missing = state_.missing(part);
  JTRACE_RETURN_IF_ERROR(watch_size(SpillDefinitions::size_of(missing)));
  if (documents_ != document) missing = state_.missing(part);
  return SpillDefinitions::write(missing, writer_);
}

// In the middle of a pass, between two parts: what the file has is all there will be of it. `reserve`: bytes that come
// beside the part.
Result<> Spiller::watch_size(std::uint64_t reserve) {
  const TraceOptions& options = session_.options;
  const bool counts = counts_methods(options);
  if (options.rotate == 0 && !counts) return {};
  const std::uint64_t counts_take = room_for_counts(options, state_.methods(), state_.count_bytes());
  if (!output_.is_nearly_full(reserve + counts_take)) return {};
  if (!counted_out_) {
    JTRACE_RETURN_IF_ERROR(write_pass(UINT64_MAX));
    if (counts) JTRACE_RETURN_IF_ERROR(say_last_counts());
  }
  if (options.rotate == 0) {
    counted_out_ = true;
    return fail(ErrorCategory::kPartial,
                "the spill has reached its limit of " + std::to_string(options.max_size) + " bytes");
  }
  JTRACE_RETURN_IF_ERROR(finish_file(true));
  return next_file(options.rotate);
}

// Of the file that ends.
Result<> Spiller::say_last_counts() {
  auto counts = last_counts(session_.options, state_.methods(), state_.count_bytes(), counter_);
  return counts ? say_counts(*counts) : say_option(trace::kUncountedKey, counts.error().message());
}

Result<> Spiller::say_counts(const MethodCounts& counts) {
  JTRACE_RETURN_IF_ERROR(SpillDefinitions::write(state_.missing(counts), writer_));
  return writer_.write(BlockKind::kCounts, counts.encoded());
}

Result<> Spiller::say_option(std::string_view key, std::string_view value) {
  return writer_.write(BlockKind::kOption, std::string(key) + '\0' + std::string(value));
}

Result<> Spiller::next_file(std::uint32_t keep) {
  JTRACE_RETURN_IF_ERROR(output_.next_document(keep));
  writer_.redirect(output_.bytes_sink());
  ++documents_;
  dropped_before_ = reader_.counts().dropped_events;
  said_dropped_ = 0;
  return begin_file(monotonic_ns());
}

Result<> Spiller::finish_file(bool last) {
  in_trace_ = false;
  FirstError first;
  if (last_counts_) first.add(say_counts(*last_counts_));
  if (!uncounted_.empty()) first.add(say_option(trace::kUncountedKey, uncounted_));
  first.add(writer_.write_block(BlockKind::kTraceEnd, record::EndBlock{moment_now(), dropped(), last ? 1u : 0u}));
  first.add(output_.finish());
  return first.result();
}

Result<> Spiller::end_trace(Mode mode) {
  FirstError first;
  auto done = pass(mode);
  if (!done) first.add(fail(std::move(done).error()));
  // What comes now is written also where the destination is full.
  output_.begin_closing();
  first.add(finish_file(mode != Mode::kLive));
  return first.result();
}

Result<> Spiller::end(Mode mode) { return in_trace_ ? end_trace(mode) : Result<>(); }

Result<> Spiller::begin_next_trace() { return next_file(std::max(session_.options.rotate, 1u)); }

Result<> Spiller::say_filters(std::vector<FilterRule> filters) {
  session_.options.filters = std::move(filters);
  std::string lines;
  for (const FilterRule& rule : session_.options.filters) lines += to_text(rule) + "\n";
  return writer_.write(BlockKind::kFilters, lines);
}

Result<> Spiller::say_standstill(std::uint64_t time, bool still) {
  return writer_.write_block(BlockKind::kStandstill, record::StandstillBlock{time, still ? 1u : 0u});
}

Result<> Spiller::say_paused(bool paused) { return writer_.write(BlockKind::kPaused, paused ? "1" : "0"); }

}  // namespace jtrace::session
