// Calls as callouts write them: tickets, depth, what ends without a record of its own, processor time.
#include "session/document/call_events.h"

#include "tests/unit/session/document/event_builder_fixture.h"
#include "trace/exception_value.h"

namespace jtrace::session {
namespace {

namespace record = trace::record;
using record::RecordKind;

TEST_F(Calls, TicketsAndDepthAreTheThreadsOwn) {
  run(1, 1);
  callout(RecordKind::kMethodEntry, 7);
  callout(RecordKind::kMethodEntry, 8);
  run(2, 2);
  callout(RecordKind::kMethodEntry, 7);
  builder_.on_producer(1);
  callout(RecordKind::kMethodExit, 8);
  callout(RecordKind::kMethodUnwind, 7);
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
  EXPECT_EQ(trace::exception_of(exits[0]), nullptr);
  ASSERT_NE(trace::exception_of(exits[1]), nullptr);
  EXPECT_FALSE(trace::exception_of(exits[1])->objIdRef.present());
}

TEST_F(Calls, ALateEntryHasTheTimeOfItsBeginning) {
  run(3, 1);
  event(RecordKind::kLateEntry, 200, record::LateEntryRecord{.start = 110}, 0, 7);
  event(RecordKind::kLateEntry, 200, record::LateEntryRecord{.start = 120}, 0, 8);
  time_ = 200;
  callout(RecordKind::kMethodExit, 8);
  callout(RecordKind::kMethodExit, 7);
  const auto entries = capture_.all<trace::MethodEntry>();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].time.ns(), 5'000'001'000u - 1000 + 110);
  EXPECT_EQ(entries[1].time.ns(), 5'000'001'000u - 1000 + 120);
  EXPECT_EQ(entries[1].stackDepth, trace::Number(2));
  EXPECT_EQ(capture_.all<trace::MethodExit>()[0].ticket, entries[1].ticket);
}

TEST_F(Calls, AStandstillIsWrittenBetweenTheEventsBeforeAndAfterIt) {
  run(1, 1);
  callout(RecordKind::kMethodEntry, 7);  // 101
  builder_.add_standstill(103, true);
  builder_.add_standstill(110, true);
  builder_.add_standstill(120, true);
  builder_.add_standstill(120, false);
  callout(RecordKind::kMethodEntry, 8);  // 102
  time_ = 121;
  callout(RecordKind::kMethodExit, 8);
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
  callout(RecordKind::kMethodEntry, 7);  // 112: before it was seen running
  builder_.add_standstill(110, false);   // written already
  builder_.add_standstill(150, true);    // this too
  EXPECT_TRUE(builder_.finish());
  EXPECT_EQ(capture_.all<trace::ProcessSuspend>().size(), 2u);
  ASSERT_EQ(capture_.all<trace::ProcessResume>().size(), 1u);
  EXPECT_EQ(capture_.all<trace::MethodEntry>()[0].time.ns() - capture_.all<trace::ProcessResume>()[0].time.ns(), 2u);
}

class CpuTimes : public Calls {
 protected:
  CpuTimes() : Calls(false, true) {}
  void timed_callout(RecordKind kind, std::uint32_t method, std::uint64_t cpu_time) {
    event(kind, ++time_, record::CpuTimeRecord{.cpu_time = cpu_time}, 0, method);
  }
};

TEST_F(CpuTimes, AreThoseOfTheRecord) {
  run(1, 1);
  event(RecordKind::kLateEntry, ++time_, record::LateEntryRecord{.start = 90, .cpu_time = 1000}, 0, 7);
  event(RecordKind::kEntryOf, ++time_, record::ReceiverRecord{.cpu_time = 1001}, 0, 8);
  timed_callout(RecordKind::kMethodEntry, 9, 1002);
  timed_callout(RecordKind::kLine, 9, 1003);
  timed_callout(RecordKind::kMethodUnwind, 8, 1004);  // the end of 9 is missing
  timed_callout(RecordKind::kMethodExit, 7, 0);       // not known
  callout(RecordKind::kMethodEntry, 7);               // a record without the attribute
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
  for (const std::uint64_t i : {0u, 1u}) EXPECT_NE(trace::exception_of(exits[i]), nullptr);
  EXPECT_EQ(trace::exception_of(exits[2]), nullptr);
}

TEST_F(Calls, WhatEndedWithoutAWordEndsWithItsCaller) {
  run(1, 1);
  for (const std::uint32_t method : {7u, 8u, 9u}) callout(RecordKind::kMethodEntry, method);
  callout(RecordKind::kMethodExit, 7);
  const auto exits = capture_.all<trace::MethodExit>();
  ASSERT_EQ(exits.size(), 3u);
  EXPECT_EQ(exits[0].methodIdRef, trace::MethodId(9));
  EXPECT_EQ(exits[2].methodIdRef, trace::MethodId(7));
  EXPECT_EQ(exits[0].time.ns(), exits[2].time.ns());
}

class LeftCalls : public Calls {
 protected:
  LeftCalls() {
    for (const std::uint64_t method : {20u, 21u, 22u}) define(record::method_definition(method, 11, 5, "<init>"));
    run(1, 1);
    for (const std::uint32_t method : {7u, 20u, 21u, 22u}) callout(RecordKind::kMethodEntry, method);
    callout(RecordKind::kMethodUnwind, 22);
  }
  // How long before the exit of 7 that of 20 was.
  std::uint64_t early() {
    time_ += 500;
    callout(RecordKind::kMethodExit, 7);
    std::uint64_t inner = 0, outer = 0;
    for (const trace::MethodExit& exit : capture_.all<trace::MethodExit>()) {
      if (exit.methodIdRef == trace::MethodId(20)) {
        inner = exit.time.ns();
        EXPECT_NE(trace::exception_of(exit), nullptr);
      }
      if (exit.methodIdRef == trace::MethodId(7)) outer = exit.time.ns();
    }
    return outer - inner;
  }
};

// Constructors whose super() throws: no callout sees the exception leave them.
TEST_F(LeftCalls, EndWhenTheExceptionLeftTheCallee) {
  EXPECT_EQ(early(), 501u);
  const auto exits = capture_.all<trace::MethodExit>();
  ASSERT_EQ(exits.size(), 4u);
  EXPECT_EQ(exits[1].time.ns(), exits[0].time.ns());
  EXPECT_EQ(trace::exception_of(exits[3]), nullptr);
}

// What comes after another event of the thread would go back in time.
TEST_F(LeftCalls, EndWhenTheyAreFoundAfterAnyOtherEvent) {
  callout(RecordKind::kLine, 7);
  EXPECT_EQ(early(), 0u);
}

TEST_F(LeftCalls, OfAnotherThreadAreNotTheirs) {
  run(2, 2);
  callout(RecordKind::kLine, 7);
  run(1, 1);
  EXPECT_GT(early(), 500u);
}

// The constructor has caught the exception of another object's constructor.
TEST_F(LeftCalls, OnesThatGoOnAreNotAmongThem) {
  callout(RecordKind::kMethodExit, 21);
  EXPECT_EQ(early(), 0u);
}

TEST_F(Calls, ACatchEndsTheCallsAboveItsMethod) {
  run(1, 1);
  for (const std::uint32_t method : {7u, 8u, 9u}) callout(RecordKind::kMethodEntry, method);
  event(RecordKind::kCatch, ++time_, record::ExceptionRecord{.handle = 77}, 0, 7);
  const auto exits = capture_.all<trace::MethodExit>();
  ASSERT_EQ(exits.size(), 2u);
  EXPECT_EQ(exits[1].methodIdRef, trace::MethodId(8));
  EXPECT_NE(trace::exception_of(exits[1]), nullptr);
}

TEST_F(Calls, ALateUnwindHasTheTimeAtWhichTheCallHadEnded) {
  run(1, 1);
  event(RecordKind::kLateEntry, 200, record::LateEntryRecord{.start = 110}, 0, 7);
  event(RecordKind::kLateUnwind, 300, record::LateUnwindRecord{.end = 150}, 0, 7);
  event(RecordKind::kLateUnwind, 300, record::LateUnwindRecord{.end = 150}, 0, 8);
  const auto exits = capture_.all<trace::MethodExit>();
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].time.ns(), 5'000'001'000u - 1000 + 150);
  EXPECT_NE(trace::exception_of(exits[0]), nullptr);
  EXPECT_EQ(builder_.orphan_exits(), 1u);
}

TEST_F(Calls, ConstructorsThatTheThreadIsNoLongerInEnd) {
  for (const std::uint64_t method : {10u, 11u}) define(record::method_definition(method, 11, 5, "<init>"));
  run(1, 1);
  for (const std::uint32_t method : {7u, 10u, 11u, 11u, 11u}) callout(RecordKind::kMethodEntry, method);
  callout(RecordKind::kConstructor, 10);
  auto exits = capture_.all<trace::MethodExit>();
  ASSERT_EQ(exits.size(), 3u);
  EXPECT_EQ(exits[0].ticket, trace::WordList(5));
  EXPECT_EQ(exits[2].ticket, trace::WordList(3));
  EXPECT_EQ(exits[2].time.ns(), exits[0].time.ns());
  for (const trace::MethodExit& exit : exits) EXPECT_NE(trace::exception_of(exit), nullptr);
  callout(RecordKind::kMethodEntry, 11);
  EXPECT_EQ(capture_.all<trace::MethodEntry>().back().stackDepth, trace::Number(3));
  callout(RecordKind::kConstructor, 0);
  EXPECT_EQ(capture_.all<trace::MethodExit>().size(), 5u);
  callout(RecordKind::kMethodEntry, 10);
  EXPECT_EQ(capture_.all<trace::MethodEntry>().back().stackDepth, trace::Number(2));  // 7 is not a constructor
}

TEST_F(Calls, ACalloutThatAnEarlierTraceLeftWritesNothing) {
  run(1, 1);
  for (const RecordKind kind : {RecordKind::kLine, RecordKind::kMethodEntry, RecordKind::kMethodExit}) callout(kind, 6);
  EXPECT_EQ(names(), Names{});
  EXPECT_EQ(builder_.made_up_definitions(), 0u);
}

TEST_F(Calls, AGapForgetsTheCallsOfItsThreadAlone) {
  run(1, 1);
  callout(RecordKind::kMethodEntry, 7);
  run(2, 2);
  callout(RecordKind::kMethodEntry, 7);
  builder_.on_producer(1);
  event(RecordKind::kGap, time_ + 1, record::GapRecord{.thread = 1, .from = time_}, 0, 1000);
  ++time_;
  callout(RecordKind::kMethodExit, 7);
  EXPECT_EQ(builder_.orphan_exits(), 1u);
  callout(RecordKind::kMethodEntry, 8);
  EXPECT_EQ(capture_.all<trace::MethodEntry>().back().stackDepth, trace::Number(1));
  builder_.on_producer(2);
  callout(RecordKind::kMethodExit, 7);
  EXPECT_EQ(builder_.orphan_exits(), 1u);
}

// A quick call that is not recorded (--slower-than) is left by an exception of which only the throw is.
TEST_F(Calls, AnExitNamesTheExceptionThatLeftItsOwnMethod) {
  run(1, 1);
  for (const std::uint32_t method : {7u, 8u}) callout(RecordKind::kMethodEntry, method);
  const auto leave = [&](std::uint32_t method, std::uint64_t object) {
    event(RecordKind::kThrow, ++time_, record::ExceptionRecord{.object = object, .handle = 77}, record::kLeavesFrame,
          method);
  };
  leave(9, 31);
  callout(RecordKind::kMethodUnwind, 8);
  leave(7, 32);
  callout(RecordKind::kMethodUnwind, 7);
  const auto exits = capture_.all<trace::MethodExit>();
  ASSERT_EQ(exits.size(), 2u);
  EXPECT_FALSE(trace::exception_of(exits[0])->objIdRef.present());
  EXPECT_EQ(trace::exception_of(exits[1])->objIdRef, trace::ObjectId(32));
}

TEST_F(Calls, OneThrowForEachFrameAndTheCatchingOne) {
  run(1, 1);
  const auto exception = [&](RecordKind kind, std::uint32_t method, std::uint16_t flags = 0) {
    event(kind, ++time_, record::ExceptionRecord{.object = 0, .handle = 77}, flags, method);
  };
  for (const std::uint32_t method : {7u, 8u}) callout(RecordKind::kMethodEntry, method);
  exception(RecordKind::kThrow, 8);                        // the athrow
  exception(RecordKind::kThrow, 8, record::kLeavesFrame);  // the same exception leaves the frame
  callout(RecordKind::kMethodUnwind, 8);
  exception(RecordKind::kCatch, 7);
  EXPECT_FALSE(capture_.all<trace::Catch>()[0].handler.present());
  EXPECT_EQ(names(), (Names{"threadStart", "classDef", "methodDef", "methodEntry", "methodDef", "methodEntry", "throw",
                            "methodExit", "throw", "catch"}));
  EXPECT_EQ(capture_.all<trace::Throw>()[1].ticket, trace::WordList(1));
  EXPECT_EQ(capture_.all<trace::Catch>()[0].objHandle, trace::Number(77));
}

TEST_F(Calls, AHandlerSaysWhetherItDropsTheException) {
  run(1, 1);
  for (const std::uint16_t flags : {record::kDropsException, record::kUsesException})
    event(RecordKind::kCatch, ++time_, record::ExceptionRecord{.object = 0, .handle = 77, .line = 5}, flags, 7);
  EXPECT_EQ(names(), (Names{"threadStart", "classDef", "methodDef", "throw", "catch", "throw", "catch"}));
  EXPECT_EQ(capture_.all<trace::Catch>()[0].handler, trace::Text("drops"));
  EXPECT_EQ(capture_.all<trace::Catch>()[1].handler, trace::Text("uses"));
}

}  // namespace
}  // namespace jtrace::session
