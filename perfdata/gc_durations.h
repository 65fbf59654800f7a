// GcDurations: how long the pauses of one JVM's collectors took, as a histogram: of the pauses that a series of
// snapshots shows (gc_tracker.h), from the first snapshot on. The others count as missed. Threads: one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "perfdata/gc_tracker.h"

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
  void observe(const Snapshot& snapshot);
  // By N of sun.gc.collector.N.
  Histogram of(int collector) const;
  std::int64_t missed() const { return tracker_.missed(); }

 private:
  GcTracker tracker_;
  std::map<int, Histogram> histograms_;
};

}  // namespace jtrace::perfdata
