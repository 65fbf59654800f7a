#include "perfdata/mx_beans.h"

#include <string>

#include "perfdata/heap_size.h"
#include "perfdata/metadata.h"
#include "perfdata/wrapping.h"

namespace jtrace::perfdata {
namespace {

constexpr std::string_view kEden = "sun.gc.generation.0.space.0.";
constexpr std::string_view kFrom = "sun.gc.generation.0.space.1.";
constexpr std::string_view kTo = "sun.gc.generation.0.space.2.";
constexpr std::string_view kOld = "sun.gc.generation.1.space.0.";

struct CollectorNames {
  int collector;
  std::string_view bean, action;
  bool concurrent = false;
};
constexpr std::string_view kMinor = "end of minor GC", kMajor = "end of major GC", kPause = "end of GC pause";

enum class Heap : std::uint8_t { kGenerations, kG1, kZ, kGenerationalZ, kWhole };

// A collector's heap and beans (memoryService.cpp and the heaps' memory_pools()).
struct Family {
  Heap heap = Heap::kGenerations;
  std::string_view eden, survivor, old;  // "": it has no such pool
  std::vector<CollectorNames> collectors;
  bool lacks_pauses = false;
};

std::string_view text(const Snapshot& snapshot, std::string_view name) {
  return snapshot.text_value(name).value_or("");
}

// The bean for the pauses of G1's concurrent cycles came with JDK 20; the counter has been there since 11.
bool has_concurrent_bean(const Snapshot& snapshot) {
  const std::string_view version = text(snapshot, "java.property.java.vm.specification.version");
  return version.size() == 2 && version >= "20";
}

std::optional<Family> family_of(const Snapshot& snapshot) {
  const std::string_view policy = text(snapshot, "sun.gc.policy.name");
  if (policy == "GarbageFirst") {
    Family g1{Heap::kG1,
              "G1 Eden Space",
              "G1 Survivor Space",
              "G1 Old Gen",
              {{0, "G1 Young Generation", kMinor}, {1, "G1 Old Generation", kMajor}}};
    if (has_concurrent_bean(snapshot))
      g1.collectors.push_back({2, "G1 Concurrent GC", "end of concurrent GC pause", true});
    return g1;
  }
  if (policy == "ParScav:MSC")
    return Family{Heap::kGenerations,
                  "PS Eden Space",
                  "PS Survivor Space",
                  "PS Old Gen",
                  {{0, "PS Scavenge", kMinor}, {1, "PS MarkSweep", kMajor}}};
  if (policy == "ParNew:CMS")
    return Family{Heap::kGenerations, "Par Eden Space",        "Par Survivor Space",
                  "CMS Old Gen",      {{0, "ParNew", kMinor}}, true};
  if (policy == "Copy:MSC")
    return Family{Heap::kGenerations,
                  "Eden Space",
                  "Survivor Space",
                  "Tenured Gen",
                  {{0, "Copy", kMinor}, {1, "MarkSweepCompact", kMajor}}};
  if (text(snapshot, "sun.gc.collector.0.name").starts_with("ZGC"))
    return Family{Heap::kGenerationalZ,
                  "ZGC Young Generation",
                  "",
                  "ZGC Old Generation",
                  {{0, "ZGC Minor Pauses", kPause}, {2, "ZGC Major Pauses", kPause}}};
  if (text(snapshot, "sun.gc.collector.2.name").starts_with("Z concurrent"))
    return Family{Heap::kZ, "", "", "ZHeap", {{2, "ZGC Pauses", kPause}}};
  if (text(snapshot, "sun.gc.collector.1.name").starts_with("Shenandoah") &&
      text(snapshot, "java.rt.vmArgs").find("ShenandoahGCMode=generational") == std::string_view::npos)
    return Family{Heap::kWhole, "", "", "Shenandoah", {}, true};
  return std::nullopt;
}

std::optional<std::int64_t> sum(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::optional(wrapping_sum(*a, *b)) : std::nullopt;
}

class Reader {
 public:
  Reader(const Snapshot& snapshot, const Family& family)
      : snapshot_(snapshot), family_(family), traits_(VmTraits::of(snapshot)) {}

