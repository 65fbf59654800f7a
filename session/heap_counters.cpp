#include "session/heap_counters.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "base/strings.h"
#include "coreinspect/gc/space_words.h"
#include "perfdata/discovery.h"
#include "perfdata/gc_causes.h"
#include "perfdata/snapshot.h"
#include "target/process_memory.h"
#include "trace/record/event_record.h"

namespace jtrace::session {
namespace {

using trace::record::CollectionKind;
using trace::record::CountersFields;
namespace frame_types = trace::record::frame_types;

constexpr std::string_view kSerialPolicy = "Copy:MSC", kParallelPolicy = "ParScav:MSC";

// Reads sun.gc.generation.G.space.S.LAST as G.S and LAST; otherwise nothing.
struct SpaceCounter {
  std::string_view space;
  std::string_view last;
};
bool parse_space_counter(std::string_view name, SpaceCounter& counter) {
  constexpr std::string_view kPrefix = "sun.gc.generation.";
  if (!name.starts_with(kPrefix)) return false;
  const std::vector<std::string_view> words = split(name.substr(kPrefix.size()), '.');
  if (words.size() != 4 || words[1] != "space") return false;
  counter.space = name.substr(kPrefix.size(), name.size() - kPrefix.size() - words[3].size() - 1);
  counter.last = words[3];
  return true;
}

// With Serial, Parallel and CMS, spaces 1 and 2 of generation 0 are its survivor spaces. Runtime.totalMemory() leaves
// the capacity of one of the two out; each young collection changes which of them has the survivors. With Parallel they
// differ in size (CountersFields::survivor). With G1 (sun.gc.policy.name "GarbageFirst") space 2 is the only one that
// counts. Z and Shenandoah have other counters.
bool is_known_policy(std::string_view policy) {
  return policy == "GarbageFirst" || policy == kSerialPolicy || policy == kParallelPolicy || policy == "ParNew:CMS";
}

bool is_left_out(std::string_view space, std::string_view policy, bool has_survivor) {
  return policy != "GarbageFirst" && (space == "0.space.2" || (has_survivor && space == "0.space.1"));
}

void add_counters(const perfdata::Snapshot& snapshot, std::uint64_t base, CountersFields& found) {
  const std::string_view policy = snapshot.text_value("sun.gc.policy.name").value_or("");
  if (!is_known_policy(policy)) return;
  for (const perfdata::Counter& counter : snapshot.layout().counters()) {
    SpaceCounter space;
    if (counter.kind != perfdata::ValueKind::kLong || !parse_space_counter(counter.name, space)) continue;
    if (space.last == "used") found.used.push_back(base + counter.value_offset);
    if (space.last == "capacity" && !is_left_out(space.space, policy, found.survivor != 0))
      found.committed.push_back(base + counter.value_offset);
  }
}

std::optional<CollectionKind> kind_of(const perfdata::Snapshot& snapshot, int index) {
  const auto& names = trace::record::kCollectionKindNames;
  const auto found = std::find(std::begin(names), std::end(names), perfdata::collection_kind(snapshot, index));
  if (found == std::end(names)) return std::nullopt;
  return static_cast<CollectionKind>(found - std::begin(names));
}

std::uint64_t text_at(const perfdata::Layout& layout, std::string_view name, std::uint64_t base) {
  const perfdata::Counter* counter = layout.find(name);
  if (counter == nullptr || counter->kind != perfdata::ValueKind::kText) return 0;
  return counter->value_size >= trace::record::kCauseRoom ? base + counter->value_offset : 0;
}

// Collectors' numbers have gaps (ZGC: 0 and 2).
frame_types::Collectors collectors_of(const perfdata::Snapshot& snapshot, std::uint64_t base) {
  constexpr int kMost = 8;
  frame_types::Collectors found;
  for (int i = 0; i < kMost; ++i) {
    const std::string stem = "sun.gc.collector." + std::to_string(i) + ".";
    const auto kind = kind_of(snapshot, i);
    const perfdata::Counter* const invocations = snapshot.layout().find(stem + "invocations");
    const perfdata::Counter* const entry = snapshot.layout().find(stem + "lastEntryTime");
    const perfdata::Counter* const exit = snapshot.layout().find(stem + "lastExitTime");
    if (kind && invocations != nullptr && entry != nullptr && exit != nullptr)
      found.push_back({static_cast<std::uint32_t>(*kind), base + invocations->value_offset, base + entry->value_offset,
                       base + exit->value_offset});
  }
  return found;
}

// Where the JVM says what its collections are for.
void add_causes(const perfdata::Snapshot& snapshot, std::uint64_t base, CountersFields& found) {
  found.cause = text_at(snapshot.layout(), "sun.gc.cause", base);
  found.last_cause = text_at(snapshot.layout(), "sun.gc.lastCause", base);
  found.collectors = collectors_of(snapshot, base);
  const bool counts_phases = std::any_of(found.collectors.begin(), found.collectors.end(), [](const auto& each) {
    return CollectionKind{each.kind} == CollectionKind::kConcurrent;
  });
  // G1 of JDK 8 has no counter for remark, its only other pause that it reports.
  const bool is_g1 = snapshot.text_value("sun.gc.policy.name") == "GarbageFirst";
  if (is_g1 && !counts_phases) found.uncounted = bit_of(CollectionKind::kConcurrent);
  // G1 updates them with each region that it fills. The others do it every 50 ms, and from JDK 25 only in collections.
  found.used_before = is_g1 ? 1 : 0;
}

// What no counter has, but the VM's own structures; nothing if the collector has none, or if the JVM may not be read.
void add_words(const target::Process& process, CountersFields& found) {
  auto same = target::Process::open(process.pid());
  if (!same || process.has_exited()) return;
  const auto target = target::Target::open_process(std::move(*same));
  if (!target) return;
  const auto vm = coreinspect::Vm::open(**target);
  if (!vm) return;
  if (const auto words = coreinspect::space_words(**vm))
    for (const coreinspect::SpaceWords& each : *words) found.spaces.push_back({each.bottom, each.top});
  const auto survivor = coreinspect::survivor_words(**vm);
  if (!survivor || !*survivor) return;
  found.survivor = (*survivor)->pointer;
  found.survivor_bottom = static_cast<std::uint32_t>((*survivor)->bottom);
  found.survivor_end = static_cast<std::uint32_t>((*survivor)->end);
}

struct Region {
  std::uint64_t base = 0;  // in the JVM
  perfdata::Snapshot snapshot;
};

// Prefers the mapped file: it can be read without the right to trace the process.
Result<Region> read_region(const target::Process& process) {
  JTRACE_ASSIGN_OR_RETURN(const auto mappings, process.maps());
  Region region;
  if (const target::Mapping* mapping = perfdata::find_region_mapping(mappings)) {
    region.base = mapping->start;
    JTRACE_ASSIGN_OR_RETURN(const perfdata::RegionFile file, perfdata::open_mapped_region(process, *mapping));
    JTRACE_ASSIGN_OR_RETURN(region.snapshot, perfdata::read_snapshot(file, 0));
  } else {
    JTRACE_ASSIGN_OR_RETURN(region.base, perfdata::scan_private_region(process, mappings));
    JTRACE_ASSIGN_OR_RETURN(region.snapshot, perfdata::read_snapshot(target::ProcessMemory(process), region.base));
  }
  return region;
}

}  // namespace

FoundCounters find_jvm_counters(const target::Process& process) {
  const auto region = read_region(process);
  if (!region) return {};
  const auto begin = region->snapshot.long_value("sun.rt.createVmBeginTime");
  const bool known = begin && *begin > 0;  // a JVM that is starting has not set it yet
  CountersFields counters;
  add_causes(region->snapshot, region->base, counters);
  if (counters.used_before == 0) add_words(process, counters);
  add_counters(region->snapshot, region->base, counters);
  return {std::move(counters), known ? std::to_string(*begin) : std::string()};
}

}  // namespace jtrace::session
