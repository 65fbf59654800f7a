// What became of exceptions: by the order of throw and catch events alone.
#include "trace/io/exceptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "trace/io/call_stacks.h"
#include "trace/io/exceptions_text.h"
#include "trace/io/thread_groups.h"
#include "trace/option_keys.h"

namespace jtrace::trace::io {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kObject = 7, kOther = 8, kThread = 1;
constexpr std::uint64_t kFail = 1, kHandles = 2, kOuter = 3, kHelper = 4;

class ExceptionTrace : public ::testing::Test {
 protected:
  ExceptionTrace() {
    scope_.classes[50] = {"com/example/Known", "Known.java"};
    scope_.classes[51] = {"com/example/Outer", "Outer.java"};
    scope_.objects[kObject] = {ClassId(50), Number(0)};
    scope_.objects[kOther] = {ClassId(51), Number(0)};
  }
  void raise(std::uint64_t method, std::uint64_t line, std::uint64_t object = kObject, std::uint64_t thread = kThread,
             std::uint64_t cause = 0) {
    exceptions_.note(Throw{.threadId = ThreadId(thread),
                           .time = Time(++now_ * kSecond),
                           .objIdRef = ObjectId(object),
                           .objHandle = object,
                           .methodIdRef = MethodId(method),
                           .lineNumber = line != 0 ? Number(line) : Number(),
                           .causeIdRef = cause != 0 ? ObjectId(cause) : ObjectId()},
                     scope_);
  }
  void handle(std::uint64_t method, std::uint64_t line, std::uint64_t object = kObject, std::uint64_t thread = kThread,
              Text does = {}) {
    exceptions_.note(Catch{.threadIdRef = ThreadId(thread),
                           .time = Time(++now_ * kSecond),
                           .objIdRef = ObjectId(object),
                           .objHandle = object,
                           .methodIdRef = MethodId(method),
                           .lineNumber = line,
                           .handler = does},
                     scope_);
  }
  // "END CLASS THROWN:LINE CAUGHT:LINE xCOUNT", a row each.
  std::string rows() {
    exceptions_.finish();
    std::string text;
    for (const auto& [key, count] : exceptions_.most_first())
      text += (text.empty() ? "" : "; ") + std::string(name_of(key->end)) + " " + key->type + " " +
              std::to_string(key->thrown.method) + ":" + std::to_string(key->thrown.line) + " " +
              std::to_string(key->caught.method) + ":" + std::to_string(key->caught.line) + " x" +
              std::to_string(count->count);
    return text;
  }

