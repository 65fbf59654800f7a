#include "perfdata/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perfdata/derived.h"
#include "perfdata/region_writer.h"
#include "target/buffer_memory.h"

namespace jtrace::perfdata {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A JVM `seconds` after its first sample, with that many pauses of 100 ms.
Snapshot at(double seconds, int pauses) {
  RegionWriter writer;
  writer.add_long("sun.os.hrt.frequency", 1'000'000'000, Units::kHertz, Variability::kConstant)
      .add_long("sun.gc.collector.0.invocations", pauses, Units::kEvents)
      .add_long("sun.gc.collector.0.time", pauses * 100'000'000LL, Units::kTicks)
      .add_long("sun.gc.generation.1.space.0.used", 30 << 20, Units::kBytes)
      .add_long("sun.gc.generation.1.space.0.maxCapacity", 40 << 20, Units::kBytes, Variability::kConstant)
      .add_text("sun.gc.collector.0.name", "Copy");
  const auto bytes = writer.bytes();
  auto snapshot = read_snapshot(target::BufferMemory(0, bytes), 0);
  EXPECT_TRUE(snapshot);
  snapshot->monotonic_ns = 1'000'000'000 + static_cast<std::uint64_t>(seconds * 1e9);
  return std::move(*snapshot);
}

Watch watch_of(std::string_view text, const Snapshot& snapshot) {
  auto expression = Expression::parse(text);
  EXPECT_TRUE(expression);
  auto watch = Watch::of(std::move(*expression), snapshot);
  EXPECT_TRUE(watch) << watch.error().message();
  return std::move(*watch);
}

TEST(Derived, OfOneSnapshotAndOfTwo) {
  const Snapshot before = at(0, 10), now = at(2, 14);
  EXPECT_EQ(derived_value("old.used", now, nullptr), 30 << 20);
  EXPECT_EQ(derived_value("old.share", now, nullptr), 0.75);
  EXPECT_EQ(derived_value("gc.count", now, nullptr), 14);
  EXPECT_DOUBLE_EQ(*derived_value("gc.time", now, nullptr), 1.4);
  EXPECT_DOUBLE_EQ(*derived_value("gc.pause_share", now, &before), 0.2);
  EXPECT_EQ(derived_value("gc.rate", now, &before), 2);
  EXPECT_EQ(derived_value("gc.rate", now, nullptr), std::nullopt);
  EXPECT_EQ(derived_value("gc.rate", now, &now), std::nullopt);
  EXPECT_EQ(derived_value("metaspace.used", now, nullptr), std::nullopt);
  EXPECT_EQ(derived_value("no.such", now, nullptr), std::nullopt);
}

TEST(Derived, NamesAreUnique) {
  for (const DerivedName& name : derived_names()) EXPECT_EQ(find_derived(name.name), &name) << name.name;
}

TEST(Watch, HoldsAndExplains) {
  const Snapshot before = at(0, 10), now = at(2, 14);
  const Watch watch = watch_of("old.share > 70% and gc.pause_share > 10% and rate(gc.time) > 0", now);
  EXPECT_TRUE(watch.needs_two());
  EXPECT_FALSE(watch.holds(now, nullptr));
  EXPECT_TRUE(watch.holds(now, &before));
  EXPECT_THAT(watch.explain(now, &before),
              HasSubstr("old.share=0.75 share (changes only at a collection), gc.pause_share=0.2"));
  EXPECT_FALSE(watch_of("old.used < 1M", now).holds(now, nullptr));
}

// heap.used has eden, which most collectors bring up to date between collections; G1 and Shenandoah all spaces.
TEST(Watch, SaysWhatChangesAtACollectionOnlyByTheCollector) {
  const auto explained = [](std::string_view collector, bool sampler) {
    RegionWriter writer;
    writer.add_text("sun.gc.collector.0.name", collector);
    for (const char* name : {"sun.gc.generation.0.space.0.used", "sun.gc.generation.0.space.2.used",
                             "sun.gc.generation.1.space.0.used", "sun.gc.generation.1.space.0.capacity"})
      writer.add_long(name, 1 << 20, Units::kBytes);
    if (sampler) writer.add_long("sun.os.hrt.ticks", 1, Units::kTicks, Variability::kMonotonic);
    const auto bytes = writer.bytes();
    const auto now = read_snapshot(target::BufferMemory(0, bytes), 0);
    EXPECT_TRUE(now);
    return watch_of("heap.used > 0 and old.used > 0 and survivor.used > 0", *now).explain(*now, nullptr);
  };
  const std::string note = " (changes only at a collection)", survivor = ", survivor.used=1048576 bytes" + note;
  const std::string heap = "heap.used=3145728 bytes", old = ", old.used=1048576 bytes";
  EXPECT_EQ(explained("G1 young collection pauses", true), heap + old + survivor);
  EXPECT_EQ(explained("Shenandoah partial", false), heap + old + survivor);
  EXPECT_EQ(explained("Serial young collection pauses", true), heap + old + note + survivor);
  EXPECT_EQ(explained("Serial young collection pauses", false), heap + note + old + note + survivor);
  EXPECT_EQ(explained("ZGC minor collection pauses", false), heap + note + old + note + survivor);
}

// ZGC of JDK 17 has the sampler, but no eden that it could bring up to date.
TEST(Watch, OfOneGenerationItIsTheHeap) {
  const auto explained = [](std::string_view counter, std::string_view text) {
    RegionWriter writer;
    writer.add_text(counter, text).add_long("sun.gc.generation.1.space.0.used", 1 << 20, Units::kBytes);
    writer.add_long("sun.os.hrt.ticks", 1, Units::kTicks, Variability::kMonotonic);
    const auto bytes = writer.bytes();
    const auto now = read_snapshot(target::BufferMemory(0, bytes), 0);
    EXPECT_TRUE(now);
    return watch_of("heap.used > 0", *now).explain(*now, nullptr);
  };
  EXPECT_EQ(explained("sun.gc.collector.2.name", "Z concurrent cycle pauses"),
            "heap.used=1048576 bytes (changes only at a collection)");
  EXPECT_EQ(explained("sun.gc.collector.2.name", "of another collector"),
            "heap.used=1048576 bytes (changes only at a collection)");
  EXPECT_EQ(explained("sun.gc.generation.1.space.0.name", "Heap"), "heap.used=1048576 bytes");
}

// The counters of Shenandoah's collectors are not those of pauses.
TEST(Watch, OfShenandoahPausesAreUnknownForAReason) {
  const auto bytes = RegionWriter()
                         .add_long("sun.os.hrt.frequency", 1'000'000'000, Units::kHertz, Variability::kConstant)
                         .add_text("sun.gc.collector.1.name", "Shenandoah full")
                         .add_long("sun.gc.collector.1.invocations", 600, Units::kEvents)
                         .add_long("sun.gc.collector.1.time", 5'000'000'000, Units::kTicks)
                         .add_long("sun.rt.safepointTime", 7'000'000, Units::kTicks)
                         .bytes();
  const auto now = read_snapshot(target::BufferMemory(0, bytes), 0);
  ASSERT_TRUE(now);
  for (const char* name : {"gc.count", "gc.time", "full.count"})
    EXPECT_EQ(derived_value(name, *now, nullptr), std::nullopt) << name;
  const Watch watch = watch_of("gc.time < 1s and safepoint.time < 1s", *now);
  EXPECT_FALSE(watch.holds(*now, nullptr));
  ASSERT_TRUE(watch.lack(*now, nullptr));
  EXPECT_THAT(watch.lack(*now, nullptr)->message(), HasSubstr("no gc.time; the counters of Shenandoah mix its"));
  EXPECT_THAT(watch.explain(*now, nullptr),
              HasSubstr("gc.time unknown, safepoint.time=0.007 seconds; the counters of Shenandoah mix its"));
}

// As ZGC of JDK 17: one generation, whose old space is the heap.
Snapshot without_eden() {
  const auto bytes = RegionWriter()
                         .add_long("sun.gc.generation.1.space.0.used", 1 << 20, Units::kBytes)
                         .add_long("sun.gc.generation.1.space.0.maxCapacity", 0, Units::kBytes)
                         .add_long("sun.gc.metaspace.used", 1 << 20, Units::kBytes)
                         .bytes();
  auto snapshot = read_snapshot(target::BufferMemory(0, bytes), 0);
  EXPECT_TRUE(snapshot);
  return std::move(*snapshot);
}

TEST(Watch, WhatThisJvmDoesNotHaveIsNeitherTrueNorFalse) {
  const Snapshot now = without_eden();
  const auto lack = watch_of("eden.used >= 0", now).lack(now, nullptr);
  ASSERT_TRUE(lack);
  EXPECT_EQ(lack->message(), "this JVM has no eden.used; it has heap.used, old.used, metaspace.used");
  EXPECT_EQ(exit_status(*lack), ExitStatus::kNotAttachable);
  EXPECT_TRUE(watch_of("not eden.used >= 0", now).lack(now, nullptr));
  EXPECT_TRUE(watch_of("eden.used > 1 and old.used > 1", now).lack(now, nullptr));
  EXPECT_TRUE(watch_of("rate(eden.used) > 1 and old.used > 1", now).lack(now, nullptr));
  EXPECT_FALSE(watch_of("eden.used > 1 and old.used > 1T", now).lack(now, nullptr)) << "false, whatever eden is";
  EXPECT_FALSE(watch_of("eden.used > 1 or old.used > 1", now).lack(now, nullptr)) << "true, whatever eden is";
}

TEST(Watch, WhatHasNoValueNowMayGetOne) {
  const Snapshot now = without_eden();
  EXPECT_EQ(derived_value("old.share", now, nullptr), std::nullopt);
  EXPECT_FALSE(watch_of("old.share > 5%", now).lack(now, nullptr)) << "its limit is 0";
  EXPECT_FALSE(watch_of("old.used / old.max > 5%", now).lack(now, nullptr));
}

TEST(Watch, ARateLacksASecondMoment) {
  const Snapshot before = at(0, 10), now = at(2, 14);
  const Watch rate = watch_of("rate(old.used) > 1", now);
  ASSERT_TRUE(rate.lack(now, nullptr));
  EXPECT_THAT(rate.lack(now, nullptr)->message(), HasSubstr("rate(old.used) needs two moments"));
  EXPECT_FALSE(rate.lack(now, &before));
}

TEST(Watch, CountersCountInTheirTrueUnit) {
  const Snapshot now = at(0, 10);
  EXPECT_TRUE(watch_of("sun.gc.collector.0.time == 1s", now).holds(now, nullptr));
}

TEST(Watch, SaysThatADivisionByZeroHasNoValue) {
  const Snapshot now = at(2, 0);
  const Watch by_zero = watch_of("gc.time / gc.count > 1", now);
  EXPECT_FALSE(by_zero.holds(now, nullptr));
  EXPECT_THAT(by_zero.explain(now, nullptr), HasSubstr("a division by 0 has no value"));
  const Snapshot some = at(2, 2);
  EXPECT_THAT(by_zero.explain(some, nullptr), Not(HasSubstr("division")));
}

TEST(Watch, NamesSomethingOfTheJvm) {
  const Snapshot now = at(2, 1);
  auto expression = Expression::parse("2 > 1");
  ASSERT_TRUE(expression);
  const auto watch = Watch::of(std::move(*expression), now);
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().category, ErrorCategory::kUsage);
}

TEST(Watch, AnUnknownNameHasItsNearest) {
  const Snapshot now = at(0, 10);
  auto watch = Watch::of(*Expression::parse("old.usde > 1"), now);
  ASSERT_FALSE(watch);
  EXPECT_EQ(exit_status(watch.error()), ExitStatus::kUsage);
  EXPECT_THAT(watch.error().message(), HasSubstr("did you mean old.used?"));
  auto text = Watch::of(*Expression::parse("sun.gc.collector.0.name > 1"), now);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message(), HasSubstr("is not a number"));
}

TEST(Watch, HasItsValuesWithUnits) {
  const Snapshot now = at(2, 10);
  const auto values = watch_of("old.share > 70% and gc.rate > 1", now).values(now, nullptr);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0].name, "old.share");
  EXPECT_EQ(values[0].value, 0.75);
  EXPECT_EQ(values[0].unit, "share");
  EXPECT_EQ(values[1].value, std::nullopt);
}

