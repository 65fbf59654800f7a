#include "session/document/event_builder.h"

#include "tests/unit/session/document/event_builder_fixture.h"
#include "trace/gap_option.h"

namespace jtrace::session {
namespace {

namespace record = trace::record;
using record::RecordKind;

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

TEST_F(EventBuilderTest, TheEndOfTheCalloutsHasItsTime) {
  event(RecordKind::kCalloutsEnd, 20, record::ThreadRecord{});
  EXPECT_EQ(names(), (Names{"option"}));
  const auto option = capture_.all<trace::Option>()[0];
  EXPECT_EQ(option.key.view(), "jtrace.callsEnd");
  EXPECT_TRUE(trace::read_seconds(option.value.view()).has_value()) << option.value.view();
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
    define(record::thread_definition(4, 30, "new", record::kThreadBegan));
    define(record::thread_definition(5, 30, "met", record::kThreadVirtual));
  }
  static std::uint8_t was(record::ThreadWas state) {
    return static_cast<std::uint8_t>(record::kThreadRanBefore | static_cast<unsigned>(state)
                                                                    << record::kThreadStateShift);
  }
  void wait(std::uint64_t thread, std::uint64_t time) {
    event(RecordKind::kMonWait, time, record::MonitorRecord{.thread = thread}, record::kSleep);
  }
  // All states written since the last call, as "2 parked"; "3 platform" of one that is only met.
  std::vector<std::string> states() {
    std::vector<std::string> found;
    const auto options = capture_.all<trace::Option>();
    for (; seen_ < options.size(); ++seen_) {
      const std::string value(options[seen_].value.view());
      const bool is_met = value.ends_with("platform") || value.ends_with("virtual");
      EXPECT_EQ(options[seen_].key.view(), is_met ? "jtrace.threadMet" : "jtrace.threadState");
      found.push_back(value);
    }
    return found;
  }

 private:
  std::size_t seen_ = 0;
};

TEST_F(ThreadsBefore, WhatTheyDidIsWrittenAfterTheirStart) {
  wait(1, 20);
  EXPECT_EQ(names(), (Names{"threadStart", "option", "threadStart", "option", "threadStart", "option", "monWait"}));
  EXPECT_EQ(states(), (Names{"1 native", "2 parked", "3 platform"}));
  EXPECT_TRUE(builder_.restart(25));
  EXPECT_EQ(states(), (Names{"1 platform", "2 parked", "3 platform"}));  // main has had an event since
  builder_.forget_thread_states();
  EXPECT_TRUE(builder_.restart(26));
  EXPECT_EQ(states(), (Names{"1 platform", "2 platform", "3 platform"}));
}

TEST_F(ThreadsBefore, WhoWasFasterHasNoStateOfBefore) {
  wait(1, 5);
  EXPECT_TRUE(builder_.on_time(20));
  EXPECT_EQ(states(), (Names{"1 platform", "2 parked", "3 platform"}));
}

TEST_F(ThreadsBefore, AThreadStartThatIsNoBeginSaysSo) {
  EXPECT_TRUE(builder_.on_time(20));
  states();
  EXPECT_TRUE(builder_.on_time(40));
  EXPECT_EQ(states(), Names{"5 virtual"});
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

TEST_F(EventBuilderTest, TheEndOfWhatTheDocumentDoesNotKnowIsLeftOut) {
  define(record::class_definition(5, 11, "LA;"));
  event(RecordKind::kClassUnload, 20, record::ObjectRecord{.id = 5, .thread = 0});
  event(RecordKind::kObjFree, 20, record::ObjectRecord{.id = 77, .thread = 0});
  EXPECT_EQ(names(), Names{});
}

TEST_F(EventBuilderTest, AnObjectDoesNotReferToAClassThatIsUnloaded) {
  define(record::class_definition(5, 11, "LA;"));
  define(record::object_definition(1, 12, 5, 16));
  define(record::object_definition(2, 12, 5, 16));
  event(RecordKind::kMonWait, 20, record::MonitorRecord{.thread = 1, .object = 1});
  event(RecordKind::kClassUnload, 21, record::ObjectRecord{.id = 5, .thread = 0});
  event(RecordKind::kMonWaited, 22, record::MonitorRecord{.thread = 1, .object = 2});
  const auto objects = capture_.all<trace::ObjDef>();
  EXPECT_EQ(objects[0].classIdRef, trace::ClassId(5));
  EXPECT_FALSE(objects[1].classIdRef.present());
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

TEST_F(Counts, AnUnloadComesAfterTheDefinitionsOfItsMethods) {
  define(record::class_definition(5, 11, "LNode;"));
  define(record::class_definition(6, 11, "LOther;"));
  for (const std::uint64_t method : {8u, 9u}) define(record::method_definition(method, 11, 5, "next"));
  define(record::method_definition(10, 11, 6, "stays"));
  event(RecordKind::kObjAlloc, 20, record::ObjAllocRecord{.object = 1, .class_id = 5});
  event(RecordKind::kClassUnload, 21, record::ObjectRecord{.id = 5, .thread = 0});
  for (const std::uint32_t method : {8u, 9u}) event(RecordKind::kMethodCount, 30, record::CountRecord{}, 0, method);
  EXPECT_EQ(names(),
            (Names{"classDef", "objAlloc", "methodDef", "methodDef", "classUnload", "methodCount", "methodCount"}));
}

TEST_F(EventBuilderTest, MalformedDefinitionsAreCounted) {
  define(record::thread_definition(1, 1, "main").substr(0, 25));
  EXPECT_EQ(builder_.malformed(), 1u);
}

struct EveryDefinition : EventBuilderTest {
  EveryDefinition() : EventBuilderTest({.events = record::kThreadStartEvent | record::kClassDefEvent}) {}
};
TEST_F(EveryDefinition, ComesAtItsTime) {
  define(record::thread_definition(1, 10, "main", record::kThreadBegan));
  define(record::thread_definition(2, 30, "late", record::kThreadBegan));
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

}  // namespace
}  // namespace jtrace::session
