// Which slow calls only waited for work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/trace/io/slow_trace.h"
#include "trace/io/slow_calls.h"

namespace jtrace::trace::io {
namespace {

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

// A thread that waits for 4 ms stands for 230 ms more because of a collection: that is no nap.
TEST_F(SlowTrace, ACallThatACollectionMadeLongIsNotIdle) {
  define(1, "find");
  define(2, "nap");
  enter(1, 0);
  write(MonWait{.threadIdRef = ThreadId(1), .time = at(0), .objIdRef = ObjectId::sleep(), .timeout = 4});
  write(GcStart{.threadIdRef = ThreadId(9), .time = at(3)});
  write(GcFinish{.threadIdRef = ThreadId(9), .time = at(233), .cause = "System.gc()", .kind = "full"});
  write(MonWaited{.threadIdRef = ThreadId(1), .time = at(234), .objIdRef = ObjectId::sleep(), .timeout = 4});
  leave(234);
  enter(2, 1000);
  write(MonWait{.threadIdRef = ThreadId(1), .time = at(1000), .objIdRef = ObjectId::sleep(), .timeout = 4});
  write(GcStart{.threadIdRef = ThreadId(9), .time = at(1100)});
  write(GcFinish{.threadIdRef = ThreadId(9), .time = at(1300)});
  write(MonWaited{.threadIdRef = ThreadId(1), .time = at(1999), .objIdRef = ObjectId::sleep(), .timeout = 4});
  leave(2000);
  const json slow = calls(200);
  ASSERT_EQ(slow.size(), 1u) << text_;
  EXPECT_EQ(slow[0]["method"], "find");
  EXPECT_EQ(slow[0]["pauseCause"], "System.gc()");
  EXPECT_EQ(slow[0]["pauseKind"], "full");
  EXPECT_THAT(text_, HasSubstr("sleeping 234.000 ms, pauses 230.000 ms (full, System.gc())\n"));
  EXPECT_EQ(all_["idleCallsAll"], 1);
}

// Where most slow calls of a method are slow for something else, one that slept is listed with them.
TEST_F(SlowTrace, ACallThatSleptAsAnExceptionIsListed) {
  define(1, "order");
  define(2, "nap");
  for (std::uint64_t i = 0; i < 3; ++i) {
    enter(1, 10'000 * i);
    leave(10'000 * i + 400);
    enter(2, 10'000 * i + 1000);
    sleep(10'000 * i + 1000, 10'000 * i + 1500);
    leave(10'000 * i + 1500);
  }
  enter(1, 50'000);
  sleep(50'000, 50'420);
  leave(50'420);
  const json slow = calls(300);
  ASSERT_EQ(slow.size(), 4u) << text_;
  EXPECT_DOUBLE_EQ(slow[0]["sleeping"], 0.42);
  EXPECT_EQ(all_["slowCallsAll"], 4);
  EXPECT_EQ(all_["idleCallsAll"], 3);
  EXPECT_EQ(all_["idleCalls"][0]["method"], "nap");
}

// A scheduler's pause is long each time; a request that sleeps once in a hundred calls is slow.
TEST_F(SlowTrace, ACallThatSleptIsListedWhereMostOfItsMethodAreQuick) {
  define(1, "request");
  define(2, "pause");
  for (std::uint64_t i = 0; i < 3; ++i)
    for (const std::uint64_t method : {1u, 2u}) {
      enter(method, 1000 * i + 400 * method);
      sleep(1000 * i + 400 * method, 1000 * i + 400 * method + 300);
      leave(1000 * i + 400 * method + 300);
    }
  write(MethodCount{.count = 300, .methodIdRef = MethodId(1), .traceIdRef = "t"});
  write(MethodCount{.count = 4, .methodIdRef = MethodId(2), .traceIdRef = "t"});
  const json slow = calls(200);
  ASSERT_EQ(slow.size(), 3u) << text_;
  EXPECT_EQ(slow[0]["method"], "request");
  ASSERT_EQ(all_["idleCalls"].size(), 1u);
  EXPECT_EQ(all_["idleCalls"][0]["method"], "pause");
}

// However many naps there are, of which only some are kept.
TEST_F(SlowTrace, ManyNapsOfOneMethodStayIdle) {
  define(1, "poll");
  constexpr std::uint64_t kNaps = 3 * SlowCalls::kMaxKept;
  for (std::uint64_t i = 0; i < kNaps; ++i) {
    enter(1, 100 * i);
    sleep(100 * i, 100 * i + 20);
    leave(100 * i + 20);
  }
  write(MethodCount{.count = kNaps, .methodIdRef = MethodId(1), .traceIdRef = "t"});
  EXPECT_TRUE(calls(15).empty()) << text_;
  EXPECT_EQ(all_["idleCallsAll"], SlowCalls::kMaxKept);
}

TEST_F(SlowTrace, ACallThatSleptMuchLongerThanMostIsListed) {
  define(1, "read");
  for (std::uint64_t i = 0; i < 10; ++i) {
    const std::uint64_t time = i == 4 ? 330 : 6;
    enter(1, 1000 * i);
    sleep(1000 * i, 1000 * i + time);
    leave(1000 * i + time);
  }
  const json slow = calls(2);
  ASSERT_EQ(slow.size(), 1u) << text_;
  EXPECT_DOUBLE_EQ(slow[0]["seconds"], 0.33);
  EXPECT_EQ(all_["idleCallsAll"], 9);
}

// It is in one of the two lists, also where no call was slow.
TEST_F(SlowTrace, ACallThatSleptAsAnExceptionIsAmongTheSlowestSeen) {
  define(1, "order");
  for (std::uint64_t i = 0; i < 3; ++i) {
    enter(1, 1000 * i);
    leave(1000 * i + 300 + i);
  }
  enter(1, 50'000);
  sleep(50'000, 50'420);
  leave(50'420);
  const json slow = calls(1000);
  ASSERT_EQ(slow.size(), 4u) << text_;
  EXPECT_DOUBLE_EQ(slow[0]["sleeping"], 0.42);
  EXPECT_EQ(all_["idleCallsAll"], 0);
  EXPECT_THAT(text_, HasSubstr("no call took 1 s; the slowest seen"));
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

// Its wait has no end in the trace either.
TEST_F(SlowTrace, IdleCallThatHasNotEndedIsIdle) {
  define(1, "take");
  enter(1, 0);
  write(MonWait{.threadIdRef = ThreadId(1), .time = at(1), .objIdRef = ObjectId(8), .timeout = 0});
  write(TraceEnd{.traceIdRef = "t", .time = at(1000)});
  EXPECT_TRUE(calls(200).empty());
  ASSERT_EQ(all_["idleCalls"].size(), 1u);
  EXPECT_EQ(all_["idleCalls"][0]["longest"]["ended"], false);
  EXPECT_THAT(text_, HasSubstr("no call took 200 ms but idle ones\n  idle: 1 call"));
  EXPECT_THAT(text_, HasSubstr(">1000.000  take"));
}

}  // namespace
}  // namespace jtrace::trace::io