TEST(NamedCondition, HasANameInFrontOrNone) {
  EXPECT_EQ(named_condition("full heap: old.share > 90%").name, "full heap");
  EXPECT_EQ(named_condition("full heap: old.share > 90%").text, "old.share > 90%");
  EXPECT_EQ(named_condition("old.share > 90%").name, "");
  EXPECT_EQ(named_condition("old.share > 90%").shown(), "old.share > 90%");
}

TEST(LastingWatch, BeginsAgainAfterABreak) {
  using State = LastingWatch::State;
  LastingWatch watch(watch_of("gc.count > 3", at(0, 0)), std::chrono::seconds(2));
  EXPECT_EQ(watch.look(at(0, 4), nullptr), State::kHolds);
  EXPECT_EQ(watch.look(at(1, 3), nullptr), State::kFails);
  EXPECT_EQ(watch.look(at(2, 4), nullptr), State::kHolds);
  EXPECT_EQ(watch.look(at(3, 4), nullptr), State::kHolds) << "the break is not longer ago than two seconds";
  EXPECT_EQ(watch.look(at(4, 4), nullptr), State::kLasted);
}

TEST(LastingWatch, OfARateTakesTwoLooks) {
  using State = LastingWatch::State;
  LastingWatch watch(watch_of("gc.rate > 1", at(0, 0)), std::chrono::seconds(0));
  const Snapshot before = at(0, 0), now = at(1, 4);
  EXPECT_EQ(watch.look(before, nullptr), State::kUnknown);
  EXPECT_EQ(watch.look(now, &before), State::kLasted);
}