  std::vector<PoolBean> pools() const {
    std::vector<PoolBean> pools;
    const bool is_z = family_.heap == Heap::kZ || family_.heap == Heap::kGenerationalZ;
    const auto committed = [&](std::string_view space) {
      return is_z || family_.heap == Heap::kWhole ? std::nullopt : capacity(space, "capacity");
    };
    if (!family_.eden.empty())
      pools.push_back(
          {family_.eden, live(kEden), committed(kEden), is_z ? capacity(kEden, "maxCapacity") : std::nullopt});
    // Survivors change at collections only: their counters are never old. One of the two is empty, G1's first always.
    if (!family_.survivor.empty())
      pools.push_back({family_.survivor, sum(used(kFrom), used(kTo)),
                       committed(family_.heap == Heap::kG1 ? kTo : kFrom), std::nullopt});
    pools.push_back({family_.old, family_.heap == Heap::kGenerations ? used(kOld) : live(kOld), committed(kOld),
                     capacity(kOld, "maxCapacity")});
    return pools;
  }

  std::vector<CollectorBean> collectors() const {
    std::vector<CollectorBean> beans;
    for (const CollectorNames& each : family_.collectors) {
      const std::string stem = "sun.gc.collector." + std::to_string(each.collector) + ".";
      const auto count = snapshot_.long_value(stem + "invocations"), ticks = snapshot_.long_value(stem + "time");
      if (!count || !ticks) continue;
      // The bean counts a collection at its end.
      const bool runs = snapshot_.long_value(stem + "lastEntryTime") > snapshot_.long_value(stem + "lastExitTime");
      beans.push_back({each.bean, each.action, each.collector, *count - (runs && *count > 0 ? 1 : 0),
                       quantity_value(Quantity::kTicks, *ticks, traits_), each.concurrent});
    }
    return beans;
  }

 private:
  std::optional<std::int64_t> used(std::string_view space) const {
    return snapshot_.long_value(std::string(space) + "used");
  }
  // Nothing if it moves at collections only.
  std::optional<std::int64_t> live(std::string_view space) const {
    const Counter* counter = snapshot_.layout().find(std::string(space) + "used");
    if (counter == nullptr || describe(*counter, traits_).freshness == Freshness::kGc) return std::nullopt;
    return snapshot_.long_value(*counter);
  }
  std::optional<std::int64_t> capacity(std::string_view space, std::string_view which) const {
    const auto bytes = space_capacity(snapshot_, std::string(space) + std::string(which));
    return bytes ? std::optional(static_cast<std::int64_t>(*bytes)) : std::nullopt;
  }

  const Snapshot& snapshot_;
  const Family& family_;
  VmTraits traits_;
};

// MemoryMXBean sums over the pools; a survivor space that is empty counts as one.
void add_heap(MxBeans& beans) {
  beans.heap_used = beans.heap_committed = 0;
  for (const PoolBean& each : beans.pools) {
    beans.heap_used = sum(beans.heap_used, each.used);
    beans.heap_committed = sum(beans.heap_committed, each.committed);
  }
}

std::optional<double> seconds(const Snapshot& snapshot, std::string_view name, Quantity quantity) {
  const auto raw = snapshot.long_value(name);
  return raw ? std::optional(quantity_value(quantity, *raw, VmTraits::of(snapshot))) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> MxBeans::classes() const {
  return loaded_classes && unloaded_classes ? std::optional(wrapping_difference(*loaded_classes, *unloaded_classes))
                                            : std::nullopt;
}

MxBeans mx_beans(const Snapshot& snapshot) {
  const auto value = [&](std::string_view name) { return snapshot.long_value(name); };
  MxBeans beans;
  if (const auto family = family_of(snapshot)) {
    const Reader reader(snapshot, *family);
    beans.pools = reader.pools();
    beans.collectors = reader.collectors();
    beans.lacks_pauses = family->lacks_pauses;
    add_heap(beans);
  }
  if (const auto most = heap_max(snapshot)) beans.heap_max = static_cast<std::int64_t>(*most);
  beans.threads = value("java.threads.live");
  beans.daemon_threads = value("java.threads.daemon");
  beans.peak_threads = value("java.threads.livePeak");
  beans.started_threads = value("java.threads.started");
  beans.loaded_classes = sum(value("java.cls.loadedClasses"), value("java.cls.sharedLoadedClasses"));
  beans.unloaded_classes = sum(value("java.cls.unloadedClasses"), value("java.cls.sharedUnloadedClasses"));
  beans.compilation_seconds = seconds(snapshot, "java.ci.totalTime", Quantity::kTicks);
  beans.start_seconds = seconds(snapshot, "sun.rt.createVmBeginTime", Quantity::kEpochMillis);
  if (beans.start_seconds)
    beans.uptime_seconds = static_cast<double>(snapshot.realtime_ns) / 1e9 - *beans.start_seconds;
  return beans;
}

}  // namespace jtrace::perfdata
