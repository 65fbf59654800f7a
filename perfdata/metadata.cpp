#include "perfdata/metadata.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "base/strings.h"

namespace jtrace::perfdata {
namespace {

// Counters whose declared unit is wrong. A name that ends in '*' matches all names that start so. The first match
// counts; the order is otherwise free.
struct Correction {
  std::string_view name;
  Quantity quantity;
};
constexpr Correction kCorrections[] = {
    // compileBroker.cpp (compilation_init): the number of compiler threads, declared as bytes.
    {"sun.ci.threads", Quantity::kNone},
    // classLoader.cpp: a count, created by NEWPERFTICKCOUNTER.
    {"sun.cls.defineAppClasses", Quantity::kEvents},
    // management.cpp / threads.cpp: os::javaTimeMillis(), declared without unit.
    {"sun.rt.createVmBeginTime", Quantity::kEpochMillis},
    {"sun.rt.createVmEndTime", Quantity::kEpochMillis},
    {"sun.rt.vmInitDoneTime", Quantity::kEpochMillis},
    // cpuTimeCounters.cpp (JDK 22 and later): os::thread_cpu_time, ns, whatever the tick is.
    {"sun.threads.cpu_time.*", Quantity::kCpuTime},
    {"sun.threads.total_gc_cpu_time", Quantity::kCpuTime},
    // gcAdaptivePolicyCounters.hpp, psGCAdaptivePolicyCounters.hpp: averages of seconds times 1000; costs times 100.
    {"sun.gc.policy.avgMajorIntervalTime", Quantity::kMillis},
    {"sun.gc.policy.avgMajorPauseTime", Quantity::kMillis},
    {"sun.gc.policy.avgMinorIntervalTime", Quantity::kMillis},
    {"sun.gc.policy.avgMinorPauseTime", Quantity::kMillis},
    {"sun.gc.policy.minorPauseTime", Quantity::kMillis},
    {"sun.gc.policy.majorGcCost", Quantity::kPercent},
    {"sun.gc.policy.minorGcCost", Quantity::kPercent},
    {"sun.gc.policy.mutatorCost", Quantity::kPercent},
    // psGCAdaptivePolicyCounters.hpp: the number of a reason, declared as bytes.
    {"sun.gc.policy.fullFollowsScavenge", Quantity::kNone},
    {"sun.gc.policy.scavengeSkipped", Quantity::kNone},
    // threadLocalAllocBuffer.cpp (ThreadLocalAllocStats::publish): sizes in heap words, declared as bytes.
    {"sun.gc.tlab.alloc", Quantity::kWords},
    {"sun.gc.tlab.gcWaste", Quantity::kWords},
    {"sun.gc.tlab.maxGcWaste", Quantity::kWords},
    {"sun.gc.tlab.refillWaste", Quantity::kWords},
    {"sun.gc.tlab.maxRefillWaste", Quantity::kWords},
    {"sun.gc.tlab.slowWaste", Quantity::kWords},
    {"sun.gc.tlab.fastWaste", Quantity::kWords},
    {"sun.gc.tlab.maxSlowWaste", Quantity::kWords},
    {"sun.gc.tlab.maxFastWaste", Quantity::kWords},
};

bool matches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

Quantity declared_quantity(const Counter& counter) {
  if (counter.kind != ValueKind::kLong) return Quantity::kText;
  switch (static_cast<Units>(counter.units)) {
    case Units::kBytes: return Quantity::kBytes;
    case Units::kTicks: return Quantity::kTicks;
    case Units::kEvents: return Quantity::kEvents;
    case Units::kHertz: return Quantity::kHertz;
    default: return Quantity::kNone;
  }
}

bool is_survivor(std::string_view name) {
  return name.starts_with("sun.gc.generation.0.space.") && !name.starts_with("sun.gc.generation.0.space.0.");
}
bool is_size_of_space(std::string_view name) {
  return name.starts_with("sun.gc.generation.") && (name.ends_with(".used") || name.ends_with(".capacity"));
}

// The collector writes the counters of spaces, policy, TLABs and metaspace at the end of a collection
// (CollectedHeap::update_counters, MetaspaceCounters::update_performance_counters). G1 calculates the sizes of all
// spaces anew for each region of eden (G1MonitoringSupport::update_eden_size), Shenandoah all the time.
Freshness freshness_of(const Counter& counter, const VmTraits& traits) {
  if (counter.variability == static_cast<std::uint8_t>(Variability::kConstant)) return Freshness::kConstant;
  const std::string_view name = counter.name;
  if (name == "sun.os.hrt.ticks") return Freshness::kSampled;
  if (name.starts_with("sun.threads.cpu_time.gc") || name == "sun.threads.total_gc_cpu_time") return Freshness::kGc;
  if (!name.starts_with("sun.gc.")) return Freshness::kLive;
  if (name == "sun.gc.cause" || name == "sun.gc.lastCause" || name.starts_with("sun.gc.collector."))
    return Freshness::kLive;
  if (traits.spaces_move && is_size_of_space(name) && !is_survivor(name)) return Freshness::kLive;
  if (name != "sun.gc.generation.0.space.0.used" || traits.eden_only_at_gc) return Freshness::kGc;
  return traits.has_sampler ? Freshness::kSampled : Freshness::kLive;
}

}  // namespace

std::string_view quantity_unit(Quantity quantity) {
  switch (quantity) {
    case Quantity::kNone: return "";
    case Quantity::kEvents: return "events";
    case Quantity::kBytes:
    case Quantity::kWords: return "bytes";
    case Quantity::kTicks:
    case Quantity::kCpuTime:
    case Quantity::kMillis:
    case Quantity::kEpochMillis: return "seconds";
    case Quantity::kPercent: return "percent";
    case Quantity::kHertz: return "hertz";
    case Quantity::kText: return "text";
  }
  return "";
}

std::string_view freshness_name(Freshness freshness) {
  static constexpr std::string_view kNames[] = {"constant", "live", "sampled", "gc"};
  return kNames[static_cast<std::size_t>(freshness)];
}

VmTraits VmTraits::of(const Snapshot& snapshot) {
  VmTraits traits;
  traits.has_sampler = snapshot.layout().find("sun.os.hrt.ticks") != nullptr;
  const auto frequency = snapshot.long_value("sun.os.hrt.frequency");
  if (frequency && *frequency > 0) traits.ticks_per_second = static_cast<double>(*frequency);
  // sun.gc.collector.0.name: "Copy", "PCopy" (8: Serial, CMS), "Serial young...", "PSScavenge", "Parallel young...".
  const std::string_view collector = snapshot.text_value("sun.gc.collector.0.name").value_or("");
  // ZGC of one generation has only the third, Epsilon none.
  const auto text = [&](std::string_view name) { return snapshot.text_value(name).value_or(""); };
  const bool is_z = collector.starts_with("ZGC") || text("sun.gc.collector.2.name").starts_with("Z concurrent");
  const bool is_epsilon = text("sun.gc.generation.1.space.0.name") == "Heap";
  constexpr std::string_view kGenerational[] = {"Copy", "PCopy", "Serial", "PSScavenge", "Parallel"};
  traits.eden_only_at_gc =
      is_z || (!traits.has_sampler && std::any_of(std::begin(kGenerational), std::end(kGenerational),
                                                  [&](std::string_view name) { return collector.starts_with(name); }));
  traits.spaces_move = collector.starts_with("G1") || collector.starts_with("Shenandoah") || is_epsilon;
  return traits;
}

Metadata describe(const Counter& counter, const VmTraits& traits) {
  Metadata metadata;
  metadata.quantity = declared_quantity(counter);
  metadata.freshness = freshness_of(counter, traits);
  if (metadata.quantity == Quantity::kText) return metadata;
  const auto* found = std::find_if(std::begin(kCorrections), std::end(kCorrections),
                                   [&](const Correction& c) { return matches(c.name, counter.name); });
  if (found != std::end(kCorrections)) {
    metadata.unit_corrected = metadata.quantity != found->quantity;
    metadata.quantity = found->quantity;
  }
  return metadata;
}

double quantity_value(Quantity quantity, std::int64_t raw, const VmTraits& traits) {
  const auto value = static_cast<double>(raw);
  switch (quantity) {
    case Quantity::kTicks: return value / traits.ticks_per_second;
    case Quantity::kCpuTime: return value / 1e9;
    case Quantity::kMillis:
    case Quantity::kEpochMillis: return value / 1e3;
    case Quantity::kWords: return value * 8;
    default: return value;
  }
}

namespace {

// raw / 10^digits with exactly that many decimals.
void append_scaled(std::string& out, std::int64_t raw, int digits) {
  std::uint64_t magnitude = static_cast<std::uint64_t>(raw);
  if (raw < 0) {
    out += '-';
    magnitude = -magnitude;
  }
  std::uint64_t unit = 1;
  for (int i = 0; i < digits; ++i) unit *= 10;
  append_decimal(out, magnitude / unit);
  std::string fraction = std::to_string(magnitude % unit);
  out += '.';
  out.append(static_cast<std::size_t>(digits) - fraction.size(), '0');
  out += fraction;
}

}  // namespace

void append_quantity(std::string& out, Quantity quantity, std::int64_t raw, const VmTraits& traits) {
  switch (quantity) {
    case Quantity::kTicks:
      if (traits.ticks_per_second == 1e9) return append_scaled(out, raw, 9);
      {
        char text[48];
        std::snprintf(text, sizeof text, "%.9f", quantity_value(quantity, raw, traits));
        out += text;
        return;
      }
    case Quantity::kCpuTime: return append_scaled(out, raw, 9);
    case Quantity::kMillis:
    case Quantity::kEpochMillis: return append_scaled(out, raw, 3);
    // Unsigned, so that a hostile number wraps around instead of being undefined.
    case Quantity::kWords: return append_decimal(out, static_cast<std::int64_t>(static_cast<std::uint64_t>(raw) * 8));
    default: return append_decimal(out, raw);
  }
}

}  // namespace jtrace::perfdata
