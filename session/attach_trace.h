// trace_process: one trace of a running JVM by attach, from preflight to detach.
//
// Everything that can fail without the JVM is done before the JVM is touched: options, preflight, the lock against a
// second trace, opening the output, allocating the ring memory. Errors name the step. Threads: one.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "session/options/options.h"
#include "session/trace_runner.h"
#include "target/process.h"

namespace jtrace::session {

struct AttachTraceOptions {
  int signal_fd = -1;      // a signalfd: ends the attach or the trace
  std::string agent_path;  // another agent than the embedded one; "": embedded
  // Called when the agent traces. `left_out`: what it cannot trace in this JVM, and why ("": it can trace all).
  std::function<void(const std::string& left_out)> started;
  std::function<void(const Progress&)> progress;  // about once a second
  ControlSource* control = nullptr;               // borrowed; in addition to `jtrace ctl`
  trace::EventSink* watcher = nullptr;            // borrowed; sees the events of the document; not of a spill
};

Result<TraceSummary> trace_process(const target::Process& process, const TraceOptions& options,
                                   const AttachTraceOptions& attach);

}  // namespace jtrace::session
