// Spiller: writes the contents of the pool unchanged (trace/record/spill_format.h), for `jtrace convert`. It neither
// merges nor formats. Times of passes, losses and notes of the trace are written too, so that the document is the one
// that a Drainer would have written. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "session/document/session_text.h"
#include "session/document/trace_drain.h"
#include "session/document/trace_output.h"
#include "session/spill/spill_state.h"
#include "trace/record/pool_reader.h"
#include "trace/record/spill_writer.h"

namespace jtrace::session {

class Spiller final : public TraceDrain, private trace::record::PartSink {
 public:
  // `reader`, `output`: borrowed. The events of the session's options are those that the agent has switched on.
  Spiller(trace::record::PoolReader& reader, TraceOutput& output, Session session)
      : TraceDrain(output, session.options),
        reader_(reader),
        session_(std::move(session)),
        files_(output),
        writer_(output.bytes_sink()),
        state_(counts_methods(session_.options)) {}

  DrainFigures figures() const override;

 private:
  Result<> begin_document(std::uint64_t time) override;
  Result<> begin_further_document(std::uint64_t time, Further how) override;
  Result<Pass> take(Mode mode) override;
  Result<> write_note(const TraceNote& note) override;
  Result<> settle(Ending ending) override;
  Result<> finish_document(const End& end) override;
  CountRoom count_room() const override { return {state_.methods(), state_.count_bytes()}; }

  Result<> on_definitions(const trace::record::EventPart& part) override;
  Result<> on_events(const trace::record::EventPart& part) override;
  Result<> begin_file(std::uint64_t time);
  Result<> write_this(const FiltersNote& note);
  Result<> write_this(const PausedNote& note);
  Result<> write_this(const StandstillNote& note);
  Result<> write_this(const MethodCounts& counts);
  Result<> write_this(const OptionNote& note);
  Result<> write_pass(std::uint64_t watermark);
  Result<trace::record::EventPart> write_part(trace::record::BlockKind kind, const trace::record::EventPart& part);
  Result<> restate(const trace::record::EventPart& part);
  std::uint64_t dropped() const { return reader_.counts().dropped_events - dropped_before_; }

  trace::record::PoolReader& reader_;
  Session session_;
  TraceOutput& files_;
  trace::record::SpillWriter writer_;
  SpillState state_;
  std::uint64_t dropped_before_ = 0;  // until the file began
  std::uint64_t written_dropped_ = 0;
  std::uint64_t last_pass_ = 0;  // monotonic, of the last kPass
};

}  // namespace jtrace::session
