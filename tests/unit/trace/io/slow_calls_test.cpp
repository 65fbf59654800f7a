// The calls that took long: which are shown, and what the trace cannot say of them.
#include "trace/io/slow_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/trace/io/slow_trace.h"
#include "trace/io/exceptions_text.h"
#include "trace/option_keys.h"

namespace jtrace::trace::io {
namespace {

using ::testing::AllOf;

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

// Callouts are removed for a while before the trace ends: what was open may have ended, and waits are somebody else's.
TEST_F(SlowTrace, ACallIsOpenNoLongerThanItsEndWouldHaveBeenWritten) {
  define(1, "open");
  enter(1, 100);
  write(Option{.key = kCallsEndKey, .value = "1.300000000"});
  block(320, 900);
  write(MethodEntry{.threadIdRef = ThreadId(1), .time = at(301), .methodIdRef = MethodId(1), .ticket = 99});
  write(TraceEnd{.traceIdRef = "t", .time = at(1000)});
  const json slow = calls();
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_EQ(slow[0]["ended"], false);
  EXPECT_DOUBLE_EQ(slow[0]["seconds"], 0.2);
  EXPECT_DOUBLE_EQ(slow[0]["blocked"], 0.0);
}

TEST_F(SlowTrace, ACallThatRanWhileClassesWereCompiledAnewIsMarked) {
  define(1, "computes");
  define(2, "waits");
  write(Option{.key = kRewrittenKey, .value = "classes=1,methods=2"});
  enter(1, 100);
  leave(400);
  enter(2, 500);
  block(510, 700);
  leave(750);
  enter(1, 10'000);
  leave(10'200);
  const json slow = calls();
  ASSERT_EQ(slow.size(), 3u);
  EXPECT_TRUE(slow[0].contains("mayBeSlowByCallouts"));
  EXPECT_FALSE(slow[1].contains("mayBeSlowByCallouts")) << "it waited";
  EXPECT_FALSE(slow[2].contains("mayBeSlowByCallouts")) << "later";
  EXPECT_THAT(text_, HasSubstr("*300.000"));
  EXPECT_THAT(text_, HasSubstr("* may be slow because of jtrace"));
}

TEST_F(SlowTrace, ACallThatAnExceptionEndedSaysSo) {
  write(ClassDef{.classId = ClassId(8), .name = "java/io/IOException"});
  write(ObjDef{.objId = ObjectId(8), .classIdRef = ClassId(8)});
  for (std::uint64_t id = 1; id <= 3; ++id) define(id, "m" + std::to_string(id));
  enter(1, 0);
  enter(2, 10);
  leave(900, {{.name = "exception", .objIdRef = ObjectId(8), .type = "OPAQUE"}});
  leave(1000);
  enter(3, 1100);
  leave(1200, {{.name = "exception", .type = "OPAQUE"}});
  const json slow = calls();
  ASSERT_EQ(slow.size(), 2u);
  EXPECT_FALSE(slow[0].contains("byException"));
  EXPECT_EQ(slow[0]["below"][0]["exception"], "java.io.IOException");
  EXPECT_EQ(slow[1]["byException"], true);
  EXPECT_FALSE(slow[1].contains("exception")) << "its class is not known";
  EXPECT_THAT(text_, HasSubstr("below it m2 890.000 ms, ended by java.io.IOException\n"));
  EXPECT_THAT(text_, HasSubstr("m3  in \"thread#1\", ended by an exception\n"));
}

TEST_F(SlowTrace, ALambdaIsNamedByWhatItCallsAndEachCalleeIsIndented) {
  define(1, "lambda$main$0");
  define(2, "access$000");
  define(3, "find");
  for (const std::uint64_t id : {1u, 2u, 3u}) enter(id, 0);
  for (int i = 0; i < 3; ++i) leave(900);
  ASSERT_EQ(calls().size(), 1u);
  const std::string line = "\n" + std::string(31, ' ');
  EXPECT_THAT(text_, HasSubstr("lambda$main$0 > find  in \"thread#1\""));
  EXPECT_THAT(text_, HasSubstr(line + "below it access$000 900.000 ms" + line + "  below it find 900.000 ms\n"));
}

TEST_F(SlowTrace, ACallWithoutArgumentsSaysHowTheyAreRecorded) {
  write(ClassDef{.classId = ClassId(8), .name = "shop/Till$Drawer"});
  write(MethodDef{.name = "pay", .classIdRef = ClassId(8), .methodId = MethodId(1)});
  enter(1, 0);
  leave(1000);
  calls();
  EXPECT_THAT(text_, Not(HasSubstr("without arguments"))) << "the trace does not say what was asked for";
  write(Option{.key = "events", .value = "methodEntry,methodExit", .traceIdRef = "t"});
  calls();
  EXPECT_THAT(text_, HasSubstr("the calls are without arguments: jtrace slow PID reads them with --filter 'shop.*', "
                               "jtrace attach with --arguments\n"));
  EXPECT_EQ(all_["argumentsRecorded"], false);
  write(Option{.key = "arguments", .value = "true", .traceIdRef = "t"});
  calls();
  EXPECT_THAT(text_, Not(HasSubstr("without arguments")));
  EXPECT_EQ(all_["argumentsRecorded"], true);
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

TEST_F(SlowTrace, PercentilesAreOfTheCallsThatWereCountedToo) {
  write(Option{.key = "slower-than", .value = "0.01", .traceIdRef = "t"});
  define(1, "m");
  for (std::uint64_t i = 0; i < 20; ++i) {
    enter(1, 1000 * i);
    leave(1000 * i + 300);
  }
  write(MethodCount{.count = 100, .methodIdRef = MethodId(1), .traceIdRef = "t"});
  calls(200);
  EXPECT_THAT(text_, HasSubstr("percentiles with those that were only counted (OF SO MANY):\n"));
  EXPECT_THAT(text_, HasSubstr("          20        100        <10    300.000    300.000    300.000  m\n"));
  const json& row = all_["slowMethods"][0];
  EXPECT_DOUBLE_EQ(row["p50"], 0.3) << "of the recorded calls";
  EXPECT_EQ(row["ofAllCalls"]["p50"], json({{"below", 0.01}}));
  EXPECT_EQ(row["ofAllCalls"]["p90"], json({{"seconds", 0.3}}));
}

// A call for each thread may not have ended: of these two in a hundred cannot be told.
TEST_F(SlowTrace, PercentilesThatOpenCallsDecideAreNotGiven) {
  write(Option{.key = "slower-than", .value = "0.01", .traceIdRef = "t"});
  define(1, "m");
  for (std::uint64_t i = 0; i < 10; ++i) {
    enter(1, 1000 * i);
    leave(1000 * i + 300);
  }
  write(MethodCount{.count = 21, .methodIdRef = MethodId(1), .traceIdRef = "t"});
  calls();
  EXPECT_EQ(all_["slowMethods"][0]["ofAllCalls"]["p50"], json::object());
  EXPECT_EQ(all_["slowMethods"][0]["ofAllCalls"]["p90"], json({{"atLeast", 0.3}}));
  EXPECT_THAT(text_, HasSubstr("          10         21          ?   >300.000   >300.000    300.000  m\n"));
}

TEST_F(SlowTrace, OfMoreCallsThanRowsEachMethodHasItsLongest) {
  define(1, "holds");
  define(2, "waits");
  for (std::uint64_t i = 0; i < 50; ++i) {
    enter(1, 1000 * i);
    leave(1000 * i + 400 + i);
    enter(2, 1000 * i + 600);
    leave(1000 * i + 600 + 200);
  }
  const json slow = calls(100, 10);
  ASSERT_EQ(slow.size(), 10u);
  EXPECT_EQ(all_["slowCallsAll"], 100);
  std::size_t waits = 0;
  for (const json& row : slow) waits += row["method"] == "waits" ? 1 : 0;
  EXPECT_EQ(waits, 3u);
  EXPECT_DOUBLE_EQ(slow[0]["seconds"], 0.449);
}

// Of the owner's calls the one that lasted as long as the wait, not one of its parts.
TEST_F(SlowTrace, WhatTheOwnerDidMeanwhileIsSaid) {
  define(1, "wants");
  define(2, "keeps");
  define(3, "writes");
  const auto of_owner = [&](auto event) {
    event.threadIdRef = ThreadId(9);
    write(event);
  };
  of_owner(MethodEntry{.time = at(100), .methodIdRef = MethodId(2), .ticket = 1});
  enter(1, 150);
  write(MonContendedEnter{
      .threadIdRef = ThreadId(1), .time = at(160), .objIdRef = ObjectId(7), .threadOwner = ThreadId(9)});
  of_owner(MethodEntry{.time = at(150), .methodIdRef = MethodId(3), .ticket = 2});
  of_owner(MethodExit{.time = at(170), .ticket = 2, .methodIdRef = MethodId(3)});
  of_owner(MethodExit{.time = at(400), .ticket = 1, .methodIdRef = MethodId(2)});
  write(MonContendedEntered{.threadIdRef = ThreadId(1), .time = at(401), .objIdRef = ObjectId(7)});
  leave(410);
  const json slow = calls(200);
  EXPECT_THAT(text_, HasSubstr("blocked 241.000 ms that \"holder\" had, in keeps for 300.000 ms"));
  for (const json& row : slow)
    if (row["method"] == "wants") {
      EXPECT_EQ(row["longestWaits"][0]["ownerIn"], "keeps");
    }
  write(TraceEnd{.traceIdRef = "t", .time = at(482)});
  calls(200);
  EXPECT_THAT(text_,
              HasSubstr("           1     241.000    241.000   0.241 s (50 %)  a lock that \"holder\" had, in keeps "
                        "for 300.000 ms\n"));
  ASSERT_EQ(all_["locks"].size(), 1u);
  EXPECT_DOUBLE_EQ(all_["locks"][0]["somebodyWaited"], 0.241);
}

// --events counts has those too that were too short to be recorded.
TEST_F(SlowTrace, TellsAmongHowManyCallsTheSlowOnesAre) {
  define(1, "m");
  define(2, "uncounted");
  for (const std::uint64_t method : {1u, 2u}) {
    enter(method, 100 * method);
    leave(100 * method + 50);
  }
  calls();
  EXPECT_THAT(text_, Not(HasSubstr("OF SO MANY")));
  write(MethodCount{.count = 4011, .methodIdRef = MethodId(1), .traceIdRef = "t"});
  write(TraceEnd{.traceIdRef = "t", .time = at(2000)});
  calls(20);
  EXPECT_THAT(text_, HasSubstr("2 calls of 20 ms and more in 2.0 s, 1.0 a second\n"));
  EXPECT_THAT(text_, HasSubstr("       CALLS OF SO MANY   ~50 % ms"));
  EXPECT_THAT(text_, HasSubstr("           1       4011     50.000     50.000     50.000     50.000  m\n"));
  EXPECT_THAT(text_, HasSubstr("           1          - "));
  for (const json& row : all_["slowMethods"]) EXPECT_EQ(row.value("allCalls", 0), row["method"] == "m" ? 4011 : 0);
  for (const json& row : all_["slowMethods"]) EXPECT_FALSE(row.contains("ofAllCalls")) << "none was too short";
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
              HasSubstr("no call that ended took 50 ms or more, the shortest time that was recorded; jtrace slow PID "
                        "with a smaller --over records shorter ones\n"
                        "not among them: calls that began before the trace, or had not ended (unless a call below"));
  write(Option{.key = "longest-from", .value = "0.003", .traceIdRef = "t"});
  EXPECT_TRUE(statistics_.finish());
  EXPECT_THAT(slow_text(statistics_, limits),
              HasSubstr("no call that ended took about 3 ms or more, the shortest time"));
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

TEST_F(SlowTrace, SaysWhatADocumentCannotHave) {
  write(Option{.key = "events", .value = "methodEntry,throw", .traceIdRef = "t"});
  write(Option{
      .key = "jtrace.unavailable", .value = "methods, objects: an SDDF file does not have them", .traceIdRef = "t"});
  EXPECT_TRUE(statistics_.finish());
  EXPECT_EQ(slow_text(statistics_, {}),
            "no calls in the trace; not in it: methods, objects: an SDDF file does not have them\n");
  EXPECT_EQ(recorded_without(statistics_, Family::kExceptions), "");
}

TEST_F(SlowTrace, SaysThatWithoutCausesWrappedLooksLikeSwallowed) {
  write(Option{.key = "strict-dtd", .value = "true", .traceIdRef = "t"});
  write(
      Throw{.threadId = ThreadId(7), .time = Time(kMs), .objHandle = 5, .methodIdRef = MethodId(1), .traceIdRef = "t"});
  write(Catch{.threadIdRef = ThreadId(7),
              .time = Time(2 * kMs),
              .objHandle = 5,
              .methodIdRef = MethodId(1),
              .traceIdRef = "t"});
  EXPECT_TRUE(statistics_.finish());
  EXPECT_THAT(exceptions_text(statistics_, 20),
              AllOf(HasSubstr("swallowed or wrapped: with --strict-dtd"),
                    HasSubstr("of 1 of the swallowed the trace does not say whether the handler used it")));
}

TEST_F(SlowTrace, SaysHowOftenExceptionsAreThrown) {
  write(TraceStart{.traceId = "t", .time = Time(kMs)});
  for (std::uint64_t i = 0; i < 10; ++i) {
    write(Throw{.threadId = ThreadId(7),
                .time = Time((1 + i * 500) * kMs),
                .objHandle = i,
                .methodIdRef = MethodId(1),
                .traceIdRef = "t"});
    write(Catch{.threadIdRef = ThreadId(7),
                .time = Time((1 + i * 500) * kMs),
                .objHandle = i,
                .methodIdRef = MethodId(1),
                .traceIdRef = "t",
                .handler = i < 4 ? "uses" : "drops"});
  }
  write(TraceEnd{.traceIdRef = "t", .time = Time(5001 * kMs)});
  EXPECT_TRUE(statistics_.finish());
  EXPECT_THAT(exceptions_text(statistics_, 20),
              HasSubstr("10 exceptions in 5.0 s (2 a second)\n  6 swallowed (caught and dropped), 4 caught and used"));
}

// They must be named: a trace of `all` has neither.
TEST_F(SlowTrace, AllEventsAreWithoutCallsAndExceptions) {
  write(Option{.key = "events", .value = "all", .traceIdRef = "t"});
  EXPECT_TRUE(statistics_.finish());
  EXPECT_NE(recorded_without(statistics_, Family::kCalls), "");
  EXPECT_NE(recorded_without(statistics_, Family::kExceptions), "");
  EXPECT_EQ(recorded_without(statistics_, Family::kAllocations), "");
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

TEST_F(SlowTrace, OfADeepRecursionTheOutermostCallsAreShown) {
  define(1, "descend");
  constexpr int kDepth = 5000;
  for (int i = 0; i < kDepth; ++i) enter(1, 0);
  for (int i = 0; i < kDepth; ++i) leave(300);
  const json slow = calls(200);
  ASSERT_EQ(slow.size(), 1u);
  ASSERT_EQ(slow[0]["below"].size(), 1u);
  EXPECT_EQ(slow[0]["below"][0]["levels"], kDepth - 1);
  EXPECT_THAT(text_, HasSubstr("below it descend 300.000 ms, which called itself 4998 times\n"));
}

TEST_F(SlowTrace, OfManyCallsBelowOneTheFirstAreShown) {
  define(1, "there");
  define(2, "back");
  constexpr int kDepth = 5000;
  for (std::uint64_t i = 0; i < kDepth; ++i) enter(1 + i % 2, 0);
  for (int i = 0; i < kDepth; ++i) leave(300);
  const json slow = calls(200);
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_EQ(slow[0]["below"].size(), SlowCall::kMostBelow);
  EXPECT_EQ(slow[0]["belowLeftOut"], kDepth - 1 - static_cast<int>(SlowCall::kMostBelow));
  EXPECT_THAT(text_, HasSubstr("and 4987 calls more below it"));
}

}  // namespace
}  // namespace jtrace::trace::io
