// TraceDocument: what every producer writes around its events: the head (node, processCreate, agentCreate), traces
// (traceStart to traceEnd) with their options, clock and losses, and the end (agentDestroy). The events themselves are
// written through events(), which gives them their place in the trace.
//
// A document has one producer, and one or more traces in sequence; of traces that are open at the same time (hsperf's
// samples and its pauses) each has one of these, all but the first with continue_producer(). Times are wall times, ns
// since the epoch. One thread. Errors: those of the sink.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "trace/event_emitter.h"

namespace jtrace::trace {

// The contents of node, processCreate and agentCreate.
struct ProducerIdentity {
  std::string node_id, hostname, ip_addresses;
  std::optional<std::uint32_t> timezone;  // minutes west of Greenwich; absent if the host is not known
  std::uint64_t boot_time = 0;            // 0: not known
  std::string process_id, process_name, executable;
  std::uint64_t process_time = 0;
  int pid = 0;
  std::string agent_id, agent_name, agent_parameters, agent_version;
};

class TraceDocument {
 public:
  // As for EventEmitter.
  explicit TraceDocument(EventSink& sink, bool extensions = true, bool refer = true)
      : events_(sink, extensions, refer) {}

  // Writes the head. `time`: of the agent's creation.
  Result<> begin(const ProducerIdentity& producer, std::uint64_t time);
  // Writes the traceStart of the producer that begin() named.
  Result<> begin_trace(std::uint64_t time);
  Result<> begin_trace(std::uint64_t time, std::string trace_id);
  // The document has its head already: further traces of this producer follow.
  void continue_producer(std::string agent_id) { agent_id_ = std::move(agent_id); }
  // The document also has its traceStart: the trace continues after this collationValue.
  void resume(std::string agent_id, std::string trace_id, std::uint64_t collation);

  Result<> write_option(std::string_view key, std::string_view value);
  // Writes jtrace.clock: relates wall times of the document to monotonic times.
  Result<> write_clock(const ClockAnchor& moment = ClockAnchor::now());
  // True if the clock was written more than a minute ago; `monotonic` in ns.
  bool is_clock_due(std::uint64_t monotonic) const { return monotonic - clock_written_ >= kClockInterval; }
  // Writes jtrace.dropped: the events lost since the last such option. `total`: those lost since the first document
  // began. False if there are none to write.
  Result<bool> write_losses(std::uint64_t total);
  std::uint64_t written_losses() const { return losses_; }

  Result<> end_trace(std::uint64_t time);
  // Writes agentDestroy. The sink is not finished.
  Result<> end(std::uint64_t time);

  // Passes everything from now on to another sink (borrowed).
  void redirect(EventSink& sink) { events_.redirect(sink); }
  EventEmitter& events() { return events_; }
  const EventEmitter& events() const { return events_; }
  const std::string& trace_id() const { return events_.trace_id(); }

 private:
  static constexpr std::uint64_t kClockInterval = 60 * kNanosPerSecond;

  EventEmitter events_;
  std::string agent_id_;
  std::uint64_t clock_written_ = 0;  // monotonic
  std::uint64_t losses_ = 0;         // that the document has reported
};

}  // namespace jtrace::trace
