#include "trace/trace_document.h"

#include <utility>

#include "base/uuid.h"
#include "trace/clock_option.h"
#include "trace/option_keys.h"

namespace jtrace::trace {

Result<> TraceDocument::begin(const ProducerIdentity& producer, std::uint64_t time) {
  agent_id_ = producer.agent_id;
  JTRACE_RETURN_IF_ERROR(events_.emit(Node{.nodeId = producer.node_id,
                                           .hostname = producer.hostname,
                                           .ipaddress = producer.ip_addresses,
                                           .timezone = producer.timezone ? Number(*producer.timezone) : Number(),
                                           .time = producer.boot_time != 0 ? Time(producer.boot_time) : Time()}));
  JTRACE_RETURN_IF_ERROR(events_.emit(ProcessCreate{.processId = producer.process_id,
                                                    .name = producer.process_name,
                                                    .pid = static_cast<std::uint64_t>(producer.pid),
                                                    .nodeIdRef = producer.node_id,
                                                    .time = Time(producer.process_time),
                                                    .application_executable = producer.executable}));
  return events_.emit(AgentCreate{.agentId = producer.agent_id,
                                  .processIdRef = producer.process_id,
                                  .agentName = producer.agent_name,
                                  .time = Time(time),
                                  .agentParameters = producer.agent_parameters,
                                  .version = producer.agent_version});
}

Result<> TraceDocument::begin_trace(std::uint64_t time) { return begin_trace(time, random_uuid()); }

Result<> TraceDocument::begin_trace(std::uint64_t time, std::string trace_id) {
  events_.begin_trace(std::move(trace_id));
  return events_.emit(TraceStart{.traceId = events_.trace_id(), .agentIdRef = agent_id_, .time = Time(time)});
}

void TraceDocument::resume(std::string agent_id, std::string trace_id, std::uint64_t collation) {
  continue_producer(std::move(agent_id));
  events_.begin_trace(std::move(trace_id));
  events_.go_on_after(collation);
}

Result<> TraceDocument::write_option(std::string_view key, std::string_view value) {
  return events_.emit(Option{.key = key, .value = value});
}

Result<> TraceDocument::write_clock(const ClockAnchor& moment) {
  clock_written_ = moment.monotonic;
  return write_option(kClockKey, clock_option(moment));
}

Result<bool> TraceDocument::write_losses(std::uint64_t total) {
  if (total <= losses_) return false;
  const std::uint64_t more = total - losses_;
  losses_ = total;
  JTRACE_RETURN_IF_ERROR(write_option(kDroppedKey, std::to_string(more)));
  return true;
}

Result<> TraceDocument::end_trace(std::uint64_t time) { return events_.emit(TraceEnd{.time = Time(time)}); }

Result<> TraceDocument::end(std::uint64_t time) {
  return events_.emit(AgentDestroy{.agentIdRef = agent_id_, .time = Time(time)});
}

}  // namespace jtrace::trace
