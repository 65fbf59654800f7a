// Collections: causes and figures, which come in records of their own, and frees within them.
#include "session/document/collection_events.h"

#include <cstring>

#include "tests/unit/session/document/event_builder_fixture.h"

namespace jtrace::session {
namespace {

namespace record = trace::record;
using record::RecordKind;

constexpr std::uint64_t kMilli = 1'000'000;

record::GcCauseRecord cause_record(const char* cause, std::uint32_t kinds) {
  record::GcCauseRecord made{.thread = 1, .used_before = 500, .kinds = kinds};
  std::strncpy(made.cause, cause, sizeof made.cause - 1);
  return made;
}
constexpr std::uint32_t kYoung = bit_of(record::CollectionKind::kYoung), kFull = bit_of(record::CollectionKind::kFull),
                        kMinor = bit_of(record::CollectionKind::kMinor),
                        kMajor = bit_of(record::CollectionKind::kMajor);

TEST_F(EventBuilderTest, AGcFinishSaysWhatThePauseWasFor) {
  const auto pause = [&](std::uint32_t number, const record::GcCauseRecord& cause, std::uint16_t flags) {
    event(RecordKind::kGcCause, 20 + number, cause, flags, number);
    event(RecordKind::kGcFinish, 20 + number, record::GcFinishRecord{.thread = 1}, record::kHasFigures, number);
    return capture_.all<trace::GcFinish>().back();
  };
  constexpr std::uint16_t kKnown = record::kHasCause | record::kHasKinds;
  auto finish = pause(1, cause_record("Allocation Failure", kYoung | kFull), kKnown | record::kHasUsedBefore);
  EXPECT_EQ(finish.cause, trace::Text("Allocation Failure"));
  EXPECT_EQ(finish.kind, trace::Text("young full"));
  EXPECT_EQ(finish.usedObjectSpaceBefore, 500u);
  finish = pause(2, cause_record("CMS Final Remark", kFull), kKnown);
  EXPECT_EQ(finish.kind, trace::Text("concurrent"));
  EXPECT_FALSE(finish.usedObjectSpaceBefore.present());
  finish = pause(3, cause_record("", 0), record::kHasKinds);
  EXPECT_FALSE(finish.cause.present());
  EXPECT_EQ(finish.kind, trace::Text("none"));
}

TEST_F(EventBuilderTest, ACauseThatWasLostIsNotKnown) {
  event(RecordKind::kGcCause, 20, cause_record("System.gc()", kFull), record::kHasCause | record::kHasKinds, 1);
  event(RecordKind::kGcFinish, 21, record::GcFinishRecord{.thread = 1}, record::kHasFigures, 2);
  EXPECT_FALSE(capture_.all<trace::GcFinish>().back().cause.present());
  EXPECT_FALSE(capture_.all<trace::GcFinish>().back().kind.present());
}

// Generational ZGC: the one counter of causes has that of the collection that began last.
TEST_F(EventBuilderTest, ACauseWithinAnotherIsTheMajorOnesOrUnknown) {
  std::uint32_t number = 0;
  const auto cause_of = [&](const char* text, std::uint32_t kind, bool within) {
    const auto flags =
        static_cast<std::uint16_t>(record::kHasCause | record::kHasKinds | (within ? record::kWithinAnother : 0));
    ++number;
    event(RecordKind::kGcCause, 20 + number, cause_record(text, kind), flags, number);
    event(RecordKind::kGcFinish, 20 + number, record::GcFinishRecord{.thread = 1}, record::kHasFigures, number);
    const trace::GcFinish finish = capture_.all<trace::GcFinish>().back();
    return std::string(finish.kind.view()) + ":" + std::string(finish.cause.view());
  };
  EXPECT_EQ(cause_of("Timer", kMajor, true), "major:");  // the trace began within it
  EXPECT_EQ(cause_of("Warmup", kMajor, false), "major:Warmup");
  EXPECT_EQ(cause_of("Allocation Rate", kMinor, true), ":");
  EXPECT_EQ(cause_of("Allocation Rate", kMajor, true), "major:Warmup");
  EXPECT_EQ(cause_of("Allocation Rate", kMinor, false), "minor:Allocation Rate");
}

TEST_F(EventBuilderTest, FiguresThatFollowReachTheirGcFinishAndNothingOvertakesIt) {
  event(RecordKind::kGcStart, 10, record::ThreadRecord{.thread = 1}, 0, 1);
  event(RecordKind::kGcFinish, 20, record::GcFinishRecord{.thread = 1}, record::kFiguresFollow, 1);
  event(RecordKind::kThreadEnd, 30, record::ThreadRecord{.thread = 2});
  EXPECT_EQ(capture_.all<trace::GcFinish>().size(), 0u);
  event(RecordKind::kGcFigures, 40, record::GcFinishRecord{.thread = 3, .used = 100, .total = 8192 + 24}, 0, 1);
  EXPECT_EQ(names(), (Names{"threadStart", "gcStart", "gcFinish", "threadStart", "threadEnd"}));
  EXPECT_EQ(capture_.all<trace::GcFinish>()[0].usedObjectSpace, 100u);
  EXPECT_EQ(capture_.all<trace::GcFinish>()[0].totalObjectSpace, 8192u);
  EXPECT_EQ(capture_.all<trace::GcFinish>()[0].time.ns(), 5'000'000'020u);
}

TEST_F(EventBuilderTest, WhatWasReadWithinThePauseStaysWhenFiguresFollow) {
  event(RecordKind::kGcFinish, 20, record::GcFinishRecord{.thread = 1, .used = 70},
        record::kFiguresFollow | record::kHasUsed, 1);
  event(RecordKind::kGcFigures, 40, record::GcFinishRecord{.used = 100, .total = 8192}, 0, 1);
  event(RecordKind::kGcFinish, 50, record::GcFinishRecord{.thread = 1, .used = 80},
        record::kFiguresFollow | record::kHasUsed, 2);
  EXPECT_TRUE(builder_.finish());
  const auto finishes = capture_.all<trace::GcFinish>();
  ASSERT_EQ(finishes.size(), 2u);
  EXPECT_EQ(finishes[0].usedObjectSpace, 70u);
  EXPECT_EQ(finishes[0].totalObjectSpace, 8192u);
  EXPECT_EQ(finishes[1].usedObjectSpace, 80u);
  EXPECT_FALSE(finishes[1].totalObjectSpace.present());
}

// The pauses of a collection of ZGC, each with the cause; then its end, with the number of its last pause.
class CycleTest : public EventBuilderTest {
 protected:
  void pause(const char* cause) {
    constexpr std::uint16_t kKnown = record::kHasCause | record::kHasKinds | record::kHasUsedBefore;
    ++number_;
    event(RecordKind::kGcStart, 10 * number_, record::ThreadRecord{.thread = 1}, 0, number_);
    event(RecordKind::kGcCause, 10 * number_ + 1, cause_record(cause, kMinor), kKnown, number_);
    event(RecordKind::kGcFinish, 10 * number_ + 2, record::GcFinishRecord{.thread = 1}, record::kFiguresFollow,
          number_);
    event(RecordKind::kGcFigures, 10 * number_ + 3, record::GcFinishRecord{.total = 8192}, 0, number_);
  }
  void end(std::uint32_t number, std::uint16_t flags = 0) {
    event(RecordKind::kCycleEnd, 10 * number_ + 5, record::GcFinishRecord{.used = 100, .total = 8192}, flags, number);
  }
  std::vector<std::string> collections() {
    std::vector<std::string> found;
    for (const trace::Option& each : capture_.all<trace::Option>())
      if (each.key == trace::Text("jtrace.collection")) found.emplace_back(each.value.view());
    return found;
  }
  std::uint32_t number_ = 0;
};

TEST_F(CycleTest, IsFromItsFirstPauseToItsEnd) {
  for (int i = 0; i < 3; ++i) pause("Allocation Rate");
  end(3);
  pause("Proactive");
  end(4);
  EXPECT_EQ(collections(),
            (std::vector<std::string>{"from=5.000000010,to=5.000000035,pauses=3,before=500,after=100,total=8192,kind="
                                      "minor,cause=Allocation Rate",
                                      "from=5.000000040,to=5.000000045,pauses=1,before=500,after=100,total=8192,kind="
                                      "minor,cause=Proactive"}));
}

TEST_F(CycleTest, HasNoBeginIfThatWasBeforeTheTrace) {
  pause("Timer");
  end(1, record::kIsPartial);
  EXPECT_EQ(collections(),
            (std::vector<std::string>{"to=5.000000015,pauses=1,after=100,total=8192,kind=minor,cause=Timer"}));
}

TEST_F(CycleTest, LeavesThePausesOfTheNextOneToThat) {
  pause("Timer");
  pause("Proactive");
  end(2, record::kAnotherRuns);
  pause("Proactive");
  end(3);
  ASSERT_EQ(collections().size(), 2u);
  EXPECT_NE(collections()[0].find("pauses=1,"), std::string::npos);
  EXPECT_NE(collections()[1].find("pauses=2,"), std::string::npos);
}

TEST_F(CycleTest, WithoutAPauseInTheTraceIsNotWritten) {
  end(0, record::kIsPartial);
  EXPECT_TRUE(collections().empty());
}

TEST_F(EventBuilderTest, FiguresThatDoNotComeAreNotWaitedForLong) {
  event(RecordKind::kGcFinish, 20, record::GcFinishRecord{.thread = 1}, record::kFiguresFollow, 1);
  event(RecordKind::kThreadEnd, 30, record::ThreadRecord{.thread = 2});
  EXPECT_TRUE(builder_.on_time(50 * kMilli));
  EXPECT_EQ(capture_.all<trace::GcFinish>().size(), 0u);
  EXPECT_TRUE(builder_.on_time(101 * kMilli));
  EXPECT_EQ(names(), (Names{"threadStart", "gcFinish", "threadStart", "threadEnd"}));
  EXPECT_FALSE(capture_.all<trace::GcFinish>()[0].usedObjectSpace.present());
}

TEST_F(EventBuilderTest, FiguresOfSeveralCollectionsInFlight) {
  for (std::uint32_t n = 1; n <= 3; ++n)
    event(RecordKind::kGcFinish, 20 + n, record::GcFinishRecord{.thread = 1}, record::kFiguresFollow, n);
  for (std::uint32_t n = 2; n <= 3; ++n)  // those of the first one have been overtaken
    event(RecordKind::kGcFigures, 30 + n, record::GcFinishRecord{.used = n, .total = 9}, 0, n);
  const auto finishes = capture_.all<trace::GcFinish>();
  ASSERT_EQ(finishes.size(), 3u);
  EXPECT_FALSE(finishes[0].usedObjectSpace.present());
  EXPECT_EQ(finishes[1].usedObjectSpace, 2u);
  EXPECT_EQ(finishes[2].usedObjectSpace, 3u);
}

TEST_F(EventBuilderTest, HeldEventsAreWrittenAtTheEnd) {
  event(RecordKind::kGcFinish, 20, record::GcFinishRecord{.thread = 1}, record::kFiguresFollow, 1);
  event(RecordKind::kThreadEnd, 30, record::ThreadRecord{.thread = 2});
  EXPECT_TRUE(builder_.finish());
  EXPECT_EQ(capture_.all<trace::ThreadEnd>().size(), 1u);
  EXPECT_EQ(capture_.all<trace::GcFinish>().size(), 1u);
}

struct NestedFrees : EventBuilderTest {
  NestedFrees() : EventBuilderTest({.nested_frees = true}) {}
};
TEST_F(NestedFrees, StandBetweenGcStartAndGcFinish) {
  const auto alloc = [&](std::uint64_t object) {
    event(RecordKind::kObjAlloc, 5, record::ObjAllocRecord{.thread = 1, .object = object, .size = 24});
  };
  for (std::uint64_t object = 1; object <= 4; ++object) alloc(object);
  event(RecordKind::kGcStart, 10, record::ThreadRecord{.thread = 1}, 0, 1);
  event(RecordKind::kGcFinish, 20, record::GcFinishRecord{.thread = 1}, 0, 1);
  event(RecordKind::kThreadEnd, 25, record::ThreadRecord{.thread = 1});
  event(RecordKind::kObjFree, 30, record::ObjectRecord{.id = 1, .thread = 1});
  event(RecordKind::kObjFree, 31, record::ObjectRecord{.id = 2, .thread = 1});
  EXPECT_TRUE(builder_.on_time(200 * kMilli));
  event(RecordKind::kObjFree, 300 * kMilli, record::ObjectRecord{.id = 3, .thread = 1});  // too late for its own pair
  event(RecordKind::kGcStart, 400 * kMilli, record::ThreadRecord{.thread = 1}, 0, 2);
  event(RecordKind::kGcFinish, 401 * kMilli, record::GcFinishRecord{.thread = 1}, 0, 2);
  event(RecordKind::kGcStart, 402 * kMilli, record::ThreadRecord{.thread = 1}, 0, 3);
  const Names all = names();
  EXPECT_EQ(Names(all.begin() + 5, all.end()), (Names{"gcStart", "objFree", "objFree", "gcFinish", "threadEnd",
                                                      "gcStart", "objFree", "gcFinish", "gcStart"}));
}

}  // namespace
}  // namespace jtrace::session
