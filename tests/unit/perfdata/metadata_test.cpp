#include "perfdata/metadata.h"

#include <gtest/gtest.h>

#include "perfdata/counter_table.h"
#include "perfdata/region_writer.h"
#include "perfdata/snapshot_text.h"
#include "target/buffer_memory.h"

namespace jtrace::perfdata {
namespace {

Snapshot snapshot_of(const RegionWriter& writer) {
  const auto bytes = writer.bytes();
  auto snapshot = read_snapshot(target::BufferMemory(0, bytes), 0);
  EXPECT_TRUE(snapshot) << snapshot.error().message();
  return std::move(*snapshot);
}

std::string text_of(const RegionWriter& writer, const TextOptions& options = {}) {
  const Snapshot snapshot = snapshot_of(writer);
  std::string out;
  append_text(out, CounterTable(snapshot, {}, false), snapshot, options);
  return out;
}

TEST(Metadata, TicksAreSecondsOfTheDeclaredFrequency) {
  RegionWriter writer;
  writer.add_long("sun.os.hrt.frequency", 1000, Units::kHertz, Variability::kConstant)
      .add_long("sun.cls.time", 1500, Units::kTicks);
  EXPECT_EQ(text_of(writer), "sun.cls.time=1.500000000 seconds\nsun.os.hrt.frequency=1000 hertz\n");
}

TEST(Metadata, HotSpotsWrongUnitsAreCorrected) {
  RegionWriter writer;
  writer.add_long("sun.ci.threads", 3, Units::kBytes, Variability::kConstant)
      .add_long("sun.cls.defineAppClasses", 7, Units::kTicks, Variability::kMonotonic)
      .add_long("sun.gc.policy.avgMinorPauseTime", 5, Units::kTicks)
      .add_long("sun.gc.tlab.alloc", 125018, Units::kBytes)
      .add_long("sun.rt.createVmBeginTime", 1795252441493, Units::kNone)
      .add_long("sun.threads.cpu_time.vm", 193452, Units::kTicks);
  EXPECT_EQ(text_of(writer),
            "sun.ci.threads=3\n"
            "sun.cls.defineAppClasses=7 events\n"
            "sun.gc.policy.avgMinorPauseTime=0.005 seconds (changes only at a collection)\n"
            "sun.gc.tlab.alloc=1000144 bytes (changes only at a collection)\n"
            "sun.rt.createVmBeginTime=1795252441.493 seconds\n"
            "sun.threads.cpu_time.vm=0.000193452 seconds\n");
}

TEST(Metadata, NegativeValuesKeepTheirSign) {
  RegionWriter writer;
  writer.add_long("a", -1, Units::kTicks)
      .add_long("b", INT64_MIN, Units::kTicks)
      .add_long("sun.gc.tlab.alloc", INT64_MAX);
  EXPECT_EQ(text_of(writer).substr(0, 61), "a=-0.000000001 seconds\nb=-9223372036.854775808 seconds\nsun.gc");
}

std::string_view eden_freshness(std::string_view collector, bool sampler) {
  RegionWriter writer;
  writer.add_text("sun.gc.collector.0.name", collector).add_long("sun.gc.generation.0.space.0.used", 1, Units::kBytes);
  if (sampler) writer.add_long("sun.os.hrt.ticks", 1, Units::kTicks, Variability::kMonotonic);
  const Snapshot snapshot = snapshot_of(writer);
  return freshness_name(
      describe(*snapshot.layout().find("sun.gc.generation.0.space.0.used"), VmTraits::of(snapshot)).freshness);
}

TEST(Metadata, EdenMovesOnlyAtACollectionWhereNothingSamplesIt) {
  EXPECT_EQ(eden_freshness("Parallel young collection pauses", false), "gc");
  EXPECT_EQ(eden_freshness("Serial young collection pauses", false), "gc");
  EXPECT_EQ(eden_freshness("G1 young collection pauses", false), "live");
  EXPECT_EQ(eden_freshness("Parallel young collection pauses", true), "sampled");
  EXPECT_EQ(eden_freshness("ZGC minor collection pauses", false), "gc");
}

// Measured: what G1 and Shenandoah allocate in the old space shows before the next collection.
TEST(Metadata, SizesOfSpacesMoveBetweenCollectionsWithSomeCollectors) {
  const auto freshness = [](std::string_view collector, std::string_view counter) {
    RegionWriter writer;
    writer.add_text("sun.gc.collector.0.name", collector).add_long(counter, 1, Units::kBytes);
    const Snapshot snapshot = snapshot_of(writer);
    return freshness_name(describe(*snapshot.layout().find(counter), VmTraits::of(snapshot)).freshness);
  };
  for (const char* counter : {"sun.gc.generation.1.space.0.used", "sun.gc.generation.0.space.0.capacity"}) {
    EXPECT_EQ(freshness("G1 incremental collections", counter), "live");
    EXPECT_EQ(freshness("Shenandoah partial", counter), "live");
    EXPECT_EQ(freshness("PSScavenge", counter), "gc");
  }
  EXPECT_EQ(freshness("G1 young collection pauses", "sun.gc.generation.0.space.2.used"), "gc");
  EXPECT_EQ(freshness("G1 young collection pauses", "sun.gc.metaspace.used"), "gc");
}

TEST(CounterTable, SortsFiltersAndAddsThePrologue) {
  RegionWriter writer;
  writer.add_long("b", 2).add_long("a", 1).add_long("c", 3);
  const Snapshot snapshot = snapshot_of(writer.set_overflow(8));
  const CounterTable all(snapshot, {});
  ASSERT_EQ(all.rows().size(), 9u);
  EXPECT_EQ(all.rows()[0].name, "a");
  EXPECT_EQ(all.rows()[5].name, "sun.perfdata.overflow");
  EXPECT_EQ(all.long_value(snapshot, all.rows()[5]), 8);
  const CounterTable some(snapshot, [](std::string_view name) { return name == "b"; });
  ASSERT_EQ(some.rows().size(), 1u);
  EXPECT_EQ(some.long_value(snapshot, some.rows()[0]), 2);
}

TEST(CounterTable, TextIsUtf8AndEscapedOnItsLine) {
  RegionWriter writer;
  writer.add_text("sun.rt.javaCommand", "Main\nb\x01\xc0\x80 \\");
  EXPECT_EQ(text_of(writer), "sun.rt.javaCommand=\"Main\\nb\\x01\\x00 \\\\\"\n");
}

TEST(CounterTable, MasksSecretsInThePropertiesOfOtherNames) {
  RegionWriter writer;
  writer.add_text("java.property.my.url", "x://u:hunter2@h");
  EXPECT_EQ(text_of(writer), "java.property.my.url=\"x://u:***@h\"\n");
}

TEST(CounterTable, PropertiesOfSecretNamesAreMaskedWhole) {
  RegionWriter writer;
  writer.add_text("java.property.my.secret", "x").add_text("java.property.my.name", "y");
  EXPECT_EQ(text_of(writer), "java.property.my.name=\"y\"\njava.property.my.secret=\"***\"\n");
  EXPECT_EQ(text_of(writer, {.show_secrets = true}), "java.property.my.name=\"y\"\njava.property.my.secret=\"x\"\n");
}

TEST(SnapshotText, CsvQuotesWhatNeedsIt) {
  RegionWriter writer;
  writer.add_text("s", "a,\"b\"");
  const Snapshot snapshot = snapshot_of(writer);
  std::string out;
  append_csv(out, CounterTable(snapshot, {}, false), snapshot, {});
  EXPECT_EQ(out, "name,value,units,variability,freshness\r\ns,\"a,\"\"b\"\"\",text,Constant,constant\r\n");
}

}  // namespace
}  // namespace jtrace::perfdata
