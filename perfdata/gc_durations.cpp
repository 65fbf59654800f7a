#include "perfdata/gc_durations.h"

#include <algorithm>

#include "base/strings.h"
#include "perfdata/gc_causes.h"
#include "perfdata/metadata.h"
#include "perfdata/wrapping.h"

namespace jtrace::perfdata {
namespace {

constexpr std::size_t kMostCauses = 64;  // HotSpot has some thirty; a text in shared memory may be anything

struct Totals {
  std::int64_t count = 0, ticks = 0;
};

// Of the collections that have ended.
std::optional<Totals> totals_of(const Snapshot& snapshot, int collector) {
  const std::string stem = "sun.gc.collector." + std::to_string(collector) + ".";
  const auto count = snapshot.long_value(stem + "invocations"), ticks = snapshot.long_value(stem + "time");
  if (!count || !ticks) return std::nullopt;
  const bool runs = snapshot.long_value(stem + "lastEntryTime") > snapshot.long_value(stem + "lastExitTime");
  return Totals{*count - (runs && *count > 0 ? 1 : 0), *ticks};
}

}  // namespace

void GcDurations::observe(const Snapshot& snapshot) {
  constexpr int kMostCollectors = 3;  // of HotSpot's numbers: 0 to 2
  ticks_per_second_ = VmTraits::of(snapshot).ticks_per_second;
  now_ = snapshot.monotonic_ns;
  if (since_ == 0) since_ = snapshot.realtime_ns;
  const std::vector<GcPause>& pauses = tracker_.observe(snapshot);
  for (const GcPause& each : pauses) {
    const double seconds = static_cast<double>(wrapping_difference(each.exit, each.entry)) / ticks_per_second_;
    Histogram& histogram = collectors_[each.collector].histogram;
    const auto bucket = std::lower_bound(kGcDurationBounds.begin(), kGcDurationBounds.end(), seconds);
    ++histogram.counts[static_cast<std::size_t>(bucket - kGcDurationBounds.begin())];
    histogram.sum += seconds;
  }
  if (counts_phases(snapshot)) return;
  for (int i = 0; i < kMostCollectors; ++i)
    if (totals_of(snapshot, i)) count(collectors_[i], i, snapshot, pauses);
}

// What the counters have grown by belongs to the one pause that was seen. The time is added a moment after the end.
void GcDurations::count(Collector& collector, int index, const Snapshot& snapshot, const std::vector<GcPause>& pauses) {
  const Totals totals = totals_of(snapshot, index).value_or(Totals());
  const std::int64_t more = wrapping_difference(totals.count, collector.count);
  if (more < 0) return;  // a sample between two writes: seen right at the next look
  const auto seen =
      std::find_if(pauses.begin(), pauses.end(), [&](const auto& each) { return each.collector == index; });
  const std::string cause = more == 1 && seen != pauses.end() ? utf8_from_modified(seen->cause) : "";
  const bool known = !cause.empty() &&
                     (collector.causes.size() < kMostCauses || collector.causes.find(cause) != collector.causes.end());
  if (more != 0) collector.last_cause = known ? cause : kUnknown;
  Counted& counted = collector.causes[collector.last_cause];
  counted.count = wrapping_sum(counted.count, more);
  counted.ticks = wrapping_sum(counted.ticks, wrapping_difference(totals.ticks, collector.ticks));
  if (known)
    counted.longest.add(static_cast<double>(wrapping_difference(seen->exit, seen->entry)) / ticks_per_second_, now_);
  collector.count = totals.count;
  collector.ticks = totals.ticks;
}

GcDurations::Histogram GcDurations::of(int collector) const {
  const auto found = collectors_.find(collector);
  return found == collectors_.end() ? Histogram() : found->second.histogram;
}

std::vector<GcDurations::OfCause> GcDurations::by_cause(int collector) const {
  std::vector<OfCause> causes;
  const auto found = collectors_.find(collector);
  if (found == collectors_.end()) return causes;
  for (const auto& [cause, counted] : found->second.causes) {
    OfCause& each = causes.emplace_back(
        OfCause{cause, counted.count, static_cast<double>(counted.ticks) / ticks_per_second_, std::nullopt});
    if (cause != kUnknown) each.longest = counted.longest.at(now_);
  }
  return causes;
}

}  // namespace jtrace::perfdata
