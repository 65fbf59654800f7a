// The calls that took long: which are shown, what they waited for, and whose time a wait is.
#include "trace/io/slow_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "trace/io/slow_text.h"
#include "trace/io/statistics.h"

namespace jtrace::trace::io {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kMs = 1'000'000, kSecond = 1000 * kMs;

// A trace of one agent; times are ms since its start.
class SlowTrace : public ::testing::Test {
 protected:
  SlowTrace() {
    write(AgentCreate{.agentId = "a", .processIdRef = "p", .agentName = "jtrace", .time = at(0)});
    write(TraceStart{.traceId = "t", .agentIdRef = "a", .time = at(0)});
    write(ThreadStart{.threadId = ThreadId(9), .time = at(0), .threadName = "holder"});
  }
  static Time at(std::uint64_t ms) { return Time(kSecond + ms * kMs); }
  void write(const Event& event) { EXPECT_TRUE(statistics_.write(event)); }
  void define(std::uint64_t id, std::string_view name, bool takes_monitor = false) {
    write(MethodDef{.name = name, .isSynchronized = takes_monitor, .methodId = MethodId(id)});
  }
  void enter(std::uint64_t method, std::uint64_t ms, const std::vector<Value>& values = {}) {
    write(MethodEntry{.threadIdRef = ThreadId(1),
                      .time = at(ms),
                      .methodIdRef = MethodId(method),
                      .ticket = ++ticket_,
                      .values = values});
    open_.push_back({method, ticket_});
  }
  void leave(std::uint64_t ms) {
    write(MethodExit{.threadIdRef = ThreadId(1),
                     .time = at(ms),
                     .ticket = open_.back().second,
                     .methodIdRef = MethodId(open_.back().first)});
    open_.pop_back();
  }
  void block(std::uint64_t from, std::uint64_t to) {
    write(MonContendedEnter{
        .threadIdRef = ThreadId(1), .time = at(from), .objIdRef = ObjectId(7), .threadOwner = ThreadId(9)});
    write(MonContendedEntered{.threadIdRef = ThreadId(1), .time = at(to), .objIdRef = ObjectId(7)});
  }
  void sleep(std::uint64_t from, std::uint64_t to) {
    write(MonWait{.threadIdRef = ThreadId(1), .time = at(from), .objIdRef = ObjectId::sleep(), .timeout = 50});
    write(MonWaited{.threadIdRef = ThreadId(1), .time = at(to), .objIdRef = ObjectId::sleep(), .timeout = 50});
  }
  // For the object 8, of that class.
  void park(const char* type, std::uint64_t from, std::uint64_t to) {
    write(ClassDef{.classId = ClassId(8), .name = type});
    write(ObjDef{.objId = ObjectId(8), .classIdRef = ClassId(8)});
    write(MonWait{.threadIdRef = ThreadId(1),
                  .time = at(from),
                  .objIdRef = ObjectId(8),
                  .timeout = 50,
                  .threadOwner = ThreadId(0)});
    write(MonWaited{.threadIdRef = ThreadId(1), .time = at(to), .objIdRef = ObjectId(8), .timeout = 50});
  }
  json calls(std::uint64_t over_ms = 0, std::size_t rows = 20, bool with_idle = false) {
    EXPECT_TRUE(statistics_.finish());
    const SlowLimits limits{.over = over_ms * kMs, .rows = rows, .with_idle = with_idle};
    text_ = slow_text(statistics_, limits);
    all_ = json::parse(slow_json(statistics_, "x", limits))["data"][0];
    return all_["slowCalls"];
  }