std::string refusal(std::string_view text) {
  const Snapshot now = at(2, 10);
  const auto watch = Watch::of(*Expression::parse(text), now);
  if (watch) return "";
  EXPECT_EQ(exit_status(watch.error()), ExitStatus::kUsage);
  EXPECT_THAT(watch.error().message(), Not(HasSubstr("\n")));
  return watch.error().text;
}

TEST(Watch, UnitsThatDoNotFitAreRefused) {
  EXPECT_EQ(refusal("heap.used > 5%"),
            "heap.used is in bytes, and 5% is a share: a size such as 64M fits, or heap.share for 5%");
  EXPECT_EQ(refusal("gc.count > 1 and 5% < gc.time"),
            "gc.time is in seconds, and 5% is a share: a time such as 10ms fits, or gc.pause_share for 5%");
  EXPECT_EQ(refusal("old.used > 10ms"), "old.used is in bytes, and 10ms is in seconds: a size such as 64M fits");
  EXPECT_EQ(refusal("old.share + 64K > 1"), "old.share is a share, and 64K is a size: a share such as 5% fits");
  EXPECT_EQ(refusal("not (gc.rate * 2 > 10ms)"),
            "gc.rate * 2 is per second, and 10ms is in seconds: a number without a unit fits");
  EXPECT_EQ(refusal("gc.count == 5%"), "gc.count is a count, and 5% is a share: a number without a unit fits");
  EXPECT_EQ(refusal("sun.gc.generation.1.space.0.used > 5%"),
            "sun.gc.generation.1.space.0.used is in bytes, and 5% is a share: a size such as 64M fits");
  EXPECT_EQ(refusal("(old.used - 1M) > gc.time"),
            "gc.time is in seconds, and (old.used - 1M) is in bytes: a time such as 10ms fits");
  EXPECT_EQ(refusal("rate(gc.time) > 1K"), "rate(gc.time) is a share, and 1K is a size: a share such as 5% fits");
}

TEST(Watch, UnitsThatFit) {
  for (const char* text :
       {"old.used > 5", "old.used > 5M", "gc.count > 1K", "old.used / old.max > 90%", "old.used > old.max * 90%",
        "old.used > 90% * old.max - 1M", "gc.time / uptime > 5%", "gc.time / gc.count > 10ms", "rate(old.used) > 10M",
        "rate(gc.count) > 2", "rate(gc.time) > 5%", "old.used / uptime > 1M", "full.count / gc.count > 5%",
        "-gc.time < 1s", "1 - old.share < 5%", "sun.gc.collector.0.time > 10ms", "1s / gc.time > 2"})
    EXPECT_EQ(refusal(text), "") << text;
}

}  // namespace
}  // namespace jtrace::perfdata
