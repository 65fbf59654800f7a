#include "session/document/event_builder.h"

#include <cstring>

#include "tests/unit/session/document/event_builder_fixture.h"

namespace jtrace::session {
namespace {

namespace record = trace::record;
using record::RecordKind;
using trace::ElementKind;

constexpr std::uint64_t kMilli = 1'000'000;

TEST_F(EventBuilderTest, DefinitionsComeBeforeTheirFirstUseTransitivelyAndOnce) {
  define(record::thread_definition(1, 10, "main"));
  define(record::thread_definition(2, 10, "loader"));
  define(record::class_definition(5, 11, "Ljava/util/HashMap;", 2));
  define(record::class_definition(6, 11, "LNode;"));
  define(record::method_definition(8, 11, 5, "resize"));
  define(record::stack_definition(3, 12, {{8, 704}, {8, -1}, {8, -2}}));
  for (std::uint64_t object = 1; object <= 2; ++object)
    event(RecordKind::kObjAlloc, 20 + object,
          record::ObjAllocRecord{.thread = 1, .object = object, .size = 24, .class_id = 6, .stack = 3});
  EXPECT_EQ(names(),
            (Names{"threadStart", "classDef", "threadStart", "classDef", "methodDef", "objAlloc", "objAlloc"}));
  const auto alloc = capture_.all<trace::ObjAlloc>()[0];
  EXPECT_EQ(alloc.contextData.view(),
            "java/util/HashMap.resize:704;java/util/HashMap.resize;java/util/HashMap.resize:native");
  EXPECT_EQ(capture_.all<trace::ClassDef>()[1].name.view(), "java/util/HashMap");
  EXPECT_EQ(capture_.all<trace::ClassDef>()[1].threadIdRef, trace::ThreadId(2));
}

class Allocations : public EventBuilderTest {
 protected:
  Allocations() : EventBuilderTest({.events = record::kAllocationEvent | record::kObjFreeEvent}) {}
};

TEST_F(Allocations, AnAllocationHasItsSiteAndIsKnownToTheNextDocument) {
  define(record::class_definition(5, 11, "LMade;"));
  define(record::method_definition(8, 11, 5, "make"));
  const auto alloc = [&](std::uint64_t object, std::uint64_t line) {
    event(RecordKind::kObjAlloc, 20 + object,
          record::ObjAllocRecord{.thread = 1, .object = object, .size = 24, .class_id = 5, .site = 8u << 16 | line});
  };
  alloc(1, 704);
  alloc(2, 0);
  EXPECT_EQ(capture_.all<trace::ObjAlloc>()[0].contextData.view(), "Made.make:704");
  EXPECT_EQ(capture_.all<trace::ObjAlloc>()[1].contextData.view(), "Made.make");
  EXPECT_TRUE(builder_.restart(30));
  event(RecordKind::kMonWait, 40, record::MonitorRecord{.thread = 1, .object = 1});
  ASSERT_EQ(capture_.all<trace::ObjDef>().size(), 1u);
  EXPECT_EQ(capture_.all<trace::ObjDef>()[0].size, trace::Number(24));
}

TEST_F(EventBuilderTest, CollationCountsWhatCanCarryIt) {
  define(record::thread_definition(1, 10, "main"));
  define(record::option_definition("jtrace.missing", "gc"));
  event(RecordKind::kThreadEnd, 20, record::ThreadRecord{.thread = 1});
  EXPECT_EQ(names(), (Names{"option", "threadStart", "threadEnd"}));
  EXPECT_EQ(capture_.all<trace::TraceStart>()[0].collationValue, trace::WordList(1));
  EXPECT_EQ(capture_.all<trace::ThreadStart>()[0].collationValue, trace::WordList(2));
  EXPECT_EQ(capture_.all<trace::ThreadEnd>()[0].collationValue, trace::WordList(3));
  EXPECT_EQ(capture_.all<trace::Option>()[0].traceIdRef.view(), "trace-id");
}

TEST_F(EventBuilderTest, TimesBecomeWallTimes) {
  event(RecordKind::kRuntimeShutdown, 1500, record::ThreadRecord{.thread = 1});
  EXPECT_EQ(capture_.all<trace::RuntimeShutdown>()[0].time.ns(), 5'000'001'500u);
}

class ThreadsBefore : public EventBuilderTest {
 protected:
  ThreadsBefore() : EventBuilderTest({.events = record::kThreadStartEvent}) {
    define(record::thread_definition(1, 10, "main", was(record::ThreadWas::kNative)));
    define(record::thread_definition(2, 10, "idle", was(record::ThreadWas::kParked)));
    define(record::thread_definition(3, 10, "odd", record::kThreadRanBefore));
  }
  static std::uint8_t was(record::ThreadWas state) {
    return static_cast<std::uint8_t>(record::kThreadRanBefore | static_cast<unsigned>(state)
                                                                    << record::kThreadStateShift);
  }
  void wait(std::uint64_t thread, std::uint64_t time) {
    event(RecordKind::kMonWait, time, record::MonitorRecord{.thread = thread}, record::kSleep);
  }
  // All states written since the last call, as "2 parked".
  std::vector<std::string> states() {
    std::vector<std::string> found;
    const auto options = capture_.all<trace::Option>();
    for (; seen_ < options.size(); ++seen_) {
      EXPECT_EQ(options[seen_].key.view(), "jtrace.threadState");
      found.emplace_back(options[seen_].value.view());
    }
    return found;
  }

 private:
  std::size_t seen_ = 0;
};

TEST_F(ThreadsBefore, WhatTheyDidIsWrittenAfterTheirStart) {
  wait(1, 20);
  EXPECT_EQ(names(), (Names{"threadStart", "option", "threadStart", "option", "threadStart", "monWait"}));
  EXPECT_EQ(states(), (Names{"1 native", "2 parked"}));
  EXPECT_TRUE(builder_.restart(30));
  EXPECT_EQ(states(), Names{"2 parked"});  // main has had an event since
  builder_.forget_thread_states();
  EXPECT_TRUE(builder_.restart(40));
  EXPECT_EQ(states(), Names{});
}

TEST_F(ThreadsBefore, WhoWasFasterHasNoStateOfBefore) {
  wait(1, 5);
  EXPECT_TRUE(builder_.on_time(20));
  EXPECT_EQ(states(), Names{"2 parked"});
}

TEST_F(EventBuilderTest, AShutdownOnAThreadThatHasEndedIsNobodys) {
  event(RecordKind::kThreadEnd, 20, record::ThreadRecord{.thread = 1});
  event(RecordKind::kRuntimeShutdown, 30, record::ThreadRecord{.thread = 1});
  event(RecordKind::kRuntimeShutdown, 40, record::ThreadRecord{.thread = 2});
  const auto shutdowns = capture_.all<trace::RuntimeShutdown>();
  EXPECT_FALSE(shutdowns[0].threadIdRef.present());
  EXPECT_EQ(shutdowns[1].threadIdRef, trace::ThreadId(2));
}

TEST_F(EventBuilderTest, WhatTheAgentCouldNotDefineIsDefinedByItsIdAlone) {
  event(RecordKind::kMonContendedEnter, 20, record::MonitorRecord{.thread = 9, .object = 4, .argument = 7},
        record::kHasOwner);
  EXPECT_EQ(names(), (Names{"threadStart", "objDef", "threadStart", "monContendedEnter"}));
  EXPECT_EQ(capture_.all<trace::MonContendedEnter>()[0].threadOwner, trace::ThreadId(7));
  EXPECT_EQ(builder_.made_up_definitions(), 3u);
}

TEST_F(EventBuilderTest, WaitedHasItsLength) {
  event(RecordKind::kMonWait, 10 * kMilli, record::MonitorRecord{.thread = 1, .object = 4, .argument = 5000});
  event(RecordKind::kMonWaited, 250 * kMilli, record::MonitorRecord{.thread = 1, .object = 4}, record::kTimedOut);
  EXPECT_EQ(capture_.all<trace::MonWait>()[0].timeout, 5000u);
  EXPECT_EQ(capture_.all<trace::MonWaited>()[0].timeout, 240u);
}

class Waits : public EventBuilderTest {
 protected:
  Waits() : EventBuilderTest({.events = record::kMonWaitEvent | record::kMonWaitedEvent}) {}
};

TEST_F(Waits, WhatBeganBeforeAPauseEndsInIt) {
  event(RecordKind::kMonWait, 10 * kMilli, record::MonitorRecord{.thread = 1, .object = 4});
  event(RecordKind::kMonContendedEnter, 10 * kMilli, record::MonitorRecord{.thread = 2, .object = 5});
  event(RecordKind::kMonWaited, 20 * kMilli, record::MonitorRecord{.thread = 1, .object = 4}, record::kWhilePaused);
  event(RecordKind::kMonContendedEntered, 20 * kMilli, record::MonitorRecord{.thread = 2, .object = 5},
        record::kWhilePaused);
  // These waits began in the pause.
  event(RecordKind::kMonWaited, 30 * kMilli, record::MonitorRecord{.thread = 1, .object = 4}, record::kWhilePaused);
  event(RecordKind::kMonContendedEntered, 30 * kMilli, record::MonitorRecord{.thread = 2, .object = 5},
        record::kWhilePaused);
  ASSERT_EQ(capture_.all<trace::MonWaited>().size(), 1u);
  EXPECT_EQ(capture_.all<trace::MonWaited>()[0].timeout, trace::Number(10));
  EXPECT_EQ(capture_.all<trace::MonContendedEntered>().size(), 1u);
}

TEST_F(Waits, OneThatBeganInAPauseEndsAfterItWithoutItsTime) {
  event(RecordKind::kMonWait, 10 * kMilli, record::MonitorRecord{.thread = 1, .object = 4});
  event(RecordKind::kMonWaited, 20 * kMilli, record::MonitorRecord{.thread = 1, .object = 4});
  builder_.forget_ended_waits();
  event(RecordKind::kMonWaited, 50 * kMilli, record::MonitorRecord{.thread = 1, .object = 4});
  ASSERT_EQ(capture_.all<trace::MonWaited>().size(), 2u);
  EXPECT_FALSE(capture_.all<trace::MonWaited>()[1].timeout.present());
}

TEST_F(Waits, AnEndWithoutABeginningIsOneThatBeganBeforeTheTraceOrTheJvmsOwn) {
  event(RecordKind::kMonWaited, 10 * kMilli, record::MonitorRecord{.thread = 1, .object = 4});
  event(RecordKind::kMonWaited, 20 * kMilli, record::MonitorRecord{.thread = 1, .object = 5});
  ASSERT_EQ(capture_.all<trace::MonWaited>().size(), 1u);
  EXPECT_FALSE(capture_.all<trace::MonWaited>()[0].timeout.present());
  EXPECT_EQ(capture_.all<trace::MonWaited>()[0].objIdRef, trace::ObjectId(4));
}

TEST_F(Waits, SleepsHaveNoObjectAndParksAnOwner) {
  event(RecordKind::kMonWait, 10 * kMilli, record::MonitorRecord{.thread = 1, .argument = 5}, record::kSleep);
  event(RecordKind::kMonWaited, 16 * kMilli, record::MonitorRecord{.thread = 1}, record::kSleep);
  event(RecordKind::kMonWait, 20 * kMilli, record::MonitorRecord{.thread = 1, .object = 4, .owner = 2}, record::kPark);
  event(RecordKind::kMonWaited, 30 * kMilli, record::MonitorRecord{.thread = 1, .object = 4}, record::kPark);
  event(RecordKind::kMonWait, 40 * kMilli, record::MonitorRecord{.thread = 1}, record::kPark);
  const auto waits = capture_.all<trace::MonWait>();
  ASSERT_EQ(waits.size(), 3u);
  EXPECT_EQ(waits[0].objIdRef, trace::ObjectId::sleep());
  EXPECT_EQ(waits[0].timeout, trace::Number(5));
  EXPECT_FALSE(waits[0].threadOwner.present());
  EXPECT_EQ(waits[1].objIdRef, trace::ObjectId(4));
  EXPECT_EQ(waits[1].threadOwner, trace::ThreadId(2));
  EXPECT_EQ(waits[2].objIdRef, trace::ObjectId::none());
  EXPECT_EQ(waits[2].threadOwner, trace::ThreadId(0));
  EXPECT_EQ(capture_.all<trace::MonWaited>()[0].timeout, trace::Number(6));
  EXPECT_EQ(capture_.all<trace::MonWaited>()[1].timeout, trace::Number(10));
}

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

TEST_F(EventBuilderTest, TheEndOfWhatTheDocumentDoesNotKnowIsLeftOut) {
  define(record::class_definition(5, 11, "LA;"));
  event(RecordKind::kClassUnload, 20, record::ObjectRecord{.id = 5, .thread = 0});
  event(RecordKind::kObjFree, 20, record::ObjectRecord{.id = 77, .thread = 0});
  EXPECT_EQ(names(), Names{});
}

TEST_F(Calls, TicketsAndDepthAreTheThreadsOwn) {
  run(1, 1);
  probe(RecordKind::kMethodEntry, 7);
  probe(RecordKind::kMethodEntry, 8);
  run(2, 2);
  probe(RecordKind::kMethodEntry, 7);
  builder_.on_producer(1);
  probe(RecordKind::kMethodExit, 8);
  probe(RecordKind::kMethodUnwind, 7);
  const auto entries = capture_.all<trace::MethodEntry>();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[1].ticket, trace::WordList(2));
  EXPECT_EQ(entries[1].stackDepth, trace::Number(2));
  EXPECT_EQ(entries[2].ticket, trace::WordList(1));
  EXPECT_EQ(entries[2].threadIdRef, trace::ThreadId(2));
  const auto exits = capture_.all<trace::MethodExit>();
  ASSERT_EQ(exits.size(), 2u);
  EXPECT_EQ(exits[0].ticket, trace::WordList(2));
  EXPECT_EQ(exits[1].ticket, trace::WordList(1));
  EXPECT_EQ(exits[1].classIdRef, trace::ClassId(5));
}

class Receivers : public Calls {
 protected:
  Receivers() : Calls(true) {
    define(record::method_definition(10, 11, 5, "main", "()V", 9));  // public static
    for (const std::uint64_t object : {70u, 71u}) define(record::object_definition(object, 11, 5, 16));
  }
  void object_probe(RecordKind kind, std::uint32_t method, std::uint64_t object) {
    event(kind, ++time_, record::ReceiverRecord{.object = object}, 0, method);
  }
  // "7 #70/1" for each entry and exit: method, object, sequenceCounter; "-": absent.
  template <class Element>
  static std::string said(const Element& call) {
    std::string text = std::to_string(call.methodIdRef.value()) + " ";
    text += call.objIdRef.present() ? "#" + std::to_string(call.objIdRef.value()) : "-";
    return text + "/" + (call.sequenceCounter.present() ? std::to_string(call.sequenceCounter.value_or(0)) : "-");
  }
  template <class Element>
  std::vector<std::string> all_said() const {
    std::vector<std::string> texts;
    for (const Element& each : capture_.all<Element>()) texts.push_back(said(each));
    return texts;
  }
};

TEST_F(Receivers, EntriesExitsAndTheEndOfAnObjectAreCounted) {
  run(1, 1);
  probe(RecordKind::kMethodEntry, 10);
  object_probe(RecordKind::kEntryOf, 7, 70);
  object_probe(RecordKind::kEntryOf, 8, 71);
  probe(RecordKind::kMethodExit, 8);
  run(2, 2);
  object_probe(RecordKind::kEntryOf, 8, 70);
  probe(RecordKind::kMethodUnwind, 8);
  builder_.on_producer(1);
  probe(RecordKind::kMethodExit, 7);
  probe(RecordKind::kMethodExit, 10);
  event(RecordKind::kObjFree, ++time_, record::ObjectRecord{.id = 70, .thread = 0});
  EXPECT_EQ(all_said<trace::MethodEntry>(), (Names{"10 #0/0", "7 #70/1", "8 #71/1", "8 #70/2"}));
  EXPECT_EQ(all_said<trace::MethodExit>(), (Names{"8 #71/2", "8 #70/3", "7 #70/4", "10 #0/0"}));
  EXPECT_EQ(capture_.all<trace::ObjDef>().size(), 2u);
  ASSERT_EQ(capture_.all<trace::ObjFree>().size(), 1u);
  EXPECT_EQ(capture_.all<trace::ObjFree>()[0].sequenceCounter, trace::Number(5));
}

TEST_F(Receivers, AConstructorsIsKnownAfterItsEntry) {
  run(1, 1);
  probe(RecordKind::kMethodEntry, 8);  // of a subclass
  probe(RecordKind::kMethodEntry, 7);
  object_probe(RecordKind::kReceiver, 7, 70);
  probe(RecordKind::kMethodExit, 7);
  object_probe(RecordKind::kReceiver, 8, 70);
  probe(RecordKind::kMethodUnwind, 8);
  probe(RecordKind::kMethodEntry, 9);  // super() did not return
  probe(RecordKind::kMethodUnwind, 9);
  object_probe(RecordKind::kReceiver, 7, 71);  // of no known call
  EXPECT_EQ(all_said<trace::MethodEntry>(), (Names{"8 -/-", "7 -/-", "9 -/-"}));
  EXPECT_EQ(all_said<trace::MethodExit>(), (Names{"7 #70/2", "8 #70/4", "9 -/-"}));
}

TEST_F(Receivers, AnObjectIsNotOverBeforeTheCallsOnIt) {
  run(1, 1);
  object_probe(RecordKind::kEntryOf, 7, 70);
  object_probe(RecordKind::kEntryOf, 7, 70);
  event(RecordKind::kObjFree, ++time_, record::ObjectRecord{.id = 70, .thread = 0});
  probe(RecordKind::kMethodExit, 7);
  probe(RecordKind::kMethodExit, 7);
  EXPECT_TRUE(capture_.all<trace::ObjFree>().empty());
  probe(RecordKind::kMethodEntry, 10);
  ASSERT_EQ(capture_.all<trace::ObjFree>().size(), 1u);
  EXPECT_EQ(capture_.all<trace::ObjFree>()[0].sequenceCounter, trace::Number(5));
  // Calls of which the rest is lost delay nothing.
  object_probe(RecordKind::kEntryOf, 7, 71);
  event(RecordKind::kObjFree, ++time_, record::ObjectRecord{.id = 71, .thread = 0});
  event(RecordKind::kGap, time_ + 1, record::GapRecord{.thread = 1, .from = time_}, 0, 1000);
  ++time_;
  EXPECT_TRUE(builder_.finish());
  EXPECT_EQ(capture_.all<trace::ObjFree>().size(), 2u);
}

TEST_F(Calls, ALateEntryHasTheTimeOfItsBeginning) {
  run(3, 1);
  event(RecordKind::kLateEntry, 200, record::LateEntryRecord{.start = 110}, 0, 7);
  event(RecordKind::kLateEntry, 200, record::LateEntryRecord{.start = 120}, 0, 8);
  time_ = 200;
  probe(RecordKind::kMethodExit, 8);
  probe(RecordKind::kMethodExit, 7);
  const auto entries = capture_.all<trace::MethodEntry>();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].time.ns(), 5'000'001'000u - 1000 + 110);
  EXPECT_EQ(entries[1].time.ns(), 5'000'001'000u - 1000 + 120);
  EXPECT_EQ(entries[1].stackDepth, trace::Number(2));
  EXPECT_EQ(capture_.all<trace::MethodExit>()[0].ticket, entries[1].ticket);
}

TEST_F(Receivers, OfALateEntryIsCountedWhereItIsWritten) {
  run(1, 1);
  event(RecordKind::kLateEntry, ++time_, record::LateEntryRecord{.start = 90}, 0, 9);  // a constructor before super()
  event(RecordKind::kLateEntryOf, ++time_, record::LateEntryOfRecord{.start = 91, .object = 70}, 0, 7);
  event(RecordKind::kLateEntryOf, ++time_, record::LateEntryOfRecord{.start = 92, .object = 70}, 0, 8);
  probe(RecordKind::kMethodExit, 8);
  probe(RecordKind::kMethodExit, 7);
  object_probe(RecordKind::kReceiver, 9, 70);
  probe(RecordKind::kMethodExit, 9);
  event(RecordKind::kObjFree, ++time_, record::ObjectRecord{.id = 70, .thread = 0});
  EXPECT_EQ(all_said<trace::MethodEntry>(), (Names{"9 -/-", "7 #70/1", "8 #70/2"}));
  EXPECT_EQ(all_said<trace::MethodExit>(), (Names{"8 #70/3", "7 #70/4", "9 #70/6"}));
  EXPECT_EQ(capture_.all<trace::MethodEntry>()[1].time.ns(), 5'000'001'000u - 1000 + 91);
  EXPECT_EQ(capture_.all<trace::ObjFree>()[0].sequenceCounter, trace::Number(7));
}

TEST_F(Calls, AStandstillIsWrittenBetweenTheEventsBeforeAndAfterIt) {
  run(1, 1);
  probe(RecordKind::kMethodEntry, 7);  // 101
  builder_.add_standstill(103, true);
  builder_.add_standstill(110, true);
  builder_.add_standstill(120, true);
  builder_.add_standstill(120, false);
  probe(RecordKind::kMethodEntry, 8);  // 102
  time_ = 121;
  probe(RecordKind::kMethodExit, 8);
  const Names said = names();
  EXPECT_EQ(Names(said.end() - 5, said.end()),
            (Names{"methodDef", "methodEntry", "processSuspend", "processResume", "methodExit"}));
  EXPECT_EQ(capture_.all<trace::ProcessSuspend>()[0].time.ns() - capture_.all<trace::MethodEntry>()[1].time.ns(), 1u);
  EXPECT_EQ(capture_.all<trace::MethodExit>()[0].time.ns() - capture_.all<trace::ProcessResume>()[0].time.ns(), 2u);
}

TEST_F(Calls, WhatComesLaterShowsThatTheProcessRuns) {
  run(1, 1);
  builder_.add_standstill(103, true);
  builder_.add_standstill(110, true);
  time_ = 111;
  probe(RecordKind::kMethodEntry, 7);   // 112: before it was seen running
  builder_.add_standstill(110, false);  // written already
  builder_.add_standstill(150, true);   // this too
  EXPECT_TRUE(builder_.finish());
  EXPECT_EQ(capture_.all<trace::ProcessSuspend>().size(), 2u);
  ASSERT_EQ(capture_.all<trace::ProcessResume>().size(), 1u);
  EXPECT_EQ(capture_.all<trace::MethodEntry>()[0].time.ns() - capture_.all<trace::ProcessResume>()[0].time.ns(), 2u);
}

// Calls as their callers see them; 20 stands for method 8.
class CallerSide : public EventBuilderTest {
 protected:
  explicit CallerSide(std::uint64_t events = record::kCallEvent) : EventBuilderTest({.events = events}) {
    define(record::thread_definition(1, 10, "caller"));
    define(record::class_definition(5, 11, "LMade;"));
    for (const std::uint64_t method : {7u, 9u}) define(record::method_definition(method, 11, 5, "work"));
    define(record::method_definition(8, 11, 5, "main", "()V", 9));  // public static
    define(record::stands_for_definition(20, 12, 8));
    define(record::stands_for_definition(21, 12, 9));
    builder_.on_producer(1);
    event(RecordKind::kThreadSwitch, 20, record::ThreadRecord{.thread = 1});
  }
  void probe(RecordKind kind, std::uint32_t method) { event(kind, ++time_, record::ProbeRecord{}, 0, method); }
  // "call 8 ticket 1 depth 1", "return 8 ticket 1", "entry 7 ticket 2 depth 1", "exit 7 ticket 2".
  std::vector<std::string> said() const {
    std::vector<std::string> texts;
    const auto of = [&](const char* what, const auto& element) {
      texts.push_back(what + (" " + std::to_string(element.methodIdRef.value())) + " ticket " +
                      std::to_string(element.ticket.value()));
    };
    for (const trace::Event& each : capture_.events()) {
      if (const auto* call = std::get_if<trace::MethodCall>(&each)) {
        of("call", *call);
        texts.back() += " depth " + std::to_string(call->stackDepth.value());
      }
      if (const auto* back = std::get_if<trace::MethodReturn>(&each)) of("return", *back);
      if (const auto* entry = std::get_if<trace::MethodEntry>(&each)) {
        of("entry", *entry);
        texts.back() += " depth " + std::to_string(entry->stackDepth.value());
      }
      if (const auto* exit = std::get_if<trace::MethodExit>(&each)) of("exit", *exit);
    }
    return texts;
  }
  std::uint64_t time_ = 100;
};

TEST_F(CallerSide, OfAStaticMethodHasNoReceiverAndFramesAreNotWritten) {
  probe(RecordKind::kFrameBegin, 7);
  probe(RecordKind::kCall, 20);
  probe(RecordKind::kFrameBegin, 8);
  probe(RecordKind::kCall, 21);
  probe(RecordKind::kReturn, 21);
  probe(RecordKind::kFrameEnd, 8);
  probe(RecordKind::kReturn, 20);
  probe(RecordKind::kFrameEnd, 7);
  EXPECT_EQ(said(),
            (Names{"call 8 ticket 1 depth 1", "call 9 ticket 2 depth 2", "return 9 ticket 2", "return 8 ticket 1"}));
  EXPECT_EQ(capture_.all<trace::MethodCall>()[0].objIdRef, trace::ObjectId::none());
  EXPECT_EQ(capture_.all<trace::MethodCall>()[0].classIdRef, trace::ClassId(5));
  EXPECT_FALSE(capture_.all<trace::MethodCall>()[1].objIdRef.present());
}

TEST_F(CallerSide, AnExceptionEndsWhatIsAboveTheFrameThatHandlesIt) {
  probe(RecordKind::kFrameBegin, 7);
  probe(RecordKind::kCall, 20);
  probe(RecordKind::kFrameBegin, 8);
  probe(RecordKind::kCall, 20);  // of method 8 itself
  probe(RecordKind::kFrameBegin, 8);
  probe(RecordKind::kCall, 21);  // of a method that is not traced
  probe(RecordKind::kFrameEnd, 8);
  probe(RecordKind::kHandler, 8);
  probe(RecordKind::kCall, 21);
  EXPECT_EQ(said(), (Names{"call 8 ticket 1 depth 1", "call 8 ticket 2 depth 2", "call 9 ticket 3 depth 3",
                           "return 9 ticket 3", "return 8 ticket 2", "call 9 ticket 4 depth 2"}));
  // A handler of a frame that began before the trace: no known call is still running.
  probe(RecordKind::kHandler, 9);
  EXPECT_EQ(said().size(), 8u);
  EXPECT_EQ(said().back(), "return 8 ticket 1");
  probe(RecordKind::kReturn, 20);
  EXPECT_EQ(builder_.orphan_exits(), 1u);
  EXPECT_EQ(said().size(), 8u);
}

TEST_F(CallerSide, AGapForgetsThem) {
  probe(RecordKind::kFrameBegin, 7);
  probe(RecordKind::kCall, 20);
  event(RecordKind::kGap, time_ + 1, record::GapRecord{.thread = 1, .from = time_}, 0, 1000);
  ++time_;
  probe(RecordKind::kReturn, 20);
  EXPECT_EQ(said(), (Names{"call 8 ticket 1 depth 1"}));
}

TEST_F(CallerSide, OneThatIsKnownByNameHasOnlyTheNameUntilMoreIsKnown) {
  define(record::class_definition(6, 11, "far/Away", 0, record::kClassNamed | record::kClassLoadedBefore));
  define(record::method_definition(30, 12, 6, "go", "(I)V", 8));
  probe(RecordKind::kCall, 30);
  define(record::stands_for_definition(30, 13, 9));
  probe(RecordKind::kReturn, 30);
  probe(RecordKind::kCall, 30);
  EXPECT_EQ(said(), (Names{"call 30 ticket 1 depth 0", "return 30 ticket 1", "call 9 ticket 2 depth 0"}));
  const auto classes = capture_.all<trace::ClassDef>();
  EXPECT_EQ(classes[0].name.view(), "far/Away");
  EXPECT_FALSE(classes[0].numMethods.present());
  const auto methods = capture_.all<trace::MethodDef>();
  EXPECT_EQ(methods[0].signature.view(), "(I)V");
  EXPECT_EQ(methods[0].classIdRef, trace::ClassId(6));
  EXPECT_FALSE(methods[0].isNative.has_value());
  EXPECT_EQ(builder_.made_up_definitions(), 0u);
}

class BothSides : public CallerSide {
 protected:
  BothSides() : CallerSide(record::kCallEvent | record::kMethodEvent | record::kThrowEvent | record::kCatchEvent) {}
};

TEST_F(BothSides, NestAndTheCatchEndsTheCalls) {
  probe(RecordKind::kMethodEntry, 7);
  probe(RecordKind::kCall, 20);
  probe(RecordKind::kMethodEntry, 8);
  event(RecordKind::kThrow, ++time_, record::ExceptionRecord{.handle = 77}, 0, 8);
  event(RecordKind::kThrow, ++time_, record::ExceptionRecord{.handle = 77}, record::kLeavesFrame, 8);
  probe(RecordKind::kMethodUnwind, 8);
  event(RecordKind::kCatch, ++time_, record::ExceptionRecord{.handle = 77}, 0, 7);
  probe(RecordKind::kMethodExit, 7);
  EXPECT_EQ(said(), (Names{"entry 7 ticket 1 depth 1", "call 8 ticket 2 depth 1", "entry 8 ticket 3 depth 2",
                           "exit 8 ticket 3", "return 8 ticket 2", "exit 7 ticket 1"}));
  const auto throws = capture_.all<trace::Throw>();
  ASSERT_EQ(throws.size(), 2u);
  EXPECT_EQ(throws[1].ticket, trace::WordList(1));
}

class CpuTimes : public Calls {
 protected:
  CpuTimes() : Calls(false, true) {}
  void timed_probe(RecordKind kind, std::uint32_t method, std::uint64_t cpu_time) {
    event(kind, ++time_, record::CpuTimeRecord{.cpu_time = cpu_time}, 0, method);
  }
};

TEST_F(CpuTimes, AreThoseOfTheRecord) {
  run(1, 1);
  event(RecordKind::kLateEntry, ++time_, record::LateEntryRecord{.start = 90, .cpu_time = 1000}, 0, 7);
  event(RecordKind::kEntryOf, ++time_, record::ReceiverRecord{.cpu_time = 1001}, 0, 8);
  timed_probe(RecordKind::kMethodEntry, 9, 1002);
  timed_probe(RecordKind::kLine, 9, 1003);
  timed_probe(RecordKind::kMethodUnwind, 8, 1004);  // the end of 9 is missing
  timed_probe(RecordKind::kMethodExit, 7, 0);       // not known
  probe(RecordKind::kMethodEntry, 7);               // a record without the attribute
  const auto entries = capture_.all<trace::MethodEntry>();
  ASSERT_EQ(entries.size(), 4u);
  for (const std::uint64_t i : {0u, 1u, 2u}) EXPECT_EQ(entries[i].threadCpuTime, trace::Number(1000 + i));
  EXPECT_FALSE(entries[3].threadCpuTime.present());
  EXPECT_EQ(capture_.all<trace::Line>()[0].threadCpuTime, trace::Number(1003));
  const auto exits = capture_.all<trace::MethodExit>();
  ASSERT_EQ(exits.size(), 3u);
  EXPECT_EQ(exits[0].threadCpuTime, trace::Number(1004));
  EXPECT_EQ(exits[1].threadCpuTime, trace::Number(1004));
  EXPECT_FALSE(exits[2].threadCpuTime.present());
}

TEST_F(Receivers, WithoutCpuTimeWhatARecordHasInItsPlaceIsNothing) {
  run(1, 1);
  event(RecordKind::kEntryOf, ++time_, record::ReceiverRecord{.object = 70, .cpu_time = 0xdead}, 0, 7);
  EXPECT_FALSE(capture_.all<trace::MethodEntry>()[0].threadCpuTime.present());
}

TEST_F(Calls, WhatEndedWithoutAWordEndsWithItsCaller) {
  run(1, 1);
  for (const std::uint32_t method : {7u, 8u, 9u}) probe(RecordKind::kMethodEntry, method);
  probe(RecordKind::kMethodExit, 7);
  const auto exits = capture_.all<trace::MethodExit>();
  ASSERT_EQ(exits.size(), 3u);
  EXPECT_EQ(exits[0].methodIdRef, trace::MethodId(9));
  EXPECT_EQ(exits[2].methodIdRef, trace::MethodId(7));
  EXPECT_EQ(exits[0].time.ns(), exits[2].time.ns());
}

TEST_F(Calls, ConstructorsThatTheThreadIsNoLongerInEnd) {
  for (const std::uint64_t method : {10u, 11u}) define(record::method_definition(method, 11, 5, "<init>"));
  run(1, 1);
  for (const std::uint32_t method : {7u, 10u, 11u, 11u, 11u}) probe(RecordKind::kMethodEntry, method);
  probe(RecordKind::kConstructor, 10);
  auto exits = capture_.all<trace::MethodExit>();
  ASSERT_EQ(exits.size(), 3u);
  EXPECT_EQ(exits[0].ticket, trace::WordList(5));
  EXPECT_EQ(exits[2].ticket, trace::WordList(3));
  EXPECT_EQ(exits[2].time.ns(), exits[0].time.ns());
  probe(RecordKind::kMethodEntry, 11);
  EXPECT_EQ(capture_.all<trace::MethodEntry>().back().stackDepth, trace::Number(3));
  probe(RecordKind::kConstructor, 0);
  EXPECT_EQ(capture_.all<trace::MethodExit>().size(), 5u);
  probe(RecordKind::kMethodEntry, 10);
  EXPECT_EQ(capture_.all<trace::MethodEntry>().back().stackDepth, trace::Number(2));  // 7 is not a constructor
}

TEST_F(CallerSide, EndsWithTheConstructorThatMadeIt) {
  define(record::method_definition(10, 11, 5, "<init>"));
  probe(RecordKind::kFrameBegin, 7);
  probe(RecordKind::kCall, 8);
  probe(RecordKind::kFrameBegin, 10);
  probe(RecordKind::kCall, 8);
  probe(RecordKind::kConstructor, 0);
  EXPECT_EQ(capture_.all<trace::MethodReturn>().size(), 1u);
  probe(RecordKind::kFrameBegin, 10);
  probe(RecordKind::kCall, 8);
  EXPECT_EQ(capture_.all<trace::MethodCall>().back().stackDepth, trace::Number(2));
}

TEST_F(Calls, AProbeThatAnEarlierTraceLeftWritesNothing) {
  run(1, 1);
  for (const RecordKind kind : {RecordKind::kLine, RecordKind::kMethodEntry, RecordKind::kMethodExit}) probe(kind, 6);
  EXPECT_EQ(names(), Names{});
  EXPECT_EQ(builder_.made_up_definitions(), 0u);
}

TEST_F(Calls, AGapForgetsTheCallsOfItsThreadAlone) {
  run(1, 1);
  probe(RecordKind::kMethodEntry, 7);
  run(2, 2);
  probe(RecordKind::kMethodEntry, 7);
  builder_.on_producer(1);
  event(RecordKind::kGap, time_ + 1, record::GapRecord{.thread = 1, .from = time_}, 0, 1000);
  ++time_;
  probe(RecordKind::kMethodExit, 7);
  EXPECT_EQ(builder_.orphan_exits(), 1u);
  probe(RecordKind::kMethodEntry, 8);
  EXPECT_EQ(capture_.all<trace::MethodEntry>().back().stackDepth, trace::Number(1));
  builder_.on_producer(2);
  probe(RecordKind::kMethodExit, 7);
  EXPECT_EQ(builder_.orphan_exits(), 1u);
}

TEST_F(Calls, OneThrowForEachFrameAndTheCatchingOne) {
  run(1, 1);
  const auto exception = [&](RecordKind kind, std::uint32_t method, std::uint16_t flags = 0) {
    event(kind, ++time_, record::ExceptionRecord{.object = 0, .handle = 77}, flags, method);
  };
  for (const std::uint32_t method : {7u, 8u}) probe(RecordKind::kMethodEntry, method);
  exception(RecordKind::kThrow, 8);                        // the athrow
  exception(RecordKind::kThrow, 8, record::kLeavesFrame);  // the same exception leaves the frame
  probe(RecordKind::kMethodUnwind, 8);
  exception(RecordKind::kCatch, 7);
  EXPECT_EQ(names(), (Names{"threadStart", "classDef", "methodDef", "methodEntry", "methodDef", "methodEntry", "throw",
                            "methodExit", "throw", "catch"}));
  EXPECT_EQ(capture_.all<trace::Throw>()[1].ticket, trace::WordList(1));
  EXPECT_EQ(capture_.all<trace::Catch>()[0].objHandle, trace::Number(77));
}

class Counts : public EventBuilderTest {
 protected:
  Counts() : EventBuilderTest({.events = record::kMethodCountEvent}) {}
};

TEST_F(Counts, OfAMethodWhoseClassIsGoneHaveTheirDefinitions) {
  define(record::class_definition(5, 11, "LNode;"));
  define(record::method_definition(8, 11, 5, "next"));
  event(RecordKind::kClassUnload, 20, record::ObjectRecord{.id = 5, .thread = 0});
  event(RecordKind::kMethodCount, 30, record::CountRecord{.count = 5'000'000'000}, 0, 8);
  EXPECT_EQ(names(), (Names{"classDef", "methodDef", "methodCount"}));
  const auto counted = capture_.all<trace::MethodCount>()[0];
  EXPECT_EQ(counted.count, trace::Number(5'000'000'000));
  EXPECT_EQ(counted.methodIdRef, trace::MethodId(8));
  EXPECT_EQ(builder_.made_up_definitions(), 0u);
}

TEST_F(EventBuilderTest, MalformedDefinitionsAreCounted) {
  define(record::thread_definition(1, 1, "main").substr(0, 25));
  EXPECT_EQ(builder_.malformed(), 1u);
}

struct EveryDefinition : EventBuilderTest {
  EveryDefinition() : EventBuilderTest({.events = record::kThreadStartEvent | record::kClassDefEvent}) {}
};
TEST_F(EveryDefinition, ComesAtItsTime) {
  define(record::thread_definition(1, 10, "main"));
  define(record::thread_definition(2, 30, "late"));
  define(record::class_definition(5, 35, "LNew;", 2, 0));
  define(record::class_definition(6, 36, "LOld;", 2, record::kClassLoadedBefore));
  event(RecordKind::kThreadEnd, 20, record::ThreadRecord{.thread = 1});
  EXPECT_EQ(names(), (Names{"threadStart", "threadEnd"}));
  EXPECT_TRUE(builder_.on_time(34));
  EXPECT_EQ(names(), (Names{"threadStart", "threadEnd", "threadStart"}));
  EXPECT_TRUE(builder_.finish());
  EXPECT_EQ(names(), (Names{"threadStart", "threadEnd", "threadStart", "classDef"}));
}
TEST_F(EveryDefinition, LiveThreadsAreDefinedAgainInTheNextDocument) {
  define(record::thread_definition(1, 10, "main"));
  define(record::thread_definition(2, 10, "ended"));
  event(RecordKind::kThreadEnd, 20, record::ThreadRecord{.thread = 2});
  EXPECT_TRUE(builder_.restart(30));
  EXPECT_EQ(capture_.all<trace::ThreadStart>().size(), 3u);
  EXPECT_EQ(capture_.all<trace::ThreadStart>()[2].threadId, trace::ThreadId(1));
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
