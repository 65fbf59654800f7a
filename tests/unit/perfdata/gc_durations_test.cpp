#include "perfdata/gc_durations.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "perfdata/region_writer.h"

namespace jtrace::perfdata {
namespace {

constexpr std::int64_t kMillis = 1'000'000;  // ticks, which are ns

// A look at a JVM whose collector 0 has ended `count` pauses that took `time` ms in all, the last one 5 ms.
struct Look {
  std::int64_t count = 0, time = 0;
  const char* cause = "No GC";
  std::uint64_t minute = 0;
};

void observe(GcDurations& durations, const Look& look) {
  RegionWriter writer;
  writer.add_text("sun.gc.cause", "No GC").add_text("sun.gc.lastCause", look.cause);
  writer.add_text("sun.gc.collector.0.name", "Serial young collection pauses");
  const std::int64_t entry = look.count * 100 * kMillis;
  writer.add_long("sun.gc.collector.0.invocations", look.count)
      .add_long("sun.gc.collector.0.time", look.time * kMillis)
      .add_long("sun.gc.collector.0.lastEntryTime", entry)
      .add_long("sun.gc.collector.0.lastExitTime", entry + 5 * kMillis);
  const auto bytes = writer.bytes();
  Snapshot snapshot{bytes, std::make_shared<const Layout>(std::move(*Layout::parse(bytes)))};
  snapshot.monotonic_ns = (look.minute + 10) * 60 * kNanosPerSecond;
  durations.observe(snapshot);
}

std::string causes(const GcDurations& durations) {
  std::string text;
  for (const GcDurations::OfCause& each : durations.by_cause(0)) {
    text += each.cause + " " + std::to_string(each.count) + " " +
            std::to_string(static_cast<int>(each.seconds * 1e3 + 0.5));
    if (each.longest) text += " longest " + std::to_string(static_cast<int>(*each.longest * 1e3 + 0.5));
    text += "; ";
  }
  return text;
}

TEST(GcDurations, CausesTogetherAreTheCounters) {
  GcDurations durations;
  observe(durations, {10, 70});
  EXPECT_EQ(causes(durations), "unknown 10 70; ");
  observe(durations, {11, 76, "Allocation Failure"});
  EXPECT_EQ(causes(durations), "Allocation Failure 1 6 longest 5; unknown 10 70; ");
  // Of two between two looks only the number is known.
  observe(durations, {13, 90, "System.gc()"});
  EXPECT_EQ(causes(durations), "Allocation Failure 1 6 longest 5; unknown 12 84; ");
  observe(durations, {14, 95, "System.gc()"});
  EXPECT_EQ(causes(durations), "Allocation Failure 1 6 longest 5; System.gc() 1 5 longest 5; unknown 12 84; ");
}

TEST(GcDurations, TheTimeMayComeALookLater) {
  GcDurations durations;
  observe(durations, {1, 5, "Allocation Failure"});
  observe(durations, {2, 5, "Allocation Failure"});
  observe(durations, {2, 12, "Allocation Failure"});
  EXPECT_EQ(causes(durations), "Allocation Failure 1 7 longest 5; unknown 1 5; ");
}

TEST(GcDurations, TheLongestPauseIsForgottenAfterMinutes) {
  GcDurations durations;
  observe(durations, {1, 5});
  observe(durations, {2, 10, "Allocation Failure", 0});
  observe(durations, {2, 10, "Allocation Failure", 2});
  EXPECT_EQ(causes(durations), "Allocation Failure 1 5 longest 5; unknown 1 5; ");
  observe(durations, {2, 10, "Allocation Failure", 3});
  EXPECT_EQ(causes(durations), "Allocation Failure 1 5 longest 0; unknown 1 5; ");
}

// Of a JVM that writes anything: under UBSan nothing is undefined.
TEST(GcDurations, NumbersWrapAround) {
  constexpr std::int64_t kLeast = INT64_MIN, kMost = INT64_MAX;
  GcDurations durations;
  for (const std::int64_t number : {std::int64_t{0}, kMost, kLeast, std::int64_t{-1}, kMost, std::int64_t{5}}) {
    RegionWriter writer;
    for (const char* name : {"invocations", "time", "lastEntryTime", "lastExitTime"})
      writer.add_long(std::string("sun.gc.collector.0.") + name, number);
    const auto bytes = writer.bytes();
    durations.observe({bytes, std::make_shared<const Layout>(std::move(*Layout::parse(bytes)))});
  }
  EXPECT_EQ(durations.by_cause(0).size(), 1u);
  EXPECT_EQ(durations.by_cause(0)[0].count, 5);
}

TEST(GcDurations, TextsThatAreNoCausesDoNotGrowWithoutBound) {
  GcDurations durations;
  observe(durations, {0, 0});
  for (int i = 1; i <= 1000; ++i) observe(durations, {i, 5 * i, ("cause " + std::to_string(i)).c_str()});
  EXPECT_LE(durations.by_cause(0).size(), 65u);
  std::int64_t count = 0;
  for (const GcDurations::OfCause& each : durations.by_cause(0)) count += each.count;
  EXPECT_EQ(count, 1000);
}

}  // namespace
}  // namespace jtrace::perfdata
