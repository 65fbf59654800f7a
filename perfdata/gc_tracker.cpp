#include "perfdata/gc_tracker.h"

#include <algorithm>
#include <string>

#include "base/strings.h"
#include "perfdata/gc_causes.h"
#include "perfdata/wrapping.h"

namespace jtrace::perfdata {

// Collectors' numbers have gaps (ZGC: 0 and 2), so they are found by name.
void GcTracker::resolve(const Snapshot& snapshot) {
  if (layout_ == snapshot.shared_layout()) return;
  layout_ = snapshot.shared_layout();
  std::vector<Collector> before = std::move(collectors_);
  collectors_.clear();
  if (counts_phases(snapshot)) return;
  constexpr std::string_view kPrefix = "sun.gc.collector.", kSuffix = ".invocations";
  for (const Counter& counter : layout_->counters()) {
    if (!counter.name.starts_with(kPrefix) || !counter.name.ends_with(kSuffix)) continue;
    if (counter.name.size() <= kPrefix.size() + kSuffix.size()) continue;
    const std::string_view number =
        counter.name.substr(kPrefix.size(), counter.name.size() - kPrefix.size() - kSuffix.size());
    const auto index = parse_decimal<int>(number);
    if (!index) continue;
    const std::string stem = std::string(kPrefix) + std::string(number);
    Collector collector;
    const auto known = std::find_if(before.begin(), before.end(), [&](const auto& c) { return c.index == *index; });
    if (known != before.end()) collector = *known;
    collector.index = *index;
    collector.invocations = &counter;
    collector.entry = layout_->find(stem + ".lastEntryTime");
    collector.exit = layout_->find(stem + ".lastExitTime");
    if (collector.entry && collector.exit) collectors_.push_back(collector);
  }
}

const std::vector<GcPause>& GcTracker::observe(const Snapshot& snapshot) {
  resolve(snapshot);
  found_.clear();
  newly_missed_ = 0;
  for (Collector& collector : collectors_) observe(collector, snapshot);
  std::sort(found_.begin(), found_.end(), [](const GcPause& a, const GcPause& b) { return a.entry < b.entry; });
  name_pauses(snapshot);
  seen_ += static_cast<std::int64_t>(found_.size());
  missed_ = wrapping_sum(missed_, newly_missed_);
  return found_;
}

// The last one has a cause; with G1, whose phases do not change the last cause, the last other one too.
void GcTracker::name_pauses(const Snapshot& snapshot) {
  for (GcPause& pause : found_) pause.kind = collection_kind(snapshot, pause.collector);
  const auto name_last = [&](bool phases_too) {
    GcPause* last = nullptr;
    for (GcPause& pause : found_)
      if ((phases_too || pause.kind != "concurrent") && (last == nullptr || pause.exit > last->exit)) last = &pause;
    if (last == nullptr) return;
    last->cause = cause_of_last(snapshot, last->kind, cause_);
    if (last->cause.starts_with("CMS ")) last->kind = "concurrent";  // JDK 8 counts its phases as full
  };
  name_last(true);
  if (snapshot.text_value("sun.gc.policy.name") == "GarbageFirst") name_last(false);
  cause_ = snapshot.text_value("sun.gc.cause").value_or("");
}

void GcTracker::observe(Collector& collector, const Snapshot& snapshot) {
  const std::int64_t invocations = snapshot.long_value(*collector.invocations);
  const std::int64_t entry = snapshot.long_value(*collector.entry);
  const std::int64_t exit = snapshot.long_value(*collector.exit);
  // invocations is raised before lastEntryTime is set: the times are still those of the previous pause.
  const bool times_are_old = collector.started && invocations > collector.completed && entry == collector.last_entry &&
                             exit == collector.last_exit;
  const bool runs = invocations > 0 && (entry > exit || times_are_old);
  const std::int64_t completed = runs ? invocations - 1 : invocations;
  if (!collector.started) {
    collector.started = true;
    collector.completed = completed;
    if (!runs) collector.last_entry = entry;
    collector.last_exit = exit;
  } else if (completed > collector.completed) {
    miss(collector, wrapping_difference(wrapping_difference(completed, collector.completed), 1));
    if (!runs) report(collector, completed, entry, exit);
    else if (collector.running == completed && collector.running_entry <= exit)
      report(collector, completed, collector.running_entry, exit);
    else
      miss(collector, 1);  // its start is not known; or, where the exit is older than it, its end: one began within it
    collector.completed = completed;
    collector.last_entry = runs ? collector.running_entry : entry;
    collector.last_exit = exit;
  }
  if (runs && !times_are_old) {
    collector.running = invocations;
    collector.running_entry = entry;
  }
}

void GcTracker::miss(Collector& collector, std::int64_t pauses) {
  collector.missed = wrapping_sum(collector.missed, pauses);
  newly_missed_ = wrapping_sum(newly_missed_, pauses);
}

std::int64_t GcTracker::missed(int collector) const {
  const auto found =
      std::find_if(collectors_.begin(), collectors_.end(), [&](const Collector& c) { return c.index == collector; });
  return found == collectors_.end() ? 0 : found->missed;
}

void GcTracker::report(Collector& collector, std::int64_t number, std::int64_t entry, std::int64_t exit) {
  found_.push_back({.collector = collector.index, .number = number, .entry = entry, .exit = exit});
}

}  // namespace jtrace::perfdata
