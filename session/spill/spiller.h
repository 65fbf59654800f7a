// Spiller: keeps what a trace has in its pool as it is (trace/record/spill_format.h), for `jtrace convert`. It merges
// and formats nothing; what the document will say of moments, losses and the trace's own doings is kept beside it, so
// that the document is the one that a Drainer had written. One thread.
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
  // `reader`, `output`: borrowed. The events of the session's options are those that are really on.
  Spiller(trace::record::PoolReader& reader, TraceOutput& output, Session session)
      : reader_(reader), output_(output), session_(std::move(session)), writer_(output.bytes_sink()) {}

  Result<> begin(std::uint64_t time) override;
  Result<Pass> pass(Mode mode) override;
  Result<> end(Mode mode) override;
  Result<> end_trace(Mode mode) override;
  Result<> begin_next_trace() override;
  Result<> say_filters(std::vector<FilterRule> filters) override;
  Result<> say_paused(bool paused) override;
  Result<> say_standstill(std::uint64_t time, bool still) override;
  Result<> say_counts(const MethodCounts& counts) override;
  void set_counter(Counter counter) override { counter_ = std::move(counter); }
  void set_last_counts(MethodCounts counts) override { last_counts_ = std::move(counts); }
  void set_uncounted(std::string why) override { uncounted_ = std::move(why); }
  bool is_counted_out() const override { return counted_out_; }

  const TraceOptions& options() const override { return session_.options; }
  std::uint64_t events() const override { return state_.events(); }
  std::uint64_t malformed() const override { return reader_.counts().malformed + state_.malformed(); }
  std::uint64_t made_up_definitions() const override { return 0; }  // nobody looks for them yet
  std::uint64_t documents() const override { return documents_; }
  bool in_trace() const override { return in_trace_; }

 private:
  Result<> on_definitions(const trace::record::EventPart& part) override;
  Result<> on_events(const trace::record::EventPart& part) override;
  Result<> begin_file(std::uint64_t time);
  Result<> finish_file(bool last);
  Result<> next_file(std::uint32_t keep);
  Result<> watch_size(std::uint64_t reserve);
  Result<> say_last_counts();
  Result<> say_option(std::string_view key, std::string_view value);
  Result<> write_pass(std::uint64_t watermark);
  Result<trace::record::EventPart> write_part(trace::record::BlockKind kind, const trace::record::EventPart& part);
  Result<> restate(const trace::record::EventPart& part);
  std::uint64_t dropped() const { return reader_.counts().dropped_events - dropped_before_; }

  trace::record::PoolReader& reader_;
  TraceOutput& output_;
  Session session_;
  trace::record::SpillWriter writer_;
  SpillState state_;
  bool in_trace_ = false;
  Counter counter_;
  std::optional<MethodCounts> last_counts_;
  std::string uncounted_;
  bool counted_out_ = false;
  std::uint64_t documents_ = 1;
  std::uint64_t dropped_before_ = 0;  // until the file began
  std::uint64_t said_dropped_ = 0;
  std::uint64_t last_pass_ = 0;  // monotonic, of the last kPass
};

}  // namespace jtrace::session
