#include "session/spill/spill_source.h"

#include <cstring>
#include <optional>

#include "base/strings.h"
#include "session/document/drainer.h"
#include "session/spill/spilled_records.h"
#include "trace/record/spill_reader.h"

namespace jtrace::session {

namespace record = trace::record;
namespace io = trace::io;
using record::BlockKind;

namespace {

// Gives the caller's sink as a document that is neither begun nor ended here.
class SinkOutput final : public DocumentOutput {
 public:
  explicit SinkOutput(trace::EventSink& sink) : sink_(sink) {}
  trace::EventSink& sink() override { return sink_; }
  Result<> begin() override { return {}; }
  Result<> flush() override { return {}; }
  void begin_closing() override {}
  Result<> finish() override { return {}; }
  bool is_nearly_full(std::uint64_t) const override { return false; }
  Result<> next_document(std::uint32_t) override { return {}; }
  void head_is_written() override {}

 private:
  trace::EventSink& sink_;
};

ClockAnchor anchor_of(const record::SpillMoment& moment) { return {moment.monotonic, moment.realtime}; }

// Reads a struct from the start of the payload.
template <class Fields>
std::optional<Fields> fields_of(const record::SpillReader::Block& block) {
  if (block.payload.size() < sizeof(Fields)) return std::nullopt;
  Fields fields;
  std::memcpy(&fields, block.payload.data(), sizeof fields);
  return fields;
}

std::string_view text_of(const record::SpillReader::Block& block) {
  return {reinterpret_cast<const char*>(block.payload.data()), block.payload.size()};
}

// Repeats what the trace did.
class Replay {
 public:
  Replay(const Session& session, trace::EventSink& sink)
      : output_(sink),
        drainer_(records_, output_, session.identity, without_rotation(session.options), session.anchor) {}

  // False if the block is malformed or not allowed here.
  Result<bool> take(record::SpillReader::Block& block) {
    if (block.header.kind == BlockKind::kKnown) return remember(block);
    if (block.header.kind == BlockKind::kTraceStart) return start(block);
    if (!drainer_.in_trace()) return false;
    switch (block.header.kind) {
      case BlockKind::kDefinitions:
      case BlockKind::kEvents: return done(records_.add(block));
      case BlockKind::kPass: return pass(block);
      case BlockKind::kFilters: return filters(block);
      case BlockKind::kPaused: return done(drainer_.write(PausedNote{text_of(block) == "1"}));
      case BlockKind::kCounts: return counts(block);
      case BlockKind::kOption: return option(block);
      case BlockKind::kStandstill: return standstill(block);
      case BlockKind::kTraceEnd: return end(block);
      default: return false;
    }
  }
  // The file ends before the trace does; `rest` is what its pool has after it.
  Result<> cut(record::PoolReader* rest) {
    if (rest != nullptr) JTRACE_RETURN_IF_ERROR(records_.add_rest(*rest));
    return drainer_.end(Drainer::Mode::kReadOnly);
  }
  bool has_begun() const { return has_begun_; }
  bool has_ended() const { return has_begun_ && !drainer_.in_trace(); }
  const Drainer& drainer() const { return drainer_; }

 private:
  static TraceOptions without_rotation(TraceOptions options) {
    options.rotate = 0;
    return options;
  }
  static Result<bool> done(Result<> result) {
    if (!result) return fail(std::move(result).error());
    return true;
  }

  Result<bool> remember(const record::SpillReader::Block& block) {
    const std::size_t size_field = sizeof(std::uint32_t);
    if (block.payload.size() < size_field) return false;
    drainer_.remember(std::span(block.payload).subspan(size_field));
    return true;
  }
  Result<bool> start(const record::SpillReader::Block& block) {
    const auto fields = fields_of<record::StartBlock>(block);
    if (!fields || has_begun_ || block.payload.size() != sizeof *fields + record::kTraceIdSize) return false;
    has_begun_ = true;
    drainer_.set_now(anchor_of(fields->moment));
    drainer_.set_trace_id(std::string(text_of(block).substr(sizeof *fields)));
    JTRACE_RETURN_IF_ERROR(drainer_.begin(fields->time));
    return done(fields->later != 0 ? drainer_.restart(fields->time) : Result<>());
  }
  Result<bool> pass(const record::SpillReader::Block& block) {
    const auto fields = fields_of<record::PassBlock>(block);
    if (!fields) return false;
    drainer_.set_now(anchor_of(fields->moment));
    records_.set_pass(fields->watermark, fields->dropped);
    is_all_ = fields->watermark == UINT64_MAX;
    if (is_all_) return true;  // the end comes next
    auto passed = drainer_.pass(Drainer::Mode::kLive);
    return passed ? Result<bool>(true) : fail(std::move(passed).error());
  }
  Result<bool> filters(const record::SpillReader::Block& block) {
    std::vector<FilterRule> rules;
    for (const std::string_view line : split(text_of(block), '\n')) {
      if (line.empty()) continue;
      auto rule = parse_filter_rule(line);
      if (!rule) return false;
      rules.push_back(std::move(*rule));
    }
    return done(drainer_.write(FiltersNote{std::move(rules)}));
  }
  Result<bool> counts(const record::SpillReader::Block& block) {
    MethodCounts counts;
    if (!counts.decode(text_of(block))) return false;
    if (!is_all_) return done(drainer_.write(counts));
    drainer_.set_last_counts(std::move(counts));
    return true;
  }
  Result<bool> standstill(const record::SpillReader::Block& block) {
    const auto fields = fields_of<record::StandstillBlock>(block);
    if (!fields) return false;
    return done(drainer_.write(StandstillNote{fields->time, fields->still != 0}));
  }
  Result<bool> option(const record::SpillReader::Block& block) {
    const std::string_view text = text_of(block);
    const std::size_t end = text.find('\0');
    if (end == std::string_view::npos) return false;
    return done(drainer_.write(OptionNote{std::string(text.substr(0, end)), std::string(text.substr(end + 1))}));
  }
  Result<bool> end(const record::SpillReader::Block& block) {
    const auto fields = fields_of<record::EndBlock>(block);
    if (!fields) return false;
    drainer_.set_now(anchor_of(fields->moment));
    records_.set_pass(UINT64_MAX, fields->dropped);
    if ((fields->flags & record::kOutputWasFull) != 0) drainer_.set_cut();
    const bool is_last = (fields->flags & record::kWriterEnded) != 0;
    return done(drainer_.end_trace(is_last ? Drainer::Mode::kFinal : Drainer::Mode::kLive));
  }

