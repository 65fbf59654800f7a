#include "perfdata/derived.h"

#include <algorithm>
#include <string>

#include "perfdata/gc_causes.h"
#include "perfdata/heap_size.h"
#include "perfdata/metadata.h"

namespace jtrace::perfdata {
namespace {

using Value = std::optional<double>;

Value raw(const Snapshot& snapshot, std::string_view name) {
  const auto value = snapshot.long_value(name);
  return value ? Value(static_cast<double>(*value)) : std::nullopt;
}

Value ratio(Value part, Value whole) { return part && whole && *whole > 0 ? Value(*part / *whole) : std::nullopt; }

Value sum(std::initializer_list<Value> values) {
  Value total;
  for (const Value& value : values)
    if (value) total = total.value_or(0) + *value;
  return total;
}

// Combines all counters whose name starts and ends in this way.
Value sum_of(const Snapshot& snapshot, std::string_view prefix, std::string_view suffix) {
  Value total;
  for (const Counter& counter : snapshot.layout().counters())
    if (counter.kind == ValueKind::kLong && counter.name.starts_with(prefix) && counter.name.ends_with(suffix))
      total = total.value_or(0) + static_cast<double>(snapshot.long_value(counter));
  return total;
}

Value seconds(const Snapshot& snapshot, Value ticks) {
  return ticks ? Value(*ticks / VmTraits::of(snapshot).ticks_per_second) : std::nullopt;
}

#define EDEN "sun.gc.generation.0.space.0."
#define SURVIVOR0 "sun.gc.generation.0.space.1."
#define SURVIVOR1 "sun.gc.generation.0.space.2."
#define OLD "sun.gc.generation.1.space.0."

Value survivors_used(const Snapshot& s) { return sum({raw(s, SURVIVOR0 "used"), raw(s, SURVIVOR1 "used")}); }
Value survivors_capacity(const Snapshot& s) {
  return sum({space_capacity(s, SURVIVOR0 "capacity"), space_capacity(s, SURVIVOR1 "capacity")});
}

Value heap_used(const Snapshot& s) { return sum_of(s, "sun.gc.generation.", ".used"); }

Value of_collectors(const Snapshot& s, std::string_view suffix) {
  return counts_phases(s) ? std::nullopt : sum_of(s, "sun.gc.collector.", suffix);
}
Value gc_time(const Snapshot& s) { return seconds(s, of_collectors(s, ".time")); }
Value gc_count(const Snapshot& s) { return of_collectors(s, ".invocations"); }
Value full_count(const Snapshot& s) {
  return counts_phases(s) ? std::nullopt : raw(s, "sun.gc.collector.1.invocations");
}
Value safepoint_time(const Snapshot& s) { return seconds(s, raw(s, "sun.rt.safepointTime")); }
Value uptime(const Snapshot& s) {
  const Value begin = raw(s, "sun.rt.createVmBeginTime");
  return begin ? Value(static_cast<double>(s.realtime_ns) / 1e9 - *begin / 1e3) : std::nullopt;
}
Value loaded(const Snapshot& s) {
  return sum({raw(s, "java.cls.loadedClasses"), raw(s, "java.cls.sharedLoadedClasses")});
}

using Now = Value (*)(const Snapshot&);
struct Definition {
  DerivedName name;
  Now now;  // values of one snapshot, or changes between two, depending on the derived value
};

Value counter_of(const Snapshot& s, const char* name) { return raw(s, name); }
#define COUNTER(name) [](const Snapshot& s) { return counter_of(s, name); }
#define CAPACITY(name) [](const Snapshot& s) { return space_capacity(s, name); }
#define SHARE(part, whole) [](const Snapshot& s) { return ratio(raw(s, part), space_capacity(s, whole)); }

const std::vector<Definition>& definitions() {
  static const std::vector<Definition> all = {
      {{"uptime", "seconds", false, false, "since the JVM began"}, uptime},
      {{"heap.used", "bytes", false, false, "all spaces"}, heap_used},
      {{"heap.capacity", "bytes", false, true, "all spaces"},
       [](const Snapshot& s) {
         return sum({space_capacity(s, EDEN "capacity"), survivors_capacity(s), space_capacity(s, OLD "capacity")});
       }},
      {{"heap.max", "bytes", false, false, "limit of the heap, as MemoryMXBean reports it"}, heap_max},
      {{"heap.share", "share", false, false, "heap.used of heap.max"},
       [](const Snapshot& s) { return ratio(heap_used(s), heap_max(s)); }},
      {{"eden.used", "bytes", false, false, "eden space"}, COUNTER(EDEN "used")},
      {{"eden.capacity", "bytes", false, true, "eden space"}, CAPACITY(EDEN "capacity")},
      {{"eden.share", "share", false, false, "eden.used of eden.capacity"}, SHARE(EDEN "used", EDEN "capacity")},
      {{"survivor.used", "bytes", false, true, "both survivor spaces"}, survivors_used},
      {{"survivor.capacity", "bytes", false, true, "both survivor spaces"}, survivors_capacity},
      {{"old.used", "bytes", false, true, "old space"}, COUNTER(OLD "used")},
      {{"old.capacity", "bytes", false, true, "old space"}, CAPACITY(OLD "capacity")},
      {{"old.max", "bytes", false, false, "limit of the old space"}, CAPACITY(OLD "maxCapacity")},
      {{"old.share", "share", false, true, "old.used of old.max"}, SHARE(OLD "used", OLD "maxCapacity")},
      {{"metaspace.used", "bytes", false, true, "metaspace"}, COUNTER("sun.gc.metaspace.used")},
      {{"metaspace.capacity", "bytes", false, true, "metaspace"}, COUNTER("sun.gc.metaspace.capacity")},
      {{"classspace.used", "bytes", false, true, "compressed class space"},
       COUNTER("sun.gc.compressedclassspace.used")},
      {{"gc.count", "", false, false, "pauses of all collectors"}, gc_count},
      {{"gc.time", "seconds", false, false, "in pauses of all collectors"}, gc_time},
      {{"gc.rate", "per second", true, false, "pauses a second"}, gc_count},
      {{"gc.pause_share", "share", true, false, "of the time, in pauses"}, gc_time},
      {{"full.count", "", false, false, "pauses of the full collector"}, full_count},
      {{"safepoint.time", "seconds", false, false, "at safepoints"}, safepoint_time},
      {{"safepoint.share", "share", true, false, "of the time, at safepoints"}, safepoint_time},
      {{"threads.live", "", false, false, "Java threads"}, COUNTER("java.threads.live")},
      {{"threads.peak", "", false, false, "most Java threads at a time"}, COUNTER("java.threads.livePeak")},
      {{"threads.daemon", "", false, false, "daemon threads"}, COUNTER("java.threads.daemon")},
      {{"threads.rate", "per second", true, false, "threads started a second"}, COUNTER("java.threads.started")},
      {{"classes.loaded", "", false, false, "ever, shared ones included"}, loaded},
      {{"classes.unloaded", "", false, false, "ever"},
       [](const Snapshot& s) {
         return sum({raw(s, "java.cls.unloadedClasses"), raw(s, "java.cls.sharedUnloadedClasses")});
       }},
      {{"classes.rate", "per second", true, false, "classes loaded a second"}, loaded},
      {{"compile.count", "", false, false, "compilations"}, COUNTER("sun.ci.totalCompiles")},
      {{"compile.rate", "per second", true, false, "compilations a second"}, COUNTER("sun.ci.totalCompiles")},
  };
  return all;
}

#undef EDEN
#undef SURVIVOR0
#undef SURVIVOR1
#undef OLD
#undef COUNTER
#undef CAPACITY
#undef SHARE

}  // namespace

const std::vector<DerivedName>& derived_names() {
  static const std::vector<DerivedName> names = [] {
    std::vector<DerivedName> list;
    for (const Definition& definition : definitions()) list.push_back(definition.name);
    return list;
  }();
  return names;
}

const DerivedName* find_derived(std::string_view name) {
  const auto& names = derived_names();
  const auto found = std::find_if(names.begin(), names.end(), [&](const DerivedName& d) { return d.name == name; });
  return found == names.end() ? nullptr : &*found;
}

std::optional<double> derived_value(std::string_view name, const Snapshot& now, const Snapshot* before) {
  for (const Definition& definition : definitions()) {
    if (definition.name.name != name) continue;
    const Value value = definition.now(now);
    if (!definition.name.needs_two || !value) return value;
    if (before == nullptr || now.monotonic_ns <= before->monotonic_ns) return std::nullopt;
    const Value earlier = definition.now(*before);
    if (!earlier) return std::nullopt;
    return (*value - *earlier) / (static_cast<double>(now.monotonic_ns - before->monotonic_ns) / 1e9);
  }
  return std::nullopt;
}

bool has_derived(std::string_view name, const Snapshot& snapshot) {
  for (const Definition& definition : definitions())
    if (definition.name.name == name && definition.now(snapshot)) return true;
  if (!name.ends_with(".share")) return false;
  const std::string space(name.substr(0, name.find('.')));
  const std::string whole = find_derived(space + ".max") ? space + ".max" : space + ".capacity";
  return derived_value(space + ".used", snapshot, nullptr) && derived_value(whole, snapshot, nullptr);
}

std::optional<double> counter_value(std::string_view name, const Snapshot& snapshot) {
  const Counter* counter = snapshot.layout().find(name);
  if (counter == nullptr || counter->kind != ValueKind::kLong) return std::nullopt;
  const VmTraits traits = VmTraits::of(snapshot);
  return quantity_value(describe(*counter, traits).quantity, snapshot.long_value(*counter), traits);
}

}  // namespace jtrace::perfdata
