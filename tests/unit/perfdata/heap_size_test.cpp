// The figures are from JVMs with -Xmx200m, compared with those of MemoryMXBean.
#include "perfdata/heap_size.h"

#include <gtest/gtest.h>

#include "perfdata/derived.h"
#include "perfdata/region_writer.h"
#include "target/buffer_memory.h"

namespace jtrace::perfdata {
namespace {

struct Spaces {
  std::int64_t young_max, eden_max, survivor_max, old_max;
  std::int64_t eden, from, to, old;  // capacities
};

Snapshot snapshot_of(const char* policy, const Spaces& s) {
  RegionWriter writer;
  const auto add = [&](std::string name, std::int64_t value) {
    writer.add_long("sun.gc.generation." + name, value, Units::kBytes);
  };
  add("0.maxCapacity", s.young_max);
  add("0.space.0.maxCapacity", s.eden_max);
  add("0.space.0.capacity", s.eden);
  add("0.space.0.used", 50 << 20);
  add("0.space.1.maxCapacity", s.survivor_max);
  add("0.space.1.capacity", s.from);
  add("0.space.2.maxCapacity", s.survivor_max);
  add("0.space.2.capacity", s.to);
  add("1.maxCapacity", s.old_max);
  add("1.capacity", s.old);
  add("1.space.0.maxCapacity", s.old_max);
  add("1.space.0.capacity", s.old);
  add("1.space.0.used", 50 << 20);
  if (policy != nullptr) writer.add_text("sun.gc.policy.name", policy);
  const auto bytes = writer.bytes();
  auto snapshot = read_snapshot(target::BufferMemory(0, bytes), 0);
  EXPECT_TRUE(snapshot);
  return std::move(*snapshot);
}

constexpr std::int64_t kHeap = 200 << 20;

TEST(HeapSize, G1HasOneHeapForBothGenerations) {
  const Snapshot now = snapshot_of("GarbageFirst", {kHeap, kHeap, 0, kHeap, 4 << 20, 0, 0, 6 << 20});
  EXPECT_EQ(heap_max(now), kHeap);
  EXPECT_EQ(derived_value("heap.max", now, nullptr), kHeap);
  EXPECT_EQ(derived_value("heap.share", now, nullptr), 0.5);
}

TEST(HeapSize, G1PadsUpToJdk17) {
  for (const std::int64_t alignment : {8, 16}) {
    const Snapshot now =
        snapshot_of("GarbageFirst", {kHeap + 3 * alignment, kHeap + alignment, kHeap + alignment, kHeap + alignment,
                                     (6 << 20) + alignment, alignment, alignment, (4 << 20) + alignment});
    EXPECT_EQ(heap_max(now), kHeap);
    EXPECT_EQ(derived_value("old.max", now, nullptr), kHeap);
    EXPECT_EQ(derived_value("heap.capacity", now, nullptr), 10 << 20);
    EXPECT_EQ(derived_value("survivor.capacity", now, nullptr), 0);
  }
}

TEST(HeapSize, SerialCountsOneSurvivorSpace) {
  const Spaces to25 = {69861376, 55967744, 6946816, 139853824, 55967744, 6946816, 6946816, 139853824};
  EXPECT_EQ(heap_max(snapshot_of("Copy:MSC", to25)), 202768384);
  EXPECT_EQ(heap_max(snapshot_of("ParNew:CMS", to25)), 202768384);
  // JDK 27: eden may take everything except the smallest survivor space.
  const Spaces in27 = {69861376, 69861376, 6946816, 139853824, 2293760, 262144, 262144, 5636096};
  EXPECT_EQ(heap_max(snapshot_of("Copy:MSC", in27)), 209649664);
}

TEST(HeapSize, ParallelLeavesOutTheLargestSurvivorSpaceUnlessThereIsMore) {
  EXPECT_EQ(heap_max(snapshot_of("ParScav:MSC",
                                 {69730304, 68681728, 23068672, 139984896, 52953088, 8388608, 8388608, 139984896})),
            201326592);
  EXPECT_EQ(heap_max(snapshot_of("ParScav:MSC",
                                 {69730304, 68681728, 23068672, 139984896, 65011712, 524288, 524288, 5767168})),
            186646528);
}

TEST(HeapSize, ParallelWithoutAdaptionHasFixedSurvivorSpaces) {
  EXPECT_EQ(
      heap_max(snapshot_of("ParScav:MSC", {69730304, 52953088, 8388608, 139984896, 1572864, 524288, 524288, 5767168})),
      kHeap - 524288);
}

TEST(HeapSize, CollectorsWithoutGenerationsHaveTheHeapInOneOfTheTwo) {
  EXPECT_EQ(heap_max(snapshot_of(nullptr, {0, 0, 0, kHeap, 0, 0, 0, kHeap})), kHeap);         // Shenandoah
  EXPECT_EQ(heap_max(snapshot_of(nullptr, {kHeap, kHeap, 0, kHeap, 100, 0, 0, 10})), kHeap);  // ZGC, generational
  EXPECT_EQ(heap_max(snapshot_of(nullptr, {})), std::nullopt);
}

}  // namespace
}  // namespace jtrace::perfdata
