// What slow calls waited for, and whose time a wait is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/trace/io/slow_trace.h"
#include "trace/io/slow_calls.h"

namespace jtrace::trace::io {
namespace {

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

class ClassLocks : public SlowTrace {
 protected:
  ClassLocks() {
    write(ClassDef{.classId = ClassId(5), .superclass = "java/lang/Object", .name = "java/lang/Class"});
    write(ClassDef{.classId = ClassId(6), .superclass = "java/lang/Object", .name = "shop/Till"});
    write(ClassDef{.classId = ClassId(16), .superclass = "java/lang/Object", .name = "shop/Desk"});
    write(ObjDef{.objId = ObjectId(7), .classIdRef = ClassId(5)});
    write(ObjDef{.objId = ObjectId(17), .classIdRef = ClassId(5)});
    define(1, "serve");
    define_static(2, 6);
    define_static(3, 16);
    enter(1, 0);
  }
  void define_static(std::uint64_t id, std::uint64_t of_class) {
    write(MethodDef{.name = "take",
                    .isStatic = true,
                    .isSynchronized = true,
                    .classIdRef = ClassId(of_class),
                    .methodId = MethodId(id)});
  }
  // A call of that method, which waits for that object first.
  void take(std::uint64_t method, std::uint64_t ms, std::uint64_t object) {
    write(MonContendedEnter{
        .threadIdRef = ThreadId(1), .time = at(ms), .objIdRef = ObjectId(object), .threadOwner = ThreadId(9)});
    write(MonContendedEntered{.threadIdRef = ThreadId(1), .time = at(ms + 200), .objIdRef = ObjectId(object)});
    enter(method, ms + entered_after_);
    leave(ms + 220);
  }
  std::uint64_t entered_after_ = 1;  // as with --slower-than
};

TEST_F(ClassLocks, OfStaticSynchronizedMethodsNameTheirClass) {
  take(2, 10, 7);
  leave(300);
  const json call = calls()[0];
  EXPECT_THAT(text_, HasSubstr("blocked 200.000 ms in shop.Till.take for the class shop.Till that \"holder\" had"));
  EXPECT_EQ(call["longestWaits"][0]["monitor"], "java.lang.Class");
  EXPECT_EQ(call["longestWaits"][0]["monitorOfClass"], "shop.Till");
  EXPECT_EQ(all_["locks"][0]["monitorOfClass"], "shop.Till");
}

TEST_F(ClassLocks, OfSeveralClassesNameNone) {
  take(2, 10, 7);
  take(3, 300, 7);
  leave(600);
  calls();
  EXPECT_THAT(text_, HasSubstr("for a java.lang.Class that"));
  EXPECT_THAT(text_, Not(HasSubstr("the class")));
}

// The caller may have waited.
TEST_F(ClassLocks, NameNoneBesideAWaitBeforeTheCall) {
  entered_after_ = 200;
  take(2, 10, 7);
  leave(300);
  calls();
  EXPECT_THAT(text_, HasSubstr("for a java.lang.Class that"));
}

TEST_F(ClassLocks, OfOneClassAreOne) {
  take(2, 10, 7);
  take(2, 300, 17);
  leave(600);
  calls();
  EXPECT_THAT(text_, Not(HasSubstr("the class")));
}

class NoOwner : public SlowTrace {
 protected:
  // "23": of the JDK; "": the trace does not say.
  json wait_for_nobody(std::string_view jdk, std::string_view group) {
    if (!jdk.empty()) write(Option{.key = "jtrace.jdk", .value = jdk, .traceIdRef = "t"});
    write(Option{.key = "monitor-owner", .value = "true", .traceIdRef = "t"});
    write(ThreadStart{.threadId = ThreadId(1), .time = at(0), .groupName = group, .threadName = "v"});
    define(1, "serve");
    enter(1, 0);
    write(MonContendedEnter{
        .threadIdRef = ThreadId(1), .time = at(10), .objIdRef = ObjectId(7), .threadOwner = ThreadId(0)});
    write(MonContendedEntered{.threadIdRef = ThreadId(1), .time = at(210), .objIdRef = ObjectId(7)});
    leave(220);
    return calls();
  }
  static constexpr const char* kNote =
      "a virtual thread had it, which JDK 23 and later do not name, or nobody any more";
};

TEST_F(NoOwner, OfVirtualThreadsSaysWhy) {
  wait_for_nobody("25", "VirtualThreads");
  EXPECT_THAT(text_, HasSubstr("  blocked and no owner: " + std::string(kNote) +
                               "; the table of locks is without these waits\n"));
  EXPECT_EQ(all_["ownersNote"], kNote);
  EXPECT_THAT(statistics_text(statistics_, 20), HasSubstr("  ?: " + std::string(kNote)));
  EXPECT_THAT(statistics_json(statistics_, "x", 20), HasSubstr(kNote));
}

TEST_F(NoOwner, OfOtherThreadsSaysNothing) {
  wait_for_nobody("25", "main");
  EXPECT_THAT(text_, Not(HasSubstr("no owner")));
}

TEST_F(NoOwner, OfAJdkThatNamesThemSaysNothing) {
  wait_for_nobody("21", "VirtualThreads");
  EXPECT_THAT(text_, Not(HasSubstr("no owner")));
  EXPECT_FALSE(all_.contains("ownersNote"));
}

// The trace ends while the call waits at a synchronized callee, which has no entry yet.
TEST_F(SlowTrace, TheCallerIsNotChargedForAWaitInWhichTheTraceEnds) {
  define(1, "serve");
  define(2, "outer");
  enter(2, 0);
  enter(1, 10);
  write(MonContendedEnter{.threadIdRef = ThreadId(1), .time = at(30), .objIdRef = ObjectId(7)});
  write(TraceEnd{.traceIdRef = "t", .time = at(310)});
  const json call = calls()[0];
  EXPECT_DOUBLE_EQ(call["blocked"], 0.28);
  const ScopeStatistics& all = *statistics_.chosen("p", Family::kCalls);
  EXPECT_EQ(all.methods.at(1).self, 20 * kMs);
  EXPECT_EQ(all.methods.at(2).self, 10 * kMs);
  EXPECT_EQ(all.methods.at(2).total, 310 * kMs);
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

// A class that extends java.lang.Object alone, and is not that of the method: its object is not the method's.
TEST_F(SlowTrace, AWaitForAnObjectOfAnotherClassIsTheCallers) {
  define(1, "caller");
  define(2, "callee", true);
  ClassDef gate{.classId = ClassId(8), .name = "com/example/Gate"};
  gate.superclass = "java/lang/Object";
  write(gate);
  write(ObjDef{.objId = ObjectId(8), .classIdRef = ClassId(8)});
  enter(1, 0);
  write(MonContendedEnter{.threadIdRef = ThreadId(1), .time = at(10), .objIdRef = ObjectId(8)});
  write(MonContendedEntered{.threadIdRef = ThreadId(1), .time = at(510), .objIdRef = ObjectId(8)});
  enter(2, 510);
  leave(520);
  leave(530);
  EXPECT_EQ(statistics_.by_scope()[0].methods.at(1).self, 520 * kMs);
  EXPECT_EQ(statistics_.by_scope()[0].methods.at(2).total, 10 * kMs);
}

// One wait is one call's: what it calls at once did not wait.
TEST_F(SlowTrace, AWaitIsNotAlsoThatOfTheNextSynchronizedMethod) {
  define(1, "outer", true);
  define(2, "inner", true);
  block(10, 510);
  enter(1, 510);
  enter(2, 510);
  leave(520);
  leave(700);
  const json slow = calls(100);
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_DOUBLE_EQ(slow[0]["seconds"], 0.69);
  EXPECT_EQ(statistics_.by_scope()[0].methods.at(2).total, 10 * kMs);
}

TEST_F(SlowTrace, AWaitFromBeforeAGapIsNoCalls) {
  define(1, "callee", true);
  write(MonContendedEnter{.threadIdRef = ThreadId(1), .time = at(10), .objIdRef = ObjectId(5)});
  write(Option{.key = "jtrace.gap", .value = "thread=1,from=1.020000000,to=1.900000000,lost=3"});
  write(MonContendedEntered{.threadIdRef = ThreadId(1), .time = at(900), .objIdRef = ObjectId(5)});
  enter(1, 900);
  leave(950);
  EXPECT_EQ(statistics_.by_scope()[0].methods.at(1).total, 50 * kMs);
}

TEST_F(SlowTrace, APartOfTheTimeTheProcessStoodStill) {
  define(1, "spins");
  enter(1, 0);
  write(ProcessSuspend{.time = at(100)});
  write(ProcessResume{.time = at(600)});
  leave(700);
  const json slow = calls();
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_DOUBLE_EQ(slow[0]["processStopped"], 0.5);
  EXPECT_DOUBLE_EQ(slow[0]["other"], 0.2);
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
