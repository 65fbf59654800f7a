#include "session/spill/spiller.h"

#include <algorithm>

#include "base/uuid.h"
#include "session/document/first_error.h"
#include "trace/option_keys.h"

namespace jtrace::session {

namespace record = trace::record;
using record::BlockKind;

namespace {

// Notes that a document gets from time to time are written at a pass. So there is a pass, possibly empty, at least this
// often.
constexpr std::uint64_t kPassInterval = kNanosPerSecond;

record::SpillMoment moment_now() {
  const ClockAnchor now = ClockAnchor::now();
  return {now.monotonic, now.realtime};
}

}  // namespace

Result<> Spiller::begin_document(std::uint64_t time) {
  session_.start = time;
  return begin_file(time);
}

Result<> Spiller::begin_further_document(std::uint64_t /*time*/, Further /*how*/) {
  writer_.redirect(files_.bytes_sink());
  dropped_before_ = reader_.counts().dropped_events;
  written_dropped_ = 0;
  return begin_file(monotonic_ns());
}

Result<> Spiller::begin_file(std::uint64_t time) {
  JTRACE_RETURN_IF_ERROR(writer_.begin());
  JTRACE_RETURN_IF_ERROR(writer_.write(BlockKind::kSession, whole_session_text(session_)));
  if (documents() > 1) JTRACE_RETURN_IF_ERROR(SpillDefinitions::write(state_.begin_further(), writer_));
  const record::StartBlock start{moment_now(), time, documents() > 1 ? 1u : 0u};
  std::string block(reinterpret_cast<const char*>(&start), sizeof start);
  JTRACE_RETURN_IF_ERROR(writer_.write(BlockKind::kTraceStart, block + random_uuid()));
  if (documents() > 1) JTRACE_RETURN_IF_ERROR(state_.write_positions(writer_));
  enter_trace();
  output().head_is_written();
  return output().flush();
}

Result<Spiller::Pass> Spiller::take(Mode mode) {
  JTRACE_ASSIGN_OR_RETURN(const Pass pass, reader_.take(*this, mode));
  const bool something = pass.events != 0 || pass.definition_bytes != 0 || mode != Mode::kLive;
  if (in_trace() && (something || dropped() != written_dropped_ || monotonic_ns() - last_pass_ >= kPassInterval))
    JTRACE_RETURN_IF_ERROR(write_pass(pass.time));
  // Frees only what has been written: a later recover finds the rest in the pool.
  JTRACE_RETURN_IF_ERROR(output().flush());
  if (mode != Mode::kReadOnly) reader_.release(options().block_when_full);
  return pass;
}

Result<> Spiller::write_pass(std::uint64_t watermark) {
  written_dropped_ = dropped();
  const record::PassBlock pass{moment_now(), watermark, written_dropped_};
  last_pass_ = pass.moment.monotonic;
  return writer_.write_block(BlockKind::kPass, pass);
}

// A copy of the part as it goes into the file, because its producer may change the pool's bytes.
Result<record::EventPart> Spiller::write_part(BlockKind kind, const record::EventPart& part) {
  record::EventPart written = part;
  std::span<const std::byte> copy;
  JTRACE_RETURN_IF_ERROR(writer_.write_part(kind, part, copy));
  written.data = copy.data();
  return written;
}

// What arrives while the trace is stopped (a paused agent still sends some records) is remembered, but not written.
Result<> Spiller::on_definitions(const record::EventPart& part) {
  if (!in_trace()) {
    state_.on_definitions(part, false);
    return {};
  }
  JTRACE_RETURN_IF_ERROR(watch_size(monotonic_ns()));
  JTRACE_ASSIGN_OR_RETURN(const record::EventPart written, write_part(BlockKind::kDefinitions, part));
  state_.on_definitions(written, true);
  return {};
}

Result<> Spiller::on_events(const record::EventPart& part) {
  if (!in_trace()) return {};
  JTRACE_RETURN_IF_ERROR(restate(part));
  JTRACE_ASSIGN_OR_RETURN(const record::EventPart written, write_part(BlockKind::kEvents, part));
  state_.on_events(written);
  return {};
}

// Writes the definitions that the part refers to before it; in the next file if this one has no room for them.
Result<> Spiller::restate(const record::EventPart& part) {
  const std::uint64_t document = documents();
  SpillDefinitions::Missing missing = state_.missing(part);
  JTRACE_RETURN_IF_ERROR(watch_size(monotonic_ns(), SpillDefinitions::size_of(missing)));
  if (documents() != document) missing = state_.missing(part);
  return SpillDefinitions::write(missing, writer_);
}

Result<> Spiller::settle(Ending ending) {
  return ending == Ending::kTrace ? Result<>() : write_pass(UINT64_MAX);  // nothing else goes into this file
}

Result<> Spiller::finish_document(const End& end) {
  FirstError first;
  for (const TraceNote& note : end.notes) first.add(write_note(note));
  const bool last = end.time || end.mode != Mode::kLive;
  const std::uint64_t flags = (last ? record::kWriterEnded : 0) | (end.cut ? record::kOutputWasFull : 0);
  first.add(writer_.write_block(BlockKind::kTraceEnd, record::EndBlock{moment_now(), dropped(), flags}));
  first.add(output().finish());
  return first.result();
}

DrainFigures Spiller::figures() const {
  // A spill does not check for missing definitions.
  return {.events = state_.events(), .malformed = reader_.counts().malformed + state_.malformed()};
}

Result<> Spiller::write_note(const TraceNote& note) {
  return std::visit([this](const auto& each) { return write_this(each); }, note);
}

Result<> Spiller::write_this(const FiltersNote& note) {
  set_filters(note.filters);
  session_.options.filters = note.filters;
  std::string lines;
  for (const FilterRule& rule : note.filters) lines += to_text(rule) + "\n";
  return writer_.write(BlockKind::kFilters, lines);
}

Result<> Spiller::write_this(const PausedNote& note) {
  return writer_.write(BlockKind::kPaused, note.paused ? "1" : "0");
}

Result<> Spiller::write_this(const StandstillNote& note) {
  return writer_.write_block(BlockKind::kStandstill, record::StandstillBlock{note.time, note.still ? 1u : 0u});
}

Result<> Spiller::write_this(const MethodCounts& counts) {
  JTRACE_RETURN_IF_ERROR(SpillDefinitions::write(state_.missing(counts), writer_));
  return writer_.write(BlockKind::kCounts, counts.encoded());
}

Result<> Spiller::write_this(const OptionNote& note) {
  return writer_.write(BlockKind::kOption, note.key + '\0' + note.value);
}

}  // namespace jtrace::session
