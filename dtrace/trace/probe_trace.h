// One trace of a JVM's probes from its head to its end: until the duration, a number of hits, a signal, or the JVM's
// end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dtrace/probe_events.h"
#include "dtrace/probe_source.h"
#include "dtrace/vm_facts.h"
#include "session/document/trace_output.h"
#include "session/options/options.h"

namespace jtrace::dtrace {

struct ProbeTraceOptions {
  std::uint64_t count = 0;                    // stop after so many hits; 0: no such limit
  bool summary = false;                       // ProbeTraceSummary::table is wanted
  VmFacts* facts = nullptr;                   // of a JVM that runs; null: unknown
  bool starts = false;                        // the JVM is about to start: its facts are read once it is up
  bool may_have_carriers = true;              // it may run virtual threads
  bool stacks = false;                        // some sites copy the stack
  std::vector<std::string> unavailable = {};  // limits_of_probes()
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

enum class ProbeEnd { kDuration, kInterrupted, kCount, kTargetEnded, kTargetChanged, kOutput };

// The result of a trace.
struct ProbeTraceSummary {
  ProbeEnd end = ProbeEnd::kOutput;
  std::optional<Error> error;  // of the output or the probes: the trace is not whole
  EventCounts counts;
  std::uint64_t elements = 0;
  std::uint64_t lost = 0;        // hits
  std::uint64_t cut_stacks = 0;  // that could not be followed to their end
  std::uint64_t duration = 0;    // ns
  std::uint64_t taking_out = 0;  // ns that it took to take the probes out
  std::string table;             // hits and durations of all probes
  std::string path;              // of the output, "-" for standard output
  ExitStatus status() const;
};

// `cancel_fd`: a signalfd; a signal ends the trace. The source is detached when this returns. All arguments are
// borrowed.
ProbeTraceSummary run_probe_trace(const target::Process& process, ProbeSource& source,
                                  const std::vector<TracedSite>& sites, session::TraceOutput& output,
                                  const session::TraceOptions& options, const ProbeTraceOptions& more, int cancel_fd);

}  // namespace jtrace::dtrace