  Scope scope_;
  Exceptions exceptions_;
  std::uint64_t now_ = 0;
};

TEST_F(ExceptionTrace, WhatNobodyThrowsOnIsSwallowed) {
  raise(kFail, 10);
  raise(kHandles, 0);  // it comes out of kFail
  handle(kHandles, 20);
  EXPECT_EQ(rows(), "swallowed com.example.Known 1:10 2:20 x1");
}

TEST_F(ExceptionTrace, AHandlerThatThrowsItOnIsNotItsEnd) {
  raise(kFail, 10);
  handle(kHandles, 20);
  raise(kHandles, 21);
  handle(kOuter, 30);
  EXPECT_EQ(rows(), "swallowed com.example.Known 1:10 3:30 x1");
  EXPECT_EQ(exceptions_.most_first()[0].second->thrown_on, 1u);
}

TEST_F(ExceptionTrace, ThrownOnInAnotherMethodIsTheSameException) {
  raise(kFail, 10);
  handle(kHandles, 20);
  raise(kOuter, 5);  // a helper that the handler calls
  EXPECT_EQ(rows(), "left com.example.Known 1:10 3:0 x1");
}

// OmitStackTraceInFastThrow: one object, thrown by the JVM without a line, and caught in the same method or in a
// caller.
TEST_F(ExceptionTrace, AnExceptionThatTheJvmKeepsIsNewEachTime) {
  for (int i = 0; i < 4; ++i) {
    raise(kHandles, 0);
    --now_;
    handle(kHandles, 20);
  }
  EXPECT_EQ(rows(), "swallowed com.example.Known 2:0 2:20 x4");
  EXPECT_EQ(exceptions_.most_first()[0].second->thrown_on, 0u);
}

TEST_F(ExceptionTrace, AnExceptionThatTheJvmKeepsIsNewForACallerToo) {
  for (int i = 0; i < 4; ++i) {
    raise(kFail, 0);
    handle(kOuter, 20);
  }
  EXPECT_EQ(rows(), "swallowed com.example.Known 1:0 3:20 x4");
}

// It leaves the handler's method, thrown on by code that is not traced.
TEST_F(ExceptionTrace, OutOfTheHandlersMethodItIsThrownOn) {
  raise(kFail, 10);
  handle(kHandles, 20);
  raise(kHandles, 0);
  handle(kOuter, 30);
  EXPECT_EQ(rows(), "swallowed com.example.Known 1:10 3:30 x1");
}

TEST_F(ExceptionTrace, AKeptExceptionThrownAgainAtItsPlaceIsANewOne) {
  for (int i = 0; i < 3; ++i) {
    raise(kFail, 10);
    handle(kHandles, 20);
  }
  raise(kFail, 10);  // out of what is traced
  raise(kFail, 10);
  handle(kHandles, 20);
  EXPECT_EQ(rows(), "swallowed com.example.Known 1:10 2:20 x4; left com.example.Known 1:10 1:0 x1");
}

TEST_F(ExceptionTrace, ThrownAndCaughtOnOneLineAndThrownOnThereIsOne) {
  raise(kFail, 10);
  handle(kFail, 10);
  raise(kFail, 10);
  handle(kOuter, 30);
  EXPECT_EQ(rows(), "swallowed com.example.Known 1:10 3:30 x1");
}

TEST_F(ExceptionTrace, AHelperOfTheHandlerThrowsOnAndIsNoNewException) {
  raise(kFail, 10);
  handle(kHandles, 20);
  raise(kHelper, 5);
  raise(kHandles, 0);  // it comes out of the handler
  handle(kOuter, 30);
  EXPECT_EQ(rows(), "swallowed com.example.Known 1:10 3:30 x1");
  EXPECT_EQ(exceptions_.most_first()[0].second->maybe_anew, 0u);
}

// The program keeps one object and throws it in two places, or on the line that catches it.
TEST_F(ExceptionTrace, WhatDoesNotComeOutOfTheHandlerMayBeANewOne) {
  for (int i = 0; i < 3; ++i) {
    raise(kFail, 10);
    handle(kHandles, 20);
    raise(kHelper, 15);
    handle(kOuter, 30);
  }
  EXPECT_EQ(rows(), "swallowed com.example.Known 1:10 3:30 x3");
  EXPECT_EQ(exceptions_.most_first()[0].second->maybe_anew, 3u);
}

TEST_F(ExceptionTrace, WhatIsThrownAgainOnTheLineThatCaughtItMayBeANewOne) {
  for (int i = 0; i < 3; ++i) {
    raise(kFail, 10);
    handle(kFail, 10);
  }
  EXPECT_EQ(rows(), "swallowed com.example.Known 1:10 1:10 x1");
  EXPECT_EQ(exceptions_.most_first()[0].second->maybe_anew, 2u);
}

TEST_F(ExceptionTrace, TheCauseOfAnotherOneIsWrapped) {
  raise(kFail, 10);
  handle(kHandles, 20);
  raise(kHandles, 21, kOther, kThread, kObject);
  EXPECT_EQ(rows(), "wrapped com.example.Known 1:10 2:20 x1; left com.example.Outer 2:21 2:0 x1");
  EXPECT_EQ(exceptions_.most_first()[0].first->other, "com.example.Outer");
}

TEST_F(ExceptionTrace, WhatItsHandlerUsesIsNotSwallowed) {
  raise(kFail, 10);
  handle(kHandles, 20, kObject, kThread, "uses");
  raise(kFail, 10, kOther);
  handle(kHandles, 21, kOther, kThread, "drops");
  EXPECT_EQ(rows(), "used com.example.Known 1:10 2:20 x1; swallowed com.example.Outer 1:10 2:21 x1");
  EXPECT_EQ(exceptions_.handlers_not_known(), 0u);
}

TEST_F(ExceptionTrace, TheLastHandlerDecidesIfItIsUsed) {
  raise(kFail, 10);
  handle(kHandles, 20, kObject, kThread, "uses");
  raise(kHandles, 21);
  handle(kOuter, 30, kObject, kThread, "drops");
  EXPECT_EQ(rows(), "swallowed com.example.Known 1:10 3:30 x1");
}

TEST_F(ExceptionTrace, OfAHandlerThatTheTraceDoesNotDescribeTheUseIsNotKnown) {
  raise(kFail, 10);
  handle(kHandles, 20);
  raise(kFail, 10, kOther);
  handle(kHandles, 20, kOther, kThread, "drops");
  exceptions_.finish();
  EXPECT_EQ(exceptions_.ended(ExceptionEnd::kSwallowed), 2u);
  EXPECT_EQ(exceptions_.handlers_not_known(), 1u);
}

TEST_F(ExceptionTrace, TheOneThatAnotherSuppressesIsNotSwallowed) {
  raise(kFail, 10, kOther);
  handle(kHandles, 20, kOther);
  raise(kFail, 11);
  handle(kHandles, 22);
  exceptions_.note(Option{.key = kSuppressedKey, .value = "7 by 8"}, scope_);
  raise(kHandles, 20, kOther);
  EXPECT_EQ(rows(), "suppressed com.example.Known 1:11 2:22 x1; left com.example.Outer 1:10 2:0 x1");
}

TEST_F(ExceptionTrace, HandedToAnotherThreadGoesOn) {
  raise(kFail, 10);
  handle(kHandles, 20);
  raise(kOuter, 30, kObject, 2);
  handle(kOuter, 31, kObject, 2);
  EXPECT_EQ(rows(), "swallowed com.example.Known 1:10 3:31 x1");
}

TEST_F(ExceptionTrace, TheSameObjectInTwoThreadsAtOnceIsTwo) {
  raise(kFail, 10);
  raise(kFail, 10, kObject, 2);
  handle(kHandles, 20);
  handle(kOuter, 30, kObject, 2);
  EXPECT_EQ(rows(), "swallowed com.example.Known 1:10 2:20 x1; swallowed com.example.Known 1:10 3:30 x1");
}

TEST_F(ExceptionTrace, AfterALossTheEndIsNotKnown) {
  raise(kFail, 10);
  handle(kHandles, 20);  // at 2 s: may be thrown on in the gap
  raise(kFail, 11, kOther);
  exceptions_.note_gap(kThread, 2 * kSecond + kSecond / 2);
  raise(kFail, 10, kObject, 2);
  handle(kHandles, 20, kObject, 2);  // of another thread
  EXPECT_EQ(rows(),
            "swallowed com.example.Known 1:10 2:20 x1; unknown com.example.Known 1:10 2:20 x1; "
            "unknown com.example.Outer 1:11 1:0 x1");
}

TEST_F(ExceptionTrace, AHandlerThatHasCaughtAnotherOneIsOver) {
  raise(kFail, 10);
  handle(kHandles, 20);
  raise(kFail, 10, kOther);
  handle(kHandles, 20, kOther);
  exceptions_.note_gap(kThread, 0);
  EXPECT_EQ(rows(), "swallowed com.example.Known 1:10 2:20 x1; unknown com.example.Outer 1:10 2:20 x1");
}

TEST_F(ExceptionTrace, CaughtLongBeforeALossIsSwallowed) {
  raise(kFail, 10);
  handle(kHandles, 20);
  exceptions_.note_gap(kThread, 10 * kSecond);
  EXPECT_EQ(rows(), "swallowed com.example.Known 1:10 2:20 x1");
}

// What catches a task's exception, or is left when it ends its thread, is in the JDK.
TEST_F(ExceptionTrace, TellsTheEndOfAThreadFromATaskThatKeepsIt) {
  Statistics statistics;
  const auto write = [&](const Event& event) { ASSERT_TRUE(statistics.write(event)); };
  write(AgentCreate{.agentId = "a", .processIdRef = "p", .agentName = "jtrace", .time = Time(kSecond)});
  write(TraceStart{.traceId = "t", .agentIdRef = "a", .time = Time(kSecond)});
  write(ClassDef{.classId = ClassId(1), .name = "java/lang/Thread"});
  write(ClassDef{.classId = ClassId(2), .name = "java/util/concurrent/FutureTask"});
  write(ClassDef{.classId = ClassId(3), .name = "shop/Job"});
  for (std::uint64_t id = 1; id <= 3; ++id)
    write(MethodDef{.name = "run", .classIdRef = ClassId(id), .methodId = MethodId(id)});
  const auto thrown = [&](std::uint64_t object, std::uint64_t thread, std::uint64_t method, std::uint64_t line) {
    write(Throw{.threadId = ThreadId(thread),
                .time = Time((10 + object) * kSecond),
                .objIdRef = ObjectId(object),
                .methodIdRef = MethodId(method),
                .lineNumber = line != 0 ? Number(line) : Number()});
  };
  thrown(1, 7, 3, 5);
  thrown(1, 7, 1, 0);
  thrown(2, 8, 3, 6);
  write(Catch{.threadIdRef = ThreadId(8),
              .time = Time(12 * kSecond),
              .objIdRef = ObjectId(2),
              .methodIdRef = MethodId(2),
              .lineNumber = 330});
  thrown(3, 9, 3, 7);
  ASSERT_TRUE(statistics.finish());
  const std::string text = exceptions_text(statistics, 20);
  EXPECT_NE(text.find("thrown in shop.Job.run:5, nothing caught it: it left java.lang.Thread.run and ended its thread"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("caught in java.util.concurrent.FutureTask.run:330, which keeps it for Future.get"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("thrown in shop.Job.run:7, no call of the trace caught it: last in shop.Job.run"),
            std::string::npos)
      << text;
}

// Nothing catches it: the JVM throws another one with it, up to JDK 11 without saying that it is the cause.
TEST_F(ExceptionTrace, WhatLeavesAStaticInitializerGoesOnAsTheCauseOfTheJvmsError) {
  constexpr std::uint64_t kInitializer = 5, kError = 9;
  scope_.classes[52] = {"java/lang/ExceptionInInitializerError", ""};
  scope_.objects[kError] = {ClassId(52), Number(0)};
  scope_.methods[kInitializer] = {.name = "<clinit>", .class_id = 50};
  raise(kFail, 10);
  raise(kInitializer, 0);
  raise(kHandles, 0, kError);
  handle(kHandles, 20, kError);
  raise(kInitializer, 11, kOther);  // who used the class has no callouts
  EXPECT_EQ(rows(),
            "wrapped com.example.Known 1:10 5:0 x1; left com.example.Outer 5:11 5:0 x1; "
            "swallowed java.lang.ExceptionInInitializerError 2:0 2:20 x1");
}

TEST_F(ExceptionTrace, TheJvmsErrorHasNoCauseThatItsThreadHadLongBefore) {
  constexpr std::uint64_t kInitializer = 5, kError = 9;
  scope_.classes[52] = {"java/lang/ExceptionInInitializerError", ""};
  scope_.objects[kError] = {ClassId(52), Number(0)};
  scope_.methods[kInitializer] = {.name = "<clinit>", .class_id = 50};
  raise(kInitializer, 10);
  raise(kFail, 12, kOther);
  handle(kHandles, 20, kOther);
  raise(kHandles, 0, kError);  // of a class without callouts
  EXPECT_THAT(rows(), testing::HasSubstr("left com.example.Known 5:10 5:0 x1"));
}

TEST_F(ExceptionTrace, WithoutAnObjectTheHashTellsThemApart) {
  exceptions_.note(Throw{.threadId = ThreadId(1), .objIdRef = ObjectId::unavailable(), .objHandle = 5}, scope_);
  exceptions_.note(Throw{.threadId = ThreadId(1), .objIdRef = ObjectId::unavailable(), .objHandle = 6}, scope_);
  EXPECT_EQ(rows(), "left ? 0:0 0:0 x2");
}

TEST_F(ExceptionTrace, TheMethodsThatItPassedAreItsWay) {
  raise(kFail, 10);
  raise(kHelper, 0);
  raise(kHandles, 0);
  handle(kHandles, 20);
  raise(kFail, 10, kOther);
  raise(kHandles, 0, kOther);
  handle(kHandles, 20, kOther, 2);
  exceptions_.finish();
  const ExceptionCount& row = *exceptions_.most_first()[0].second;
  EXPECT_EQ(row.ways, (std::map<ExceptionWay, std::uint64_t>{{{.passed = {kHelper}, .callers = {}}, 1}}));
  EXPECT_EQ(row.threads, (std::map<std::uint64_t, std::uint64_t>{{kThread, 1}}));
}

// What was called before the handler's method is open; what it calls is not its caller.
TEST_F(ExceptionTrace, TheOpenCallsAreTheCallersOfTheHandler) {
  raise(kFail, 10);
  const std::vector<OpenFrame> calls = {{.method = 90}, {.method = kOuter}, {.method = kHandles}, {.method = kHelper}};
  exceptions_.note(Catch{.threadIdRef = ThreadId(kThread),
                         .time = Time(++now_ * kSecond),
                         .objIdRef = ObjectId(kObject),
                         .objHandle = kObject,
                         .methodIdRef = MethodId(kHandles),
                         .lineNumber = 20},
                   scope_, &calls);
  exceptions_.finish();
  const ExceptionCount& row = *exceptions_.most_first()[0].second;
  EXPECT_EQ(row.ways, (std::map<ExceptionWay, std::uint64_t>{{{.passed = {}, .callers = {kOuter, 90}}, 1}}));
}

// It is thrown on by its handler and leaves: nobody's handler ended it.
TEST_F(ExceptionTrace, WhatIsThrownOnHasNoCallersOfAHandler) {
  raise(kFail, 10);
  const std::vector<OpenFrame> calls = {{.method = kOuter}, {.method = kHandles}};
  exceptions_.note(Catch{.threadIdRef = ThreadId(kThread),
                         .time = Time(++now_ * kSecond),
                         .objIdRef = ObjectId(kObject),
                         .objHandle = kObject,
                         .methodIdRef = MethodId(kHandles),
                         .lineNumber = 20},
                   scope_, &calls);
  ++now_;
  raise(kHandles, 21);
  raise(kOuter, 0);
  exceptions_.finish();
  const auto [key, row] = exceptions_.most_first()[0];
  EXPECT_EQ(key->end, ExceptionEnd::kLeft);
  ASSERT_EQ(row->ways.size(), 1u);
  EXPECT_EQ(row->ways.begin()->first.callers, std::vector<std::uint64_t>());
}

TEST_F(ExceptionTrace, AWayThatIsTooLongIsCut) {
  for (std::uint64_t i = 0; i < Exceptions::kMaxPassed + 10; ++i) raise(1000 + i, i == 0 ? 10 : 0);
  exceptions_.finish();
  const ExceptionCount& row = *exceptions_.most_first()[0].second;
  ASSERT_EQ(row.ways.size(), 1u);
  EXPECT_TRUE(row.ways.begin()->first.is_cut);
  EXPECT_EQ(row.ways.begin()->first.passed.size(), Exceptions::kMaxPassed);
}

TEST_F(ExceptionTrace, MemoryOfThreadsIsBounded) {
  for (std::uint64_t thread = 1; thread <= ExceptionCount::kMaxThreads + 5; ++thread) {
    raise(kFail, 10, thread + 100, thread);
    handle(kFail, 20, thread + 100, thread);
  }
  exceptions_.finish();
  const ExceptionCount& row = *exceptions_.most_first()[0].second;
  EXPECT_EQ(row.threads.size(), ExceptionCount::kMaxThreads);
  EXPECT_EQ(row.other_threads, 5u);
  EXPECT_EQ(row.count, ExceptionCount::kMaxThreads + 5);
}

// Of a trace that has methods too: who threw it, through whom, and who called the handler.
TEST(ExceptionText, ARowSaysWho) {
  Statistics statistics;
  const auto write = [&](const Event& event) { ASSERT_TRUE(statistics.write(event)); };
  write(AgentCreate{.agentId = "a", .processIdRef = "p", .agentName = "jtrace", .time = Time(kSecond)});
  write(TraceStart{.traceId = "t", .agentIdRef = "a", .time = Time(kSecond)});
  constexpr const char* kMethods[] = {"open", "send", "deliver", "work"};
  for (std::uint64_t id = 1; id <= 4; ++id) write(MethodDef{.name = kMethods[id - 1], .methodId = MethodId(id)});
  for (std::uint64_t thread = 1; thread <= 3; ++thread) {
    const ThreadId id(thread);
    const Time now(thread * 10 * kSecond);
    const std::string name = "mail-" + std::to_string(thread);
    write(ThreadStart{.threadId = id, .time = now, .threadName = name});
    for (std::uint64_t method = 4; method >= 1; --method)
      write(MethodEntry{.threadIdRef = id, .time = now, .methodIdRef = MethodId(method), .ticket = method});
    for (std::uint64_t method = 1; method <= 3; ++method) {
      write(Throw{.threadId = id,
                  .time = now,
                  .objIdRef = ObjectId(thread),
                  .methodIdRef = MethodId(method),
                  .lineNumber = method == 1 ? Number(5) : Number()});
      if (method == 3) break;
      write(MethodExit{.threadIdRef = id, .time = now, .ticket = method, .methodIdRef = MethodId(method)});
    }
    write(Catch{
        .threadIdRef = id, .time = now, .objIdRef = ObjectId(thread), .methodIdRef = MethodId(3), .lineNumber = 8});
  }
  ASSERT_TRUE(statistics.finish());
  const std::string text = exceptions_text(statistics, 20);
  EXPECT_THAT(text, testing::HasSubstr("thrown in open:5, caught in deliver:8\n"
                                       "                          through send; handler called by work\n"
                                       "                          in 3 threads: mail-1 .. mail-3\n"));
  EXPECT_THAT(
      exceptions_json(statistics, "t.xml", 20),
      testing::HasSubstr(
          R"("ways":[{"count":3,"passed":["send"],"callers":["work"]}],"otherWays":0,"threads":[{"threadId":1,"name":"mail-1","count":1},)"));
}

TEST(ThreadGroups, NamesThatDifferInTheirNumberAreOne) {
  EXPECT_EQ(thread_names_text({"mail-10", "main", "mail-2", "mail-1"}, 3), "mail-1 .. mail-10, main");
  EXPECT_EQ(thread_names_text({"mail-2", "mail-1"}, 3), "mail-1, mail-2");
  EXPECT_EQ(thread_names_text({"7", "a", "b", "c1", "c2", "c3"}, 2), "c1 .. c3, 7 and 2 more");
  EXPECT_EQ(thread_names_text({"same", "same"}, 3), "same");
}

}  // namespace
}  // namespace jtrace::trace::io