  SinkOutput output_;
  SpilledRecords records_;
  Drainer drainer_;
  bool has_begun_ = false;
  bool is_all_ = false;  // the file has no more records
};

class SpillSource final : public io::EventSource {
 public:
  SpillSource(std::unique_ptr<io::ByteSource> bytes, record::SpillReader reader, Session session, std::string name,
              io::FaultLog& faults, record::PoolReader* rest)
      : bytes_(std::move(bytes)),
        reader_(std::move(reader)),
        session_(std::move(session)),
        name_(std::move(name)),
        faults_(faults),
        rest_(rest) {}

  Result<io::ReadSummary> read(trace::EventSink& sink) override {
    Replay replay(session_, sink);
    JTRACE_RETURN_IF_ERROR(take_blocks(replay));
    if (!replay.has_begun())
      return fail(ErrorCategory::kMalformed, name_ + ": is a spill that ends before its trace begins");
    const bool whole = replay.has_ended();
    if (!whole) JTRACE_RETURN_IF_ERROR(replay.cut(rest_));
    JTRACE_RETURN_IF_ERROR(report_faults(replay.drainer()));
    return io::ReadSummary{.elements = replay.drainer().figures().events,
                           .truncated = !whole && rest_ == nullptr,
                           .fragments = session_.options.writes_fragments()};
  }
  io::Position position() const override { return {}; }

 private:
  Result<> take_blocks(Replay& replay) {
    record::SpillReader::Block block;
    while (!replay.has_ended()) {
      const std::uint64_t at = reader_.position();
      JTRACE_ASSIGN_OR_RETURN(const bool more, reader_.next(block));
      if (!more) {
        if (reader_.fault().empty()) return {};
        return faults_.add(name_, {}, "damage", "", "the spill is " + reader_.fault() + ", and used up to there");
      }
      JTRACE_ASSIGN_OR_RETURN(const bool sense, replay.take(block));
      if (!sense)
        return faults_.add(
            name_, {}, "damage", "",
            "the spill's block at byte " + std::to_string(at) + " is invalid; the spill is used up to there");
    }
    return {};
  }
  Result<> report_faults(const Drainer& drainer) {
    if (drainer.figures().malformed != 0)
      JTRACE_RETURN_IF_ERROR(faults_.add(name_, {}, "senseless record", "",
                                         counted(drainer.figures().malformed, "place") + " in the records " +
                                             is_are(drainer.figures().malformed) + " invalid and left out"));
    if (drainer.figures().made_up_definitions != 0)
      JTRACE_RETURN_IF_ERROR(faults_.add(name_, {}, "missing definition", "",
                                         std::to_string(drainer.figures().made_up_definitions) +
                                             " definitions are missing: what they define has only its id"));
    return {};
  }

  std::unique_ptr<io::ByteSource> bytes_;
  record::SpillReader reader_;
  Session session_;
  std::string name_;
  io::FaultLog& faults_;
  record::PoolReader* rest_;
};

}  // namespace

bool is_spill(std::string_view first_bytes) {
  return first_bytes.starts_with(std::string_view(record::kSpillMagic, sizeof record::kSpillMagic));
}

Result<std::unique_ptr<io::EventSource>> open_spill(std::unique_ptr<io::ByteSource> bytes, const std::string& name,
                                                    io::FaultLog& faults, record::PoolReader* rest) {
  io::ByteSource* const below = bytes.get();
  JTRACE_ASSIGN_OR_RETURN(
      record::SpillReader reader,
      record::SpillReader::open([below](char* out, std::size_t size) { return io::read_fully(*below, out, size); },
                                name));
  record::SpillReader::Block first;
  JTRACE_ASSIGN_OR_RETURN(const bool has_session, reader.next(first));
  if (!has_session || first.header.kind != BlockKind::kSession)
    return fail(ErrorCategory::kMalformed,
                name + ": is a spill that " + (reader.fault().empty() ? "says nothing" : "is " + reader.fault()));
  auto session = read_session(text_of(first));
  if (!session) return fail(std::move(session).error().with_context(name));
  return std::unique_ptr<io::EventSource>(
      std::make_unique<SpillSource>(std::move(bytes), std::move(reader), std::move(*session), name, faults, rest));
}

}  // namespace jtrace::session
