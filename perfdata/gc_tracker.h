// GcTracker: the collections that a series of snapshots shows, with start and end in ticks, and the exact number of
// those that began and ended between two snapshots.
//
// HotSpot's TraceCollectorStats (gc/shared/collectorCounters.cpp) increments invocations and sets lastEntryTime at the
// start of a pause, lastExitTime at its end; a snapshot shows only the last pause of each collector.
//
// Of Shenandoah it finds nothing (counts_phases() of gc_causes.h). If a pause begins before the exit time of another
// one of its collector is set, the other counts as missed. A sample may also be inconsistent: an entry time with an
// older number. Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perfdata/snapshot.h"

namespace jtrace::perfdata {

struct GcPause {
  int collector = 0;           // N of sun.gc.collector.N
  std::int64_t number = 0;     // its invocations counter after this pause
  std::int64_t entry = 0;      // ticks
  std::int64_t exit = 0;       // ticks
  std::string_view kind = {};  // collection_kind(); "": not known
  std::string cause = {};      // "": not known; of several pauses between two looks, only the last one's is
};

class GcTracker {
 public:
  // Pauses that ended since the last call (none in the first call), ordered by their start.
  const std::vector<GcPause>& observe(const Snapshot& snapshot);
  // Pauses of which only the number is known: in the last call, and in all calls.
  std::int64_t newly_missed() const { return newly_missed_; }
  std::int64_t missed() const { return missed_; }
  std::int64_t missed(int collector) const;  // in all calls
  std::int64_t seen() const { return seen_; }

 private:
  struct Collector {
    int index = 0;
    const Counter* invocations = nullptr;
    const Counter* entry = nullptr;
    const Counter* exit = nullptr;
    bool started = false;         // there was a first sample
    std::int64_t completed = 0;   // number of the last pause that has ended
    std::int64_t last_entry = 0;  // of that pause
    std::int64_t last_exit = 0;
    std::int64_t running = 0;  // number of the running pause (0: none), and its start
    std::int64_t running_entry = 0;
    std::int64_t missed = 0;
  };
  void resolve(const Snapshot& snapshot);
  void name_pauses(const Snapshot& snapshot);
  void observe(Collector& collector, const Snapshot& snapshot);
  void miss(Collector& collector, std::int64_t pauses);
  void report(Collector& collector, std::int64_t number, std::int64_t entry, std::int64_t exit);

  std::shared_ptr<const Layout> layout_;
  std::vector<Collector> collectors_;
  std::vector<GcPause> found_;
  std::string cause_;  // sun.gc.cause in the last look
  std::int64_t newly_missed_ = 0, missed_ = 0, seen_ = 0;
};

}  // namespace jtrace::perfdata
