// Drainer: from records to a document: the head, passes over the records, what was lost, the end. The records are those
// of a live pool, of one that was left, or of a spill. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "session/document/document_output.h"
#include "session/document/event_builder.h"
#include "session/document/trace_drain.h"
#include "session/document/trace_identity.h"
#include "session/options/options.h"
#include "trace/record/record_source.h"
#include "trace/trace_document.h"

namespace jtrace::session {

class Drainer final : public TraceDrain {
 public:
  // `records`, `output`: borrowed. `anchor`: the trace's one relation of monotonic to wall time. The events of
  // `options` are those that are really on.
  Drainer(trace::record::RecordSource& records, DocumentOutput& output, TraceIdentity identity, TraceOptions options,
          const ClockAnchor& anchor);

  // node to traceStart, options, filters, the JVM's times, the clock.
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
  Result<> say_option(std::string_view key, std::string_view value) { return document_.write_option(key, value); }

  // What is read was kept: from here on this is now; and the traceId of the trace that begins next.
  void set_now(const ClockAnchor& now) { kept_now_ = now; }
  void set_trace_id(std::string id) { kept_trace_id_ = std::move(id); }
  // A definition of what had begun before the trace that begins next: known, and written where it is referred to.
  void know(std::span<const std::byte> definition) { builder_.know(definition); }
  // Where there is an earlier document: threads that live are defined at once.
  Result<> restart(std::uint64_t time) { return builder_.restart_unknown(time); }

  const TraceOptions& options() const override { return options_; }
  const TraceIdentity& identity() const { return identity_; }
  std::uint64_t events() const override { return document_.events().total(); }
  std::uint64_t dropped() const { return records_.counts().dropped_events; }
  std::uint64_t malformed() const override { return records_.counts().malformed + builder_.malformed(); }
  std::uint64_t made_up_definitions() const override { return builder_.made_up_definitions(); }
  std::uint64_t orphan_exits() const { return builder_.orphan_exits(); }
  std::uint64_t documents() const override { return documents_; }
  bool in_trace() const override { return document_.in_trace(); }

 private:
  Result<> begin_document(std::uint64_t time);
  Result<> begin_trace(std::uint64_t time);
  Result<> finish_document(std::uint64_t time);
  Result<> watch_size(std::uint64_t time);
  Result<> say_last_counts();
  Result<> rotate(std::uint64_t time);
  Result<> write_losses(bool at_once);
  Result<> write_filters();
  ClockAnchor now() const { return kept_now_ ? *kept_now_ : ClockAnchor::now(); }
  std::uint64_t monotonic_now() const { return kept_now_ ? kept_now_->monotonic : monotonic_ns(); }

  trace::record::RecordSource& records_;
  DocumentOutput& output_;
  TraceIdentity identity_;
  TraceOptions options_;
  ClockAnchor anchor_;
  trace::NullSink discard_;
  trace::TraceDocument document_;
  EventBuilder builder_;
  std::optional<ClockAnchor> kept_now_;
  std::string kept_trace_id_;
  bool rotating_ = false;
  Counter counter_;
  std::optional<MethodCounts> last_counts_;
  std::string uncounted_;  // why the document has no counts at its end, "": it has, or wants none
  bool counted_out_ = false;
  std::uint64_t documents_ = 1;
  std::uint64_t last_losses_time_ = 0;  // when they were last written
  std::uint64_t time_reached_ = 0;      // no event before this monotonic time will come
};

}  // namespace jtrace::session
