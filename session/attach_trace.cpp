#include "session/attach_trace.h"

#include <chrono>

#include "attach/preflight.h"
#include "base/clock.h"
#include "session/agent_loader.h"
#include "session/ctl_socket.h"
#include "session/document/session_text.h"
#include "session/document/trace_output.h"
#include "session/heap_counters.h"
#include "session/make_drain.h"
#include "session/options/agent_config.h"

namespace jtrace::session {
namespace {

using trace::record::FrameType;
using trace::record::StartStatus;

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return path == "-" || slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

Result<> check_age(const target::Jvm& jvm) {
  constexpr int kOldest = 8;
  if (jvm.feature == 0 || jvm.feature >= kOldest) return {};
  return fail(ErrorCategory::kNotAttachable,
              "JVM " + std::to_string(jvm.pid) + " is JDK " + std::to_string(jvm.feature) + " (" + jvm.version +
                  "): traces are of JDK " + std::to_string(kOldest) + " and later; no signal sent",
              "`jtrace cmd` and `jtrace stack` may work with it");
}

// Sends Start with the pool, and receives Started: the events that are really on.
Result<Started> start_agent(GreetedAgent& agent, const PoolFile& pool, const std::string& start,
                            const attach::Waiter& waiter) {
  JTRACE_RETURN_IF_ERROR(agent.channel.send(FrameType::kStart, start, pool.shared_fd()));
  JTRACE_ASSIGN_OR_RETURN(const Frame frame, wait_for_frame(agent.channel, waiter));
  if (frame.type != FrameType::kStarted) return fail(ErrorCategory::kAgent, "the agent did not start");
  JTRACE_ASSIGN_OR_RETURN(Started started, decode_started(frame.payload));
  const std::string jvm = "JVM " + std::to_string(waiter.process().pid());
  switch (static_cast<StartStatus>(started.status)) {
    case StartStatus::kTraces: return started;
    case StartStatus::kAlreadyTraced:
      return fail(ErrorCategory::kRefused,
                  jvm + " is being traced already, by a jtrace of another user or one that was killed a moment ago",
                  "the agent of a killed one is leaving: try again in some seconds");
    case StartStatus::kFailed: break;
  }
  return fail(ErrorCategory::kAgent, "the agent cannot trace " + jvm + ": " + started.text);
}

}  // namespace

Result<TraceSummary> trace_process(const target::Process& process, const TraceOptions& wanted,
                                   const AttachTraceOptions& attach) {
  JTRACE_ASSIGN_OR_RETURN(const target::Jvm jvm, attach::preflight(process));
  JTRACE_RETURN_IF_ERROR(check_age(jvm));
  JTRACE_ASSIGN_OR_RETURN(std::optional<CtlServer> ctl, CtlServer::open_for(process));
  TraceOptions options = wanted;
  options.output = wanted.output_path(process.pid());
  JTRACE_ASSIGN_OR_RETURN(const std::unique_ptr<TraceOutput> output, TraceOutput::open(options.output, options));
  output->set_watcher(attach.watcher);

  const FoundCounters found = find_jvm_counters(process);
  TraceIdentity identity = identify(process, jvm, options);
  identity.vm_begin_time = found.vm_begin_time;
  const ClockAnchor anchor = ClockAnchor::now();
  if (options.ring_memory == TraceOptions().ring_memory)
    options.ring_memory = PoolFile::size_with_room(options.ring_memory);
  JTRACE_ASSIGN_OR_RETURN(
      PoolFile pool,
      PoolFile::create(options.ring_memory, session_text(identity, options, anchor, anchor.monotonic, options.output),
                       process.pid(), process.start_ticks(), folder_of(options.output)));
  JTRACE_ASSIGN_OR_RETURN(auto reader, trace::record::PoolReader::open(pool.memory()));

  const std::chrono::milliseconds timeout(options.timeout / 1'000'000);
  const std::string start = encode_start(options, found.counters);
  JTRACE_ASSIGN_OR_RETURN(GreetedAgent agent, load_agent(process, {timeout, attach.signal_fd, attach.agent_path}));
  const attach::Waiter waiter(process, attach::Clock::now() + timeout, attach.signal_fd);
  const std::uint64_t start_time = monotonic_ns();
  JTRACE_ASSIGN_OR_RETURN(const Started started, start_agent(agent, pool, start, waiter));
  options.events &= started.events;
  finish_load(agent.load, attach::Waiter(process, attach::Clock::now() + std::chrono::seconds(1), attach.signal_fd));

  const auto drain = make_drain(reader, *output, {identity, options, anchor, start_time, options.output});
  std::vector<ControlSource*> controls;
  if (ctl) controls.push_back(&*ctl);
  if (attach.control != nullptr) controls.push_back(attach.control);
  TraceRunner runner(agent.channel, pool, reader, *drain, *output, process,
                     {.signal_fd = attach.signal_fd, .controls = std::move(controls), .progress = attach.progress});
  // From here on the agent is in the JVM and must be detached: if the output fails, the trace ends as usual.
  if (auto begun = drain->begin(start_time); !begun) runner.fail_output(std::move(begun).error());
  else if (attach.started) attach.started(started.text);
  return runner.run();
}

}  // namespace jtrace::session
