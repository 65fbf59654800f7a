// From a JVM and the user's words to a trace of its probes: chooses them, switches flags on if asked to, opens output
// and back end, traces. One thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/log.h"
#include "dtrace/trace/probe_trace.h"

namespace jtrace::dtrace {

struct ProbeRequest {
  std::vector<std::string> probes;  // names, patterns, providers; none: choose_probes() has some
  session::TraceOptions options;
  BackEnd back_end = BackEnd::kAutomatic;
  std::uint64_t count = 0;  // stop after so many hits; 0: no such limit
  bool summary = false;
  bool enable_flags = false;  // of a JVM that runs
  bool count_methods = false;
  bool stacks = false;
  // Called once, when there is something to be ended: a signalfd (run_probe_trace()). A JVM that is started is there
  // by then, and does not inherit that the signals are blocked.
  std::function<int()> begin_cancel;
  // What the user should know meanwhile, a line each.
  std::function<void(LogLevel, const std::string&)> report;
};

// Errors: what kept the trace from beginning. Later ones are in the summary.
Result<ProbeTraceSummary> trace_running(const target::Process& process, const ProbeRequest& request);
// Starts `command`, a java launcher and its words; its probes are set before its first instruction. `pid`: is set once
// it is known.
Result<ProbeTraceSummary> trace_launched(const std::vector<std::string>& command, const ProbeRequest& request,
                                         pid_t& pid);

}  // namespace jtrace::dtrace
