#include "perfdata/gc_tracker.h"

#include <gtest/gtest.h>

#include <cstring>

#include "perfdata/gc_causes.h"
#include "perfdata/region_writer.h"
#include "perfdata/tick_clock.h"
#include "target/buffer_memory.h"

namespace jtrace::perfdata {
namespace {

// A region with the counters of collectors 0 and 2, which a test sets.
class FakeJvm {
 public:
  FakeJvm() {
    RegionWriter writer;
    for (const char* index : {"0", "2"}) {
      const std::string stem = std::string("sun.gc.collector.") + index;
      writer.add_long(stem + ".invocations", 0)
          .add_long(stem + ".lastEntryTime", 0)
          .add_long(stem + ".lastExitTime", 0);
    }
    bytes_ = writer.bytes();
    layout_ = std::make_shared<const Layout>(std::move(*Layout::parse(bytes_)));
  }
  void set(const std::string& name, std::int64_t value) {
    std::memcpy(bytes_.data() + layout_->find("sun.gc.collector." + name)->value_offset, &value, 8);
  }
  void start(std::int64_t number, std::int64_t entry) {
    set("0.invocations", number);
    set("0.lastEntryTime", entry);
  }
  void end(std::int64_t exit) { set("0.lastExitTime", exit); }
  Snapshot snapshot() const { return {bytes_, layout_}; }

