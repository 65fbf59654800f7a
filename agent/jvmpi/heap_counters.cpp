#include "agent/jvmpi/heap_counters.h"

#include <stdio.h>
#include <string.h>

#include <cstdint>
#include <string_view>

namespace jtrace::agent::jvmpi {
namespace {

// perfMemory.hpp: PerfDataPrologue and PerfDataEntry, in the byte order of the machine.
struct Prologue {
  std::uint8_t magic[4];  // ca fe c0 c0
  std::uint8_t byte_order, major, minor, accessible;
  std::int32_t used, overflow;
  std::int64_t modified;
  std::int32_t entry_offset, entries;
};
struct Entry {
  std::int32_t length, name_offset, vector_length;
  char type;
  std::uint8_t flags, units, variability;
  std::int32_t data_offset;
};

struct Region {
  const char* base = nullptr;
  std::size_t size = 0;
};

// The hsperfdata file that this process has mapped.
Region find_region() {
  Region region;
  FILE* maps = fopen("/proc/self/maps", "re");
  if (maps == nullptr) return region;
  char line[512];
  while (region.base == nullptr && fgets(line, sizeof line, maps) != nullptr) {
    unsigned long start = 0, end = 0;
    if (strstr(line, "/hsperfdata_") == nullptr || sscanf(line, "%lx-%lx", &start, &end) != 2) continue;
    region.base = reinterpret_cast<const char*>(start);
    region.size = end - start;
  }
  fclose(maps);
  return region;
}

bool is_counted(std::string_view name, std::string_view last, bool is_g1) {
  constexpr std::string_view kPrefix = "sun.gc.generation.";
  if (!name.starts_with(kPrefix) || !name.ends_with(last) || name.find(".space.") == std::string_view::npos)
    return false;
  // The empty survivor space; with G1 it is the only one with the capacity (session/heap_counters.cpp).
  return is_g1 || name.find("0.space.2.") == std::string_view::npos;
}

template <class Visit>
void for_each_entry(const Region& region, Visit&& visit) {
  Prologue head;
  if (region.size < sizeof head) return;
  memcpy(&head, region.base, sizeof head);
  constexpr std::uint8_t kMagic[] = {0xca, 0xfe, 0xc0, 0xc0};
  if (memcmp(head.magic, kMagic, sizeof kMagic) != 0 || head.entry_offset < 0) return;
  auto at = static_cast<std::size_t>(head.entry_offset);
  for (std::int32_t i = 0; i < head.entries && region.size - at >= sizeof(Entry); ++i) {
    Entry entry;
    memcpy(&entry, region.base + at, sizeof entry);
    if (entry.length < static_cast<std::int32_t>(sizeof entry) ||
        static_cast<std::size_t>(entry.length) > region.size - at)
      return;
    visit(entry, region.base + at);
    at += static_cast<std::size_t>(entry.length);
  }
}

}  // namespace

void HeapCounters::find() {
  const Region region = find_region();
  std::string_view policy;
  for_each_entry(region, [&](const Entry& entry, const char* at) {
    if (std::string_view(at + entry.name_offset) == "sun.gc.policy.name") policy = at + entry.data_offset;
  });
  const bool is_g1 = policy == "GarbageFirst";
  if (!is_g1 && policy != "Copy:MSC" && policy != "ParScav:MSC" && policy != "ParNew:CMS") return;
  for_each_entry(region, [&](const Entry& entry, const char* at) {
    if (entry.type != 'J' || entry.vector_length != 0) return;
    const auto* value = reinterpret_cast<const volatile jlong*>(at + entry.data_offset);
    const std::string_view name(at + entry.name_offset);
    if (is_counted(name, ".used", is_g1)) used_.push_back(value);
    if (is_counted(name, ".capacity", is_g1)) total_.push_back(value);
  });
}

HeapFigures HeapCounters::read() const {
  HeapFigures figures;
  for (const volatile jlong* counter : used_) figures.used += *counter;
  for (const volatile jlong* counter : total_) figures.total += *counter;
  return figures;
}

}  // namespace jtrace::agent::jvmpi
