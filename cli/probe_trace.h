// One trace of a JVM's probes from its head to its end: until the duration, a number of hits, a signal, or the JVM's
// end.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/command.h"
#include "dtrace/probe_source.h"
#include "dtrace/vm_facts.h"
#include "session/document/trace_output.h"
#include "session/options/options.h"

namespace jtrace::cli {

struct ProbeTraceOptions {
  std::uint64_t count = 0;  // ends after so many hits; 0: no such limit
  bool summary = false;     // a table of all probes at the end, on stdout or, where the trace is there, on stderr
  dtrace::VmFacts* facts = nullptr;  // of a JVM that runs; null: unknown
  bool starts = false;               // the JVM is about to start: its facts are read once it is up
  bool has_carriers = true;          // it may run virtual threads
  bool stacks = false;               // some sites copy the stack
};

// `cancel_fd`: a signalfd; a signal ends the trace. The source
// is detached when this returns. All arguments are borrowed.
Result<ExitStatus> run_probe_trace(const target::Process& process, dtrace::ProbeSource& source,
                                   const std::vector<dtrace::TracedSite>& sites, session::TraceOutput& output,
                                   const session::TraceOptions& options, const ProbeTraceOptions& more, int cancel_fd);

}  // namespace jtrace::cli
