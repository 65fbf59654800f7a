// The state of a JVM as events of trace.dtd: one trace with `option key="jtrace.kind" value="snapshot"`.
//
// Definitions come before their first use. Ids are small numbers in the order of appearance; threads have ids of their
// own. Nothing is printed; the sink is borrowed and not finished. Threads: one at a time. Errors: those of the sink,
// and of reading if nothing at all can be read.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "coreinspect/tools/snapshot_parts.h"
#include "coreinspect/tools/thread_snapshot.h"
#include "trace/event_sink.h"
#include "trace/trace_document.h"

namespace jtrace::coreinspect {

// The producer of the snapshot; the agent is `jtrace inspect`.
struct SnapshotIdentity : trace::ProducerIdentity {
  std::uint64_t time = 0;  // of the snapshot, ns since the epoch
};
// For a core, which knows neither its host nor its boot: made from libjvm's build id, the inner pid and
// createVmBeginTime. For a live process the caller has more facts (session/document/trace_identity.h). In both, `time`
// is that of the snapshot.
SnapshotIdentity identify_target(const Inspection& inspection);
// "pid=...,createVmBeginTime=...", "" without counters.
std::string vm_key(const Inspection& inspection);

// One producer with one or more snapshots: begin(), for each snapshot start_trace(), write, end_trace(), then end().
class SnapshotEvents {
 public:
  // `several`: more than one trace, so that every element refers to its own. `identity` and `options` are copied.
  SnapshotEvents(Inspection& inspection, trace::EventSink& sink, SnapshotIdentity identity, ViewOptions options,
                 bool several = false);
  ~SnapshotEvents();
  Result<> begin();
  Result<> start_trace(std::uint64_t time);  // ns since the epoch
  Result<> write(const SnapshotParts& parts);
  Result<> write_threads(const ThreadSnapshot& snapshot, bool frames, bool waits);
  Result<> end_trace(std::uint64_t time);
  // `time`: ns since the epoch; 0: that of the last trace.
  Result<> end(std::uint64_t time = 0);
  // What could not be read, in all traces; one line each.
  const std::vector<std::string>& missing() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// All steps: one trace at identity.time. Returns what was missing.
Result<std::vector<std::string>> write_snapshot_events(Inspection& inspection, trace::EventSink& sink,
                                                       const SnapshotIdentity& identity, const SnapshotParts& parts,
                                                       const ViewOptions& options);

}  // namespace jtrace::coreinspect