 private:
  std::vector<std::byte> bytes_;
  std::shared_ptr<const Layout> layout_;
};

std::string seen(GcTracker& tracker, const FakeJvm& jvm) {
  std::string text;
  for (const GcPause& pause : tracker.observe(jvm.snapshot()))
    text += std::to_string(pause.collector) + "#" + std::to_string(pause.number) + ":" + std::to_string(pause.entry) +
            "-" + std::to_string(pause.exit) + " ";
  return text + "missed " + std::to_string(tracker.missed());
}

// One look at a JVM of this collector policy: kind and cause of what was found.
class NamedPauses : public testing::Test {
 protected:
  std::string after(const char* cause, const char* last, const std::vector<std::pair<int, std::int64_t>>& pauses,
                    const char* policy = "GarbageFirst", const char* second = "G1 full collection pauses") {
    const auto region = [&](bool then) {
      RegionWriter writer;
      writer.add_text("sun.gc.cause", then ? cause : "No GC").add_text("sun.gc.lastCause", then ? last : "No GC");
      writer.add_text("sun.gc.policy.name", policy);
      const char* names[] = {"young collection pauses", second, "G1 concurrent cycle pauses"};
      for (int i = 0; i < 3; ++i) {
        const std::string stem = "sun.gc.collector." + std::to_string(i);
        std::int64_t exit = 0;
        for (const auto& [collector, at] : pauses)
          if (then && collector == i) exit = at;
        writer.add_text(stem + ".name", names[i])
            .add_long(stem + ".invocations", exit != 0)
            .add_long(stem + ".lastEntryTime", exit != 0 ? exit - 5 : 0)
            .add_long(stem + ".lastExitTime", exit);
      }
      const std::vector<std::byte> bytes = writer.bytes();
      return Snapshot(bytes, std::make_shared<const Layout>(std::move(*Layout::parse(bytes))));
    };
    GcTracker tracker;
    tracker.observe(region(false));
    std::string text;
    for (const GcPause& pause : tracker.observe(region(true)))
      text += std::string(pause.kind) + ":" + pause.cause + " ";
    return text;
  }
};

TEST_F(NamedPauses, HaveTheLastCause) {
  EXPECT_EQ(after("No GC", "G1 Evacuation Pause", {{0, 10}}), "young:G1 Evacuation Pause ");
  EXPECT_EQ(after("No GC", "System.gc()", {{0, 10}, {1, 30}}), "young: full:System.gc() ");
}

TEST_F(NamedPauses, OfAPhaseHaveNone) {
  EXPECT_EQ(after("No GC", "G1 Evacuation Pause", {{0, 10}, {2, 30}}), "young:G1 Evacuation Pause concurrent:No GC ");
}

TEST_F(NamedPauses, AreUnknownWhileTheNextOneRuns) { EXPECT_EQ(after("System.gc()", "No GC", {{0, 10}}), "young: "); }

TEST(CollectionKind, OfShenandoahIsNotKnown) {
  const auto bytes = RegionWriter()
                         .add_text("sun.gc.collector.0.name", "Shenandoah partial")
                         .add_text("sun.gc.collector.1.name", "Shenandoah full")
                         .bytes();
  const Snapshot snapshot(bytes, std::make_shared<const Layout>(std::move(*Layout::parse(bytes))));
  EXPECT_EQ(collection_kind(snapshot, 0), "");
  EXPECT_EQ(collection_kind(snapshot, 1), "");
}

TEST_F(NamedPauses, OfShenandoahAreNotToldFromItsPhases) {
  EXPECT_EQ(after("No GC", "Concurrent GC", {{1, 10}}, "", "Shenandoah full"), "");
}

TEST_F(NamedPauses, OfCmsInJdk8AreNotFull) {
  EXPECT_EQ(after("No GC", "CMS Final Remark", {{1, 10}}, "ParNew:CMS", "CMS"), "concurrent:CMS Final Remark ");
}

TEST(GcTracker, WhatWasBeforeTheFirstLookIsNotReported) {
  FakeJvm jvm;
  GcTracker tracker;
  jvm.start(7, 100);
  jvm.end(110);
  EXPECT_EQ(seen(tracker, jvm), "missed 0");
  EXPECT_EQ(seen(tracker, jvm), "missed 0");
  jvm.start(8, 200);
  jvm.end(210);
  EXPECT_EQ(seen(tracker, jvm), "0#8:200-210 missed 0");
  EXPECT_EQ(tracker.seen(), 1);
}

TEST(GcTracker, APauseThatRunsIsReportedWhenItEnds) {
  FakeJvm jvm;
  GcTracker tracker;
  jvm.start(1, 50);
  EXPECT_EQ(seen(tracker, jvm), "missed 0");
  jvm.end(60);
  EXPECT_EQ(seen(tracker, jvm), "0#1:50-60 missed 0");
  jvm.start(2, 70);
  EXPECT_EQ(seen(tracker, jvm), "missed 0");
  EXPECT_EQ(seen(tracker, jvm), "missed 0");
  jvm.end(80);
  EXPECT_EQ(seen(tracker, jvm), "0#2:70-80 missed 0");
}

TEST(GcTracker, PausesBetweenTwoLooksAreCounted) {
  FakeJvm jvm;
  GcTracker tracker;
  seen(tracker, jvm);
  jvm.start(5, 500);
  jvm.end(510);
  EXPECT_EQ(seen(tracker, jvm), "0#5:500-510 missed 4");
  EXPECT_EQ(tracker.newly_missed(), 4);
  EXPECT_EQ(seen(tracker, jvm), "missed 4");
  EXPECT_EQ(tracker.newly_missed(), 0);
}

TEST(GcTracker, TheNextPauseRunsAlready) {
  FakeJvm jvm;
  GcTracker tracker;
  seen(tracker, jvm);
  jvm.start(1, 10);
  EXPECT_EQ(seen(tracker, jvm), "missed 0");  // 1 is running
  jvm.end(20);
  jvm.start(2, 30);
  EXPECT_EQ(seen(tracker, jvm), "0#1:10-20 missed 0");  // its start was seen before
  jvm.end(40);
  jvm.start(3, 50);
  jvm.end(60);
  jvm.start(4, 70);
  EXPECT_EQ(seen(tracker, jvm), "missed 2");  // the end of 2 and the start of 3 were overwritten
  jvm.end(80);
  EXPECT_EQ(seen(tracker, jvm), "0#4:70-80 missed 2");
  EXPECT_EQ(tracker.seen() + tracker.missed(), 4);
}

TEST(GcTracker, InvocationsComeBeforeTheTimes) {
  FakeJvm jvm;
  GcTracker tracker;
  jvm.start(1, 10);
  jvm.end(20);
  seen(tracker, jvm);
  jvm.set("0.invocations", 2);  // read between the two writes
  EXPECT_EQ(seen(tracker, jvm), "missed 0");
  jvm.start(2, 30);
  jvm.end(40);
  EXPECT_EQ(seen(tracker, jvm), "0#2:30-40 missed 0");
}

TEST(GcTracker, APauseThatBeginsWithinAnotherDoesNotEndItBeforeItsStart) {
  FakeJvm jvm;
  GcTracker tracker;
  jvm.start(1, 10);
  jvm.end(20);
  seen(tracker, jvm);
  jvm.start(2, 100);
  EXPECT_EQ(seen(tracker, jvm), "missed 0");  // the cycle runs
  jvm.start(3, 110);
  EXPECT_EQ(seen(tracker, jvm), "missed 1");  // so does a pause in it; the last exit is still that of 1
  jvm.end(120);
  EXPECT_EQ(seen(tracker, jvm), "0#3:110-120 missed 1");
  jvm.end(200);  // the cycle's
  EXPECT_EQ(seen(tracker, jvm), "missed 1");
  jvm.start(4, 300);
  jvm.end(310);
  EXPECT_EQ(seen(tracker, jvm), "0#4:300-310 missed 1");
}

// The look stood still between the number and the times: those are of the next pause.
TEST(GcTracker, ATornLookDoesNotMakeAPauseThatEndsBeforeItsStart) {
  FakeJvm jvm;
  GcTracker tracker;
  seen(tracker, jvm);
  jvm.start(1, 30);  // the number of the first, the start of the second
  jvm.end(20);
  EXPECT_EQ(seen(tracker, jvm), "missed 0");
  jvm.start(2, 30);
  EXPECT_EQ(seen(tracker, jvm), "missed 1");
  jvm.end(40);
  EXPECT_EQ(seen(tracker, jvm), "0#2:30-40 missed 1");
}

TEST(GcTracker, CollectorsWithGapsInTheirNumbers) {
  FakeJvm jvm;
  GcTracker tracker;
  seen(tracker, jvm);
  jvm.set("2.invocations", 1);
  jvm.set("2.lastEntryTime", 5);
  jvm.set("2.lastExitTime", 6);
  jvm.start(1, 7);
  jvm.end(8);
  EXPECT_EQ(seen(tracker, jvm), "2#1:5-6 0#1:7-8 missed 0");
}

TEST(TickClock, ObservationsNarrowTheGuessDown) {
  TickClock clock(1'000'000'000, 1e9);                     // an estimate; the true value is 1'004'000'000
  clock.observe(1'000'000, 1'004'500'000, 1'005'500'000);  // at 1'005'000'000
  EXPECT_GE(clock.zero(), 1'003'400'000);
  EXPECT_LE(clock.zero(), 1'004'500'000);
  clock.observe(9'000'000, 1'012'990'000, 1'013'990'000);
  EXPECT_GE(clock.zero(), 1'003'890'000);
  clock.observe(10'000'000, 1'013'010'000, 1'014'010'000);
  EXPECT_LE(clock.zero(), 1'004'010'000);
  EXPECT_EQ(clock.monotonic_of(5), clock.zero() + 5);
}

TEST(TickClock, AContradictionStartsItAnew) {
  TickClock clock(0, 1e9);
  clock.observe(10, 1'000'000, 1'000'100);
  clock.observe(20, 9'000'000, 9'000'100);
  EXPECT_EQ(clock.zero(), 9'000'080);
}

TEST(TickClock, TicksNeedNotBeNanoseconds) { EXPECT_EQ(TickClock(100, 1000).monotonic_of(2), 2'000'100); }

}  // namespace
}  // namespace jtrace::perfdata
