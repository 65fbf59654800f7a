#include "perfdata/gc_durations.h"

#include <algorithm>

#include "perfdata/metadata.h"

namespace jtrace::perfdata {

void GcDurations::observe(const Snapshot& snapshot) {
  const VmTraits traits = VmTraits::of(snapshot);
  for (const GcPause& each : tracker_.observe(snapshot)) {
    const double seconds = quantity_value(Quantity::kTicks, each.exit - each.entry, traits);
    Histogram& histogram = histograms_[each.collector];
    const auto bucket = std::lower_bound(kGcDurationBounds.begin(), kGcDurationBounds.end(), seconds);
    ++histogram.counts[static_cast<std::size_t>(bucket - kGcDurationBounds.begin())];
    histogram.sum += seconds;
  }
}

GcDurations::Histogram GcDurations::of(int collector) const {
  const auto found = histograms_.find(collector);
  return found == histograms_.end() ? Histogram() : found->second;
}

}  // namespace jtrace::perfdata
