// Snapshots as events of trace.dtd: each is a trace of its own (traceStart, a `value` for each counter, traceEnd), so
// that its time is in typed attributes and brackets the read; a series is a run of such traces of one agent, of
// which the first has every counter and the others what changed. Pauses of the collector, rebuilt from the counters,
// are in one more trace of the same agent.
//
// node, processCreate and agentCreate come before: they are the caller's, who knows the process.
// The sink is borrowed. Threads: one at a time. Errors: those of the sink.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "perfdata/counter_table.h"
#include "perfdata/gc_tracker.h"
#include "perfdata/snapshot.h"
#include "perfdata/tick_clock.h"
#include "trace/event_sink.h"
#include "trace/trace_document.h"

namespace jtrace::perfdata {

struct SeriesOptions {
  std::string agent_id;
  std::string source;  // option hsperf.source, for example "file:/tmp/hsperfdata_root/4711"
  std::string vm;      // option jtrace.vm ("pid=1,createVmBeginTime=..."); "" where unknown
  std::vector<std::pair<std::string, std::string>> options;  // further ones, of the first sample
  bool full = false;                                         // every counter in every sample
  bool show_secrets = false;
  NameFilter filter = {};
};

class SampleWriter {
 public:
  SampleWriter(trace::EventSink& sink, SeriesOptions options) : document_(sink), options_(std::move(options)) {
    document_.continue_producer(options_.agent_id);
  }

  // One trace. Values that did not change since the last call are left out, unless options.full.
  Result<> write(const Snapshot& snapshot);
  // agentDestroy, after the last trace. `time`: wall, ns. A sample that could not be written whole is ended as one that
  // is not stable.
  Result<> end(std::uint64_t time);
  std::uint64_t samples() const { return samples_; }

 private:
  Result<> write_options(const Snapshot& snapshot);
  Result<> write_values(const Snapshot& snapshot);
  Result<> write_value(const Snapshot& snapshot, const Counter& counter, bool first_time);
  bool changed(const Snapshot& snapshot, std::size_t index) const;

  trace::TraceDocument document_;
  SeriesOptions options_;
  std::unique_ptr<CounterTable> table_;  // of the layout, for the true units
  std::vector<const Row*> rows_;         // by the counters' order; null: filtered out
  Snapshot previous_;
  std::size_t known_ = 0;  // counters that were written before: entries are never removed, new ones come at the end
  std::uint64_t samples_ = 0;
  bool in_sample_ = false;
  std::string prologue_;
};

class PauseWriter {
 public:
  // `begin_ns`: wall time of traceStart.
  PauseWriter(trace::EventSink& sink, std::string agent_id) : document_(sink) {
    document_.continue_producer(std::move(agent_id));
  }

  // Wall times in ns. The trace begins with begin() and ends with end().
  Result<> begin(std::uint64_t time);
  // What `tracker` has found in `snapshot`, and how many it has missed. Pauses that overlap are one.
  Result<> write(const std::vector<GcPause>& pauses, std::int64_t missed, const Snapshot& snapshot,
                 const TickClock& clock, const ClockAnchor& anchor);
  Result<> runtime_shutdown(std::uint64_t time);
  // From this time on there is no room for samples and pauses (jtrace.gap).
  Result<> cut(std::uint64_t time);
  Result<> end(std::uint64_t time);
  std::uint64_t pauses() const { return pauses_; }

 private:
  Result<> set_zero(std::uint64_t zero, std::int64_t next_entry, const TickClock& clock);

  trace::TraceDocument document_;
  std::uint64_t pauses_ = 0;
  std::uint64_t last_time_ = 0;
  std::uint64_t last_pause_end_ = 0;
  std::int64_t last_exit_ = INT64_MIN;  // ticks
  std::uint64_t zero_ = 0;              // wall time of tick 0, as written last
};

// Sums over the spaces of all generations, in bytes: what gcFinish says of the heap.
struct HeapUse {
  std::uint64_t used = 0;
  std::uint64_t capacity = 0;
};
HeapUse heap_use(const Snapshot& snapshot);

// Tick 0 on CLOCK_MONOTONIC by createVmBeginTime: to some ms, less after the wall clock was set.
TickClock first_tick_clock(const Snapshot& snapshot, const ClockAnchor& anchor);

}  // namespace jtrace::perfdata
