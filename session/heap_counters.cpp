#include "session/heap_counters.h"

#include <string>

#include "base/strings.h"
#include "perfdata/discovery.h"
#include "perfdata/snapshot.h"
#include "target/process_memory.h"

namespace jtrace::session {
namespace {

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

// With Serial, Parallel and CMS, space 2 of generation 0 is the empty survivor space, which Runtime.totalMemory()
// leaves out. With G1 (sun.gc.policy.name "GarbageFirst") it is the only one that counts. Z and Shenandoah have other
// counters.
bool is_known_policy(std::string_view policy) {
  return policy == "GarbageFirst" || policy == "Copy:MSC" || policy == "ParScav:MSC" || policy == "ParNew:CMS";
}

HeapCounters counters_of(const perfdata::Snapshot& snapshot, std::uint64_t base) {
  HeapCounters found;
  const std::string_view policy = snapshot.text_value("sun.gc.policy.name").value_or("");
  if (!is_known_policy(policy)) return found;
  for (const perfdata::Counter& counter : snapshot.layout().counters()) {
    SpaceCounter space;
    if (counter.kind != perfdata::ValueKind::kLong || !parse_space_counter(counter.name, space)) continue;
    if (space.space == "0.space.2" && policy != "GarbageFirst") continue;
    if (space.last == "used") found.used.push_back(base + counter.value_offset);
    if (space.last == "capacity") found.committed.push_back(base + counter.value_offset);
  }
  return found;
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

JvmCounters find_jvm_counters(const target::Process& process) {
  const auto region = read_region(process);
  if (!region) return {};
  const auto begin = region->snapshot.long_value("sun.rt.createVmBeginTime");
  const bool known = begin && *begin > 0;  // a JVM that is starting has not set it yet
  return {counters_of(region->snapshot, region->base), known ? std::to_string(*begin) : std::string()};
}

}  // namespace jtrace::session
