// GcDurations: how long the pauses of one JVM's collectors took: as a histogram, and by their causes; of the pauses
// that a series of snapshots shows (gc_tracker.h), from the first snapshot on. The others count as missed. Threads: one
// at a time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "perfdata/gc_tracker.h"
#include "perfdata/recent_longest.h"

namespace jtrace::perfdata {

// Upper ends of the buckets in seconds, as OpenTelemetry advises them for jvm.gc.duration; one more bucket has the
// rest.
inline constexpr std::array<double, 4> kGcDurationBounds = {0.01, 0.1, 1, 10};

class GcDurations {
 public:
  struct Histogram {
    std::array<std::int64_t, kGcDurationBounds.size() + 1> counts{};  // of each bucket alone
    double sum = 0;                                                   // seconds
  };
  // All causes together are the collector's counters at the last snapshot: what was before the first one, and what was
  // missed, has kUnknown. None falls from one snapshot to the next.
  static constexpr const char* kUnknown = "unknown";
  struct OfCause {
    std::string cause;
    std::int64_t count = 0;
    double seconds = 0;
    std::optional<double> longest;  // seconds, of the last minutes; nothing if it is not known
  };

  void observe(const Snapshot& snapshot);
  // By N of sun.gc.collector.N.
  Histogram of(int collector) const;
  std::vector<OfCause> by_cause(int collector) const;
  std::int64_t missed(int collector) const { return tracker_.missed(collector); }
  std::uint64_t since() const { return since_; }  // realtime_ns of the first snapshot

 private:
  struct Counted {
    std::int64_t count = 0, ticks = 0;
    RecentLongest longest;
  };
  struct Collector {
    Histogram histogram;
    std::int64_t count = 0, ticks = 0;  // of the last snapshot
    std::string last_cause = kUnknown;
    std::map<std::string, Counted> causes;
  };
  void count(Collector& collector, int index, const Snapshot& snapshot, const std::vector<GcPause>& pauses);

  GcTracker tracker_;
  std::map<int, Collector> collectors_;
  double ticks_per_second_ = 1e9;
  std::uint64_t since_ = 0, now_ = 0;  // realtime_ns, monotonic_ns
};

}  // namespace jtrace::perfdata