  Statistics statistics_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> open_;
  std::uint64_t ticket_ = 0;
  std::string text_;
  json all_;
};

TEST_F(SlowTrace, LongestComesFirstWithArgumentsAndWaits) {
  define(1, "quick");
  define(2, "slow");
  enter(1, 0);
  leave(10);
  const std::vector<Value> values = {{.type = "INT", .value = "17"}, {.type = "STRING", .value = "abc"}};
  enter(2, 100, values);
  write(MonWait{.threadIdRef = ThreadId(1), .time = at(110), .objIdRef = ObjectId::sleep(), .timeout = 50});
  write(MonWaited{.threadIdRef = ThreadId(1), .time = at(160), .objIdRef = ObjectId::sleep(), .timeout = 50});
  block(170, 370);
  write(GcStart{.threadIdRef = ThreadId(9), .time = at(380)});
  write(GcFinish{.threadIdRef = ThreadId(9), .time = at(385)});
  leave(400);
  const json slow = calls();
  ASSERT_EQ(slow.size(), 2u);
  EXPECT_EQ(slow[0]["method"], "slow");
  EXPECT_EQ(slow[0]["arguments"], "17, \"abc\"");
  EXPECT_DOUBLE_EQ(slow[0]["seconds"], 0.3);
  EXPECT_DOUBLE_EQ(slow[0]["sleeping"], 0.05);
  EXPECT_DOUBLE_EQ(slow[0]["blocked"], 0.2);
  EXPECT_DOUBLE_EQ(slow[0]["paused"], 0.005);
  EXPECT_EQ(slow[0]["owner"], "holder");
  EXPECT_EQ(slow[1]["method"], "quick");
  EXPECT_DOUBLE_EQ(slow[1]["blocked"], 0.0);
  EXPECT_THAT(text_, HasSubstr("slow(17, \"abc\")  in \"thread#1\""));
  EXPECT_THAT(text_, HasSubstr("blocked 200.000 ms that \"holder\" had, sleeping 50.000 ms, pauses 5.000 ms"));
}

TEST_F(SlowTrace, EachKindOfWaitNamesItsLockAndTheCallThatItWasIn) {
  define(1, "serve");
  define(2, "take");
  define(3, "pay");
  enter(1, 0);
  enter(2, 10);
  block(20, 220);
  block(230, 260);
  leave(270);
  enter(3, 280);
  write(ClassDef{.classId = ClassId(8), .name = "com/example/Bank$Sync"});
  write(ObjDef{.objId = ObjectId(8), .classIdRef = ClassId(8)});
  write(MonWait{.threadIdRef = ThreadId(1), .time = at(290), .objIdRef = ObjectId(8), .threadOwner = ThreadId(9)});
  write(MonWaited{.threadIdRef = ThreadId(1), .time = at(390), .objIdRef = ObjectId(8)});
  sleep(400, 450);
  leave(460);
  leave(600);
  const json call = calls()[0];
  EXPECT_EQ(call["method"], "serve");
  const std::string line =
      "blocked 230.000 ms (longest 200.000 ms in take that \"holder\" had), waiting 100.000 ms in pay for a "
      "com.example.Bank$Sync that \"holder\" had, sleeping 50.000 ms in pay, other 220.000 ms\n";
  EXPECT_THAT(text_, HasSubstr(line));
  EXPECT_THAT(text_, HasSubstr("  other: on a processor, ready for one, or in native code; "));
  ASSERT_EQ(call["longestWaits"].size(), 3u);
  EXPECT_EQ(call["longestWaits"][1]["kind"], "waiting");
  EXPECT_EQ(call["longestWaits"][1]["in"], "pay");
  EXPECT_EQ(call["longestWaits"][1]["monitor"], "com.example.Bank$Sync");
  EXPECT_EQ(call["longestWaits"][1]["owner"], "holder");
  EXPECT_DOUBLE_EQ(call["other"], 0.22);
}

// The virtual thread's park in the read is the read, the wait for a lock in it is not.
TEST_F(SlowTrace, CallsOfTheJdkThatReadAndWriteAreIo) {
  define(1, "load");
  write(ClassDef{.classId = ClassId(5), .name = "sun/nio/ch/NioSocketImpl"});
  write(MethodDef{.name = "read", .classIdRef = ClassId(5), .methodId = MethodId(2)});
  write(ClassDef{.classId = ClassId(6), .name = "java/io/FileInputStream"});
  write(MethodDef{.name = "read", .classIdRef = ClassId(6), .methodId = MethodId(3)});
  enter(1, 0);
  enter(2, 10);
  block(20, 30);
  park("sun/nio/ch/Sync", 40, 100);
  leave(210);
  enter(3, 220);
  enter(3, 230);
  leave(250);
  leave(260);
  leave(300);
  const json call = calls()[0];
  EXPECT_EQ(call["method"], "load");
  EXPECT_DOUBLE_EQ(call["socketIo"], 0.19);
  EXPECT_DOUBLE_EQ(call["blocked"], 0.01);
  EXPECT_DOUBLE_EQ(call["waiting"], 0.0);
  EXPECT_DOUBLE_EQ(call["fileIo"], 0.04);
  EXPECT_DOUBLE_EQ(call["other"], 0.06);
  EXPECT_THAT(text_, HasSubstr("socket I/O 190.000 ms, file I/O 40.000 ms, other 60.000 ms\n"));
}

TEST_F(SlowTrace, ReadThatNoTracedCallWaitsForIsIdle) {
  write(ClassDef{.classId = ClassId(5), .name = "sun/nio/ch/NioSocketImpl"});
  write(MethodDef{.name = "read", .classIdRef = ClassId(5), .methodId = MethodId(2)});
  enter(2, 0);
  leave(5000);
  EXPECT_EQ(calls().size(), 0u);
  EXPECT_EQ(all_["idleCallsAll"], 1);
}

TEST_F(SlowTrace, TimeOnAProcessorIsToldWhereTheTraceHasIt) {
  define(1, "computes");
  write(MethodEntry{
      .threadIdRef = ThreadId(1), .time = at(0), .methodIdRef = MethodId(1), .ticket = 1, .threadCpuTime = 5 * kMs});
  write(MethodExit{.threadIdRef = ThreadId(1),
                   .time = at(300),
                   .ticket = 1,
                   .threadCpuTime = 205 * kMs,
                   .methodIdRef = MethodId(1)});
  const json call = calls()[0];
  EXPECT_DOUBLE_EQ(call["onProcessor"], 0.2);
  EXPECT_THAT(text_, HasSubstr("on a processor 200.000 ms, other 100.000 ms\n"));
  EXPECT_THAT(text_, HasSubstr("  other: ready for a processor, or in native code that waits\n"));
}

// A pause in a wait is not counted twice.
TEST_F(SlowTrace, OtherIsWhatNoWaitAndNoPauseTakes) {
  define(1, "serve");
  enter(1, 0);
  write(MonContendedEnter{.threadIdRef = ThreadId(1), .time = at(100), .objIdRef = ObjectId(7)});
  write(GcStart{.threadIdRef = ThreadId(9), .time = at(150)});
  write(GcFinish{.threadIdRef = ThreadId(9), .time = at(250)});
  write(MonContendedEntered{.threadIdRef = ThreadId(1), .time = at(200), .objIdRef = ObjectId(7)});
  leave(400);
  const json call = calls()[0];
  EXPECT_DOUBLE_EQ(call["blocked"], 0.1);
  EXPECT_DOUBLE_EQ(call["paused"], 0.1);
  EXPECT_DOUBLE_EQ(call["other"], 0.25);
}

// JDK 21: the carrier and the thread that wakes virtual threads park as these do.
TEST_F(SlowTrace, ParksOfCarriersAreNotThoseOfTheirVirtualThreads) {
  write(ThreadStart{.threadId = ThreadId(1), .time = at(0), .groupName = "VirtualThreads", .threadName = "worker"});
  write(ThreadStart{
      .threadId = ThreadId(2), .time = at(0), .groupName = "CarrierThreads", .threadName = "ForkJoinPool-1-worker-1"});
  write(ThreadStart{.threadId = ThreadId(3),
                    .time = at(0),
                    .groupName = "InnocuousThreadGroup",
                    .threadName = "VirtualThread-unparker"});
  park("com/example/Gate", 10, 60);
  for (const std::uint64_t id : {2u, 3u}) {
    write(MonWait{.threadIdRef = ThreadId(id), .time = at(10), .objIdRef = ObjectId(8), .threadOwner = ThreadId(0)});
    write(MonWaited{.threadIdRef = ThreadId(id), .time = at(60), .objIdRef = ObjectId(8)});
  }
  EXPECT_TRUE(statistics_.finish());
  const ScopeStatistics& scope = statistics_.by_scope()[0];
  ASSERT_EQ(scope.waits.size(), 1u);
  EXPECT_EQ(scope.waits.at("com.example.Gate").count, 1u);
  EXPECT_EQ(scope.waits.at("com.example.Gate").total, 50 * kMs);
  EXPECT_EQ(scope.carrier_waits.count, 2u);
  EXPECT_THAT(statistics_text(statistics_, 20),
              HasSubstr("  2 waits of carriers of virtual threads, 0.100000 s in all, are "));
}

TEST_F(SlowTrace, ArgumentsThatExplainNothingAreExplainedOnce) {
  define(1, "serve");
  write(ClassDef{.classId = ClassId(8), .name = "shop/Order"});
  write(ObjDef{.objId = ObjectId(16), .classIdRef = ClassId(8)});
  const std::vector<Value> values = {{.objIdRef = ObjectId(16), .type = "OPAQUE"},
                                     {.objIdRef = ObjectId(17), .type = "OPAQUE"},
                                     {.objIdRef = ObjectId::none(), .type = "OPAQUE"},
                                     {.type = "OPAQUE"},
                                     {.type = "STRING", .value = "why?, #1"}};
  enter(1, 0, values);
  leave(300);
  EXPECT_EQ(calls()[0]["arguments"], "shop.Order#16, #17, null, ?, \"why?, #1\"");
  EXPECT_THAT(text_, HasSubstr("  #7: an object, by its number in the trace"));
  EXPECT_THAT(text_,
              HasSubstr("  a type (or ?) in the place of an argument: an array, or an object of a class without "));
  EXPECT_FALSE(opaque_arguments("\"a #1\", \"b?\", 7").objects);
  EXPECT_FALSE(opaque_arguments("\"?\"").unread);
}

TEST_F(SlowTrace, ArgumentsAreShownByTheirDeclaredTypeIfTheyHaveNoValue) {
  write(ClassDef{.classId = ClassId(8), .name = "shop/Order"});
  write(MethodDef{.name = "sell",
                  .signature = "(I[[JLjava/util/List;[Ljava/lang/String;)V",
                  .classIdRef = ClassId(8),
                  .methodId = MethodId(1)});
  const std::vector<Value> values = {
      {.type = "INT", .value = "7"}, {.type = "OPAQUE"}, {.type = "OPAQUE"}, {.type = "OPAQUE"}, {.type = "OPAQUE"}};
  enter(1, 0, values);
  leave(300);
  EXPECT_EQ(calls()[0]["arguments"], "7, long[][], java.util.List, java.lang.String[], ?");
  EXPECT_TRUE(opaque_arguments("7, long[][]").unread);
  EXPECT_TRUE(opaque_arguments("7, java.util.List").unread);
  EXPECT_FALSE(opaque_arguments("7, -1.5, \"a.b\", x.Y#7, NaN, true").unread);
}

TEST_F(SlowTrace, ATextCannotLookLikeTwoArguments) {
  define(1, "serve");
  const std::vector<Value> values = {{.type = "STRING", .value = "a\", \"b"},
                                     {.type = "STRING", .value = "\\\n\x01\x1b[1m"}};
  enter(1, 0, values);
  leave(300);
  EXPECT_EQ(calls()[0]["arguments"], R"("a\", \"b", "\\\n\u0001\u001b[1m")");
  EXPECT_FALSE(opaque_arguments(R"("a\", #1, \"b")").objects);
  EXPECT_TRUE(opaque_arguments(R"("a\", \"b", #1)").objects);
}

TEST_F(SlowTrace, CallIsShownWithTheCalleesThatTookItsTime) {
  for (std::uint64_t id = 1; id <= 4; ++id) define(id, "m" + std::to_string(id));
  enter(1, 0);
  enter(2, 10);
  enter(3, 20);
  leave(900);
  leave(950);
  enter(4, 955);
  leave(990);
  leave(1000);
  const json slow = calls();
  ASSERT_EQ(slow.size(), 2u);  // m2 and m3 stand below m1
  EXPECT_EQ(slow[0]["method"], "m1");
  ASSERT_EQ(slow[0]["below"].size(), 2u);
  EXPECT_EQ(slow[0]["below"][0]["method"], "m2");
  EXPECT_EQ(slow[0]["below"][1]["method"], "m3");
  EXPECT_EQ(slow[1]["method"], "m4");
}

// The methodEntry of a synchronized method comes when it has its monitor: the wait before it is its own.
TEST_F(SlowTrace, CallerDoesNotWaitForTheMonitorOfItsCallee) {
  define(1, "caller");
  define(2, "callee", true);
  enter(1, 0);
  block(10, 510);
  enter(2, 510);
  leave(520);
  leave(530);
  const json slow = calls();
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_EQ(slow[0]["below"][0]["method"], "callee");
  EXPECT_DOUBLE_EQ(slow[0]["below"][0]["seconds"], 0.51);
  const MethodStatistics& caller = statistics_.by_scope()[0].methods.at(1);
  EXPECT_EQ(caller.self, 20 * kMs);
  EXPECT_EQ(caller.total, 530 * kMs);
}

// A method that is entered just after the end of a call with a wait in it did not wait itself.
TEST_F(SlowTrace, WaitInACallThatHasEndedIsNotThatOfTheNext) {
  define(1, "caller");
  define(2, "waiter");
  define(3, "callee", true);
  enter(1, 0);
  enter(2, 5);
  block(10, 510);
  leave(510);
  enter(3, 510);
  leave(511);
  leave(530);
  calls();
  const auto& methods = statistics_.by_scope()[0].methods;
  EXPECT_EQ(methods.at(3).total, 1 * kMs);
  EXPECT_EQ(methods.at(2).total, 505 * kMs);
}

TEST_F(SlowTrace, WaitBeforeAMethodWithoutMonitorIsItsCallers) {
  define(1, "caller");
  define(2, "callee");
  enter(1, 0);
  block(10, 510);
  enter(2, 510);
  leave(520);
  leave(530);
  calls();
  EXPECT_EQ(statistics_.by_scope()[0].methods.at(1).self, 520 * kMs);
}

TEST_F(SlowTrace, SlowestSeenAreShownWhereNoneWasSlow) {
  define(1, "m");
  for (std::uint64_t i = 0; i < 30; ++i) {
    enter(1, 100 * i);
    leave(100 * i + i);
  }
  EXPECT_EQ(calls(500).size(), 5u);
  EXPECT_THAT(text_, HasSubstr("no call took 500 ms; the slowest seen"));
  EXPECT_EQ(all_["slowCallsAll"], 0);
  const json some = calls(20);
  EXPECT_EQ(some.size(), 10u);
  EXPECT_EQ(all_["slowCallsAll"], 10);
  EXPECT_THAT(text_, HasSubstr("10 calls of 20 ms and more"));
}

TEST_F(SlowTrace, CallThatHasNotEndedIsSaidToHaveNot) {
  define(1, "loop");
  define(2, "step");
  enter(1, 0);
  enter(2, 0);
  leave(900);
  write(TraceEnd{.traceIdRef = "t", .time = at(1000)});
  const json slow = calls();
  ASSERT_EQ(slow.size(), 2u);
  EXPECT_EQ(slow[0]["method"], "step");
  EXPECT_EQ(slow[0]["ended"], true);
  EXPECT_EQ(slow[1]["method"], "loop");
  EXPECT_EQ(slow[1]["ended"], false);
  EXPECT_THAT(text_, HasSubstr(">1000.000  loop"));
  EXPECT_EQ(all_["slowMethods"].size(), 1u);
}

TEST_F(SlowTrace, SaysWhichCallsItCannotHave) {
  define(1, "m");
  enter(1, 0);
  leave(900);
  calls();
  EXPECT_THAT(text_, HasSubstr("not among them: calls that began before the trace; jtrace stack PID"));
}

// No call that ended was slow; one may run all the time.
TEST_F(SlowTrace, NoCallOfARecordedTimeIsNoAllClear) {
  write(Option{.key = "slower-than", .value = "0.05", .traceIdRef = "t"});
  EXPECT_TRUE(statistics_.finish());
  const SlowLimits limits{.over = 200 * kMs, .rows = 20};
  EXPECT_THAT(slow_text(statistics_, limits),
              HasSubstr("no call that ended took 50 ms or more, the shortest time that is recorded\n"
                        "not among them: calls that began before the trace, or had not ended (unless a call below"));
  EXPECT_THAT(json::parse(slow_json(statistics_, "x", limits))["notListed"], HasSubstr("or had not ended"));
}

TEST_F(SlowTrace, SaysWhatTheTraceWasNotRecordedWith) {
  EXPECT_EQ(slow_text(statistics_, {}), "no calls in the trace\n") << "it does not say what was asked for";
  write(Option{.key = "events", .value = "gcStart,throw,catch", .traceIdRef = "t"});
  EXPECT_TRUE(statistics_.finish());
  EXPECT_EQ(slow_text(statistics_, {}), "no calls in the trace: it was recorded without methods (--events)\n");
  EXPECT_EQ(recorded_without(statistics_, Family::kExceptions), "");
  EXPECT_EQ(recorded_without(statistics_, Family::kAllocations),
            ": it was recorded without objects or allocations (--events)");
}

// They must be named: a trace of `all` has neither.
TEST_F(SlowTrace, AllEventsAreWithoutCallsAndExceptions) {
  write(Option{.key = "events", .value = "all", .traceIdRef = "t"});
  EXPECT_TRUE(statistics_.finish());
  EXPECT_NE(recorded_without(statistics_, Family::kCalls), "");
  EXPECT_NE(recorded_without(statistics_, Family::kExceptions), "");
  EXPECT_EQ(recorded_without(statistics_, Family::kAllocations), "");
}

TEST_F(SlowTrace, TextOfTheTargetHasNoControlCharacters) {
  define(1, "a\x1b[2Jb");
  const std::vector<Value> values = {{.type = "STRING", .value = "x\ny"}};
  enter(1, 0, values);
  leave(900);
  calls();
  EXPECT_THAT(text_, HasSubstr("a?[2Jb(\"x\\ny\")"));
  EXPECT_THAT(text_, Not(HasSubstr("\x1b")));
}

// A scheduler naps for longer than the one call that matters.
TEST_F(SlowTrace, IdleCallsStandByMethodAfterTheOthers) {
  define(1, "nap");
  define(2, "work");
  for (std::uint64_t i = 0; i < 30; ++i) {
    enter(1, 1000 * i);
    sleep(1000 * i + 1, 1000 * i + 900 + i);
    leave(1000 * i + 901 + i);
  }
  enter(2, 40'000);
  sleep(40'010, 40'200);
  leave(40'250);
  const json slow = calls(200, 5);
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_EQ(slow[0]["method"], "work");
  EXPECT_EQ(all_["slowCallsAll"], 1);
  EXPECT_EQ(all_["idleCallsAll"], 30);
  ASSERT_EQ(all_["idleCalls"].size(), 1u);
  EXPECT_EQ(all_["idleCalls"][0]["method"], "nap");
  EXPECT_EQ(all_["idleCalls"][0]["calls"], 30);
  EXPECT_EQ(all_["idleCalls"][0]["threads"], 1);
  EXPECT_DOUBLE_EQ(all_["idleCalls"][0]["longest"]["seconds"], 0.93);
  EXPECT_EQ(all_["slowMethods"][0]["method"], "work");
  EXPECT_THAT(text_, HasSubstr("  1 call of 200 ms and more\n"));
  EXPECT_THAT(text_, HasSubstr("  idle: 30 calls that slept or waited for work all the time (95 % and more of it), by "
                               "method; jtrace slow --idle lists each\n"));
  EXPECT_THAT(text_, HasSubstr("          30          1    930.000  nap  in \"thread#1\"\n"));
  EXPECT_EQ(calls(200, 100, true).size(), 31u);
  EXPECT_TRUE(all_["idleCalls"].empty());
  EXPECT_THAT(text_, Not(HasSubstr("idle:")));
}

TEST_F(SlowTrace, IdleCallsDoNotTakeThePlaceOfOthers) {
  define(1, "nap");
  define(2, "work");
  enter(2, 0);
  leave(50);
  for (std::uint64_t i = 1; i <= SlowCalls::kMaxKept + 3; ++i) {
    enter(1, 1000 * i);
    sleep(1000 * i, 1000 * i + 100);
    leave(1000 * i + 100);
  }
  const json slow = calls(50);
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_EQ(slow[0]["method"], "work");
  EXPECT_EQ(all_["slowCallsMore"], false);
  EXPECT_EQ(all_["idleCallsMore"], true);
  EXPECT_THAT(text_, HasSubstr("  idle: more than 1000 calls"));
}

TEST_F(SlowTrace, WaitsForWorkAreIdleThoseForLocksAndResultsAreNot) {
  const std::pair<const char*, const char*> kWaits[] = {
      {"poll", "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject"},
      {"take", "java/util/concurrent/SynchronousQueue$TransferStack"},
      {"get", "java/util/concurrent/FutureTask"},
      {"join", "java/util/concurrent/CompletableFuture$Signaller"},
      {"lock", "java/util/concurrent/locks/ReentrantLock$NonfairSync"},
      {"await", "java/util/concurrent/CountDownLatch$Sync"}};
  std::uint64_t id = 0;
  for (const auto& [method, type] : kWaits) {
    define(++id, method);
    enter(id, 1000 * id);
    park(type, 1000 * id, 1000 * id + 300 - id);
    leave(1000 * id + 300 - id);
  }
  std::vector<std::string> busy, idle;
  for (const json& each : calls(200)) busy.push_back(each["method"]);
  for (const json& each : all_["idleCalls"]) idle.push_back(each["method"]);
  EXPECT_THAT(busy, ::testing::ElementsAre("get", "join", "lock", "await"));
  EXPECT_THAT(idle, ::testing::ElementsAre("poll", "take"));
}

// It holds a monitor while it sleeps.
TEST_F(SlowTrace, CallThatOthersWaitForIsNotIdle) {
  define(1, "audit");
  enter(1, 0);
  sleep(0, 300);
  write(MonContendedEnter{
      .threadIdRef = ThreadId(2), .time = at(100), .objIdRef = ObjectId(7), .threadOwner = ThreadId(1)});
  leave(300);
  write(MonContendedEntered{.threadIdRef = ThreadId(2), .time = at(301), .objIdRef = ObjectId(7)});
  const json slow = calls(200);
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_DOUBLE_EQ(slow[0]["heldUpOthers"], 0.2);
  EXPECT_THAT(text_, HasSubstr("sleeping 300.000 ms; others waited 200.000 ms for its thread"));
}

// The first of two that wait gets the monitor at 161: from then on the second one waits for that thread.
TEST_F(SlowTrace, CallIsNotChargedForWhatOthersWaitForItsSuccessor) {
  define(1, "serve");
  enter(1, 0);
  for (const std::uint64_t thread : {2u, 3u})
    write(MonContendedEnter{
        .threadIdRef = ThreadId(thread), .time = at(100), .objIdRef = ObjectId(7), .threadOwner = ThreadId(1)});
  write(MonContendedEntered{.threadIdRef = ThreadId(2), .time = at(161), .objIdRef = ObjectId(7)});
  write(MonContendedEntered{.threadIdRef = ThreadId(3), .time = at(250), .objIdRef = ObjectId(7)});
  leave(300);
  const json slow = calls(200);
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_DOUBLE_EQ(slow[0]["heldUpOthers"], 0.122);
}

// The wait for its thread began in a call before. In this one it waits for the same lock, which another thread has got.
TEST_F(SlowTrace, CallIsNotChargedForAWaitThatBeganBeforeIt) {
  define(1, "serve");
  enter(1, 0);
  write(MonContendedEnter{
      .threadIdRef = ThreadId(2), .time = at(50), .objIdRef = ObjectId(7), .threadOwner = ThreadId(1)});
  leave(60);
  enter(1, 100);
  write(MonContendedEnter{
      .threadIdRef = ThreadId(1), .time = at(101), .objIdRef = ObjectId(7), .threadOwner = ThreadId(3)});
  write(MonContendedEntered{.threadIdRef = ThreadId(1), .time = at(390), .objIdRef = ObjectId(7)});
  leave(400);
  write(MonContendedEntered{.threadIdRef = ThreadId(2), .time = at(500), .objIdRef = ObjectId(7)});
  const json slow = calls(10);
  ASSERT_EQ(slow.size(), 2u);
  EXPECT_DOUBLE_EQ(slow[0]["seconds"], 0.3);
  EXPECT_DOUBLE_EQ(slow[0]["heldUpOthers"], 0);
  EXPECT_DOUBLE_EQ(slow[1]["heldUpOthers"], 0.01);
}

// Its wait has no end in the trace either.
TEST_F(SlowTrace, IdleCallThatHasNotEndedIsIdle) {
  define(1, "take");
  enter(1, 0);
  write(MonWait{.threadIdRef = ThreadId(1), .time = at(1), .objIdRef = ObjectId(8), .timeout = 0});
  write(TraceEnd{.traceIdRef = "t", .time = at(1000)});
  EXPECT_TRUE(calls(200).empty());
  ASSERT_EQ(all_["idleCalls"].size(), 1u);
  EXPECT_EQ(all_["idleCalls"][0]["longest"]["ended"], false);
  EXPECT_THAT(text_, HasSubstr("no call took 200 ms but idle ones; the slowest seen\n  idle: 1 call"));
  EXPECT_THAT(text_, HasSubstr(">1000.000  take"));
}

TEST_F(SlowTrace, PercentilesAreSaidToBeAbout) {
  define(1, "m");
  enter(1, 0);
  leave(900);
  calls();
  EXPECT_THAT(text_, HasSubstr("~50 % ms   ~90 % ms   ~99 % ms LONGEST ms  METHOD (~: about, at most an eighth"));
  EXPECT_EQ(all_["percentileError"], 0.125);
}

TEST(Durations, PercentilesAreAtMostAnEighthTooLong) {
  Durations durations;
  EXPECT_EQ(durations.percentile(0.5), 0u);
  for (std::uint64_t i = 1; i <= 1000; ++i) durations.add(i * 1000);
  EXPECT_EQ(durations.count(), 1000u);
  EXPECT_EQ(durations.longest(), 1'000'000u);
  for (const double share : {0.5, 0.9, 0.99}) {
    const auto exact = static_cast<std::uint64_t>(share * 1000) * 1000;
    EXPECT_GE(durations.percentile(share), exact);
    EXPECT_LE(durations.percentile(share), exact + exact / 8 + 1);
  }
  EXPECT_EQ(durations.percentile(1), 1'000'000u);
}

TEST(SlowCalls, KeepTheLongestOfManyCalls) {
  SlowCalls slow;
  for (std::uint64_t i = 1; i <= 5000; ++i) {
    std::vector<OpenFrame> stack{{.method = 1, .time = 10}};
    slow.note_call(1, stack, 10 + i, {});
  }
  const auto calls = slow.longest_first(0, false);
  ASSERT_EQ(calls.size(), SlowCalls::kMaxKept);
  EXPECT_EQ(calls.front()->duration, 5000u);
  EXPECT_EQ(calls.back()->duration, 5001u - SlowCalls::kMaxKept);
}

TEST_F(SlowTrace, SaysThatThereWereMoreCallsThanItKeeps) {
  define(1, "run");
  const std::uint64_t count = SlowCalls::kMaxKept + 7;
  for (std::uint64_t i = 0; i < count; ++i) {
    enter(1, 10 * i);
    leave(10 * i + 5);
  }
  calls(5);
  EXPECT_THAT(text_, HasSubstr("  more than 1000 calls of 5 ms and more\n"));
  EXPECT_EQ(all_["slowCallsMore"], true);
  EXPECT_EQ(all_["slowCallsAll"], SlowCalls::kMaxKept);
  calls(6);
  EXPECT_THAT(text_, Not(HasSubstr("more than")));
  EXPECT_EQ(all_["slowCallsMore"], false);
}

TEST_F(SlowTrace, SaysThatTheWaitsOfACallAreNotAllOfThem) {
  define(1, "run");
  enter(1, 0);
  for (std::uint64_t i = 0; i < SlowCalls::kMaxWaits; ++i) block(10 * i, 10 * i + 1);
  const std::uint64_t end = 10 * SlowCalls::kMaxWaits;
  leave(end);
  enter(1, end);
  block(end + 1, end + 2);
  leave(end + 3);
  enter(1, end + 10);
  block(end + 11, end + 12);
  for (std::uint64_t i = 1; i <= SlowCalls::kMaxWaits; ++i) block(end + 10 * (i + 1), end + 10 * (i + 1) + 1);
  leave(2 * end + 20);
  const json rows = calls();
  EXPECT_EQ(rows[0]["lastWaitsOnly"], SlowCalls::kMaxWaits);
  EXPECT_FALSE(rows[1].contains("lastWaitsOnly"));
  EXPECT_THAT(text_, HasSubstr(" (of its thread's last 4096 waits)"));
}

}  // namespace
}  // namespace jtrace::trace::io
