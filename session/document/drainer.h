// Drainer: makes a document of records: the head, the events of each pass, the losses, the end. The records come from a
// live pool, from a pool that was left, or from a spill. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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
  // `records`, `output`: borrowed. `anchor`: the trace's one relation of monotonic
  // to wall time. The events of `options` are those that the agent has switched on.
  Drainer(trace::record::RecordSource& records, DocumentOutput& output, TraceIdentity identity, TraceOptions options,
          const ClockAnchor& anchor);

  // Reading a spill: sets the time that counts as now, and the traceId of the trace that begins next.
  void set_now(const ClockAnchor& now) { kept_now_ = now; }
  void set_trace_id(std::string id) { kept_trace_id_ = std::move(id); }
  // A definition from before the trace that begins next: stored, and written when an event refers to it.
  void remember(std::span<const std::byte> definition) { builder_.remember(definition); }
  // If there is an earlier document: defines live threads at once.
  Result<> restart(std::uint64_t time) { return builder_.restart_unknown(time); }

  DrainFigures figures() const override;
  std::uint64_t dropped() const { return records_.counts().dropped_events; }
  std::uint64_t orphan_exits() const { return builder_.orphan_exits(); }

 private:
  // node to traceStart, options, filters, the JVM's times, the clock.
  Result<> begin_document(std::uint64_t time) override;
  Result<> begin_further_document(std::uint64_t time, Further how) override;
  Result<Pass> take(Mode mode) override;
  Result<> write_note(const TraceNote& note) override;
  Result<> settle(Ending ending) override;
  Result<> finish_document(const End& end) override;
  CountRoom count_room() const override;

  Result<> write_head();
  Result<> write_losses(bool at_once);
  Result<> write_filters();
  Result<> write_this(const FiltersNote& note);
  Result<> write_this(const PausedNote& note);
  Result<> write_this(const StandstillNote& note);
  Result<> write_this(const MethodCounts& counts);
  Result<> write_this(const OptionNote& note);
  ClockAnchor now() const { return kept_now_ ? *kept_now_ : ClockAnchor::now(); }
  std::uint64_t monotonic_now() const { return kept_now_ ? kept_now_->monotonic : monotonic_ns(); }

  trace::record::RecordSource& records_;
  TraceIdentity identity_;
  ClockAnchor anchor_;
  trace::NullSink discard_;
  trace::TraceDocument document_;
  EventBuilder builder_;
  std::optional<ClockAnchor> kept_now_;
  std::string kept_trace_id_;
  std::uint64_t last_losses_time_ = 0;  // when they were last written
  std::uint64_t time_reached_ = 0;      // no event before this monotonic time will come
};

}  // namespace jtrace::session
