// What threads were doing when the trace began, and until when that is known.
#include "trace/io/first_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/byte_sink.h"
#include "trace/io/converter.h"
#include "trace/io/statistics.h"

namespace jtrace::trace::io {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr std::uint64_t kSecond = 1'000'000'000;

class FirstStatesTest : public testing::Test {
 protected:
  FirstStatesTest() {
    note(TraceStart{.traceId = "t", .time = Time(kSecond)});
    for (const std::uint64_t thread : {1u, 2u, 3u})
      note(ThreadStart{.threadId = ThreadId(thread), .time = Time(kSecond)});
    for (const char* state : {"1 parked", "2 native", "3 waiting"})
      note(Option{.key = "jtrace.threadState", .value = state});
  }
  void note(const Event& event) { states_.note(event, scopes_.note(event)); }
  void wake(std::uint64_t thread, std::uint64_t time) {
    note(MonWaited{.threadIdRef = ThreadId(thread), .time = Time(time)});
  }

  Scopes scopes_{true};
  std::vector<std::string> ended_;  // "THREAD STATE SECONDS"
  FirstStates states_{[this](const Scope&, std::uint64_t thread, const FirstState& state) {
    EXPECT_EQ(state.since, kSecond);
    ended_.push_back(std::to_string(thread) + " " + state.state + " " +
                     std::to_string((state.until - state.since) / kSecond));
  }};
};

TEST_F(FirstStatesTest, LastUntilTheFirstEventOfTheirThread) {
  wake(3, 3 * kSecond);
  wake(3, 4 * kSecond);
  EXPECT_THAT(ended_, UnorderedElementsAre("3 waiting 2"));
  note(ThreadEnd{.threadIdRef = ThreadId(1), .time = Time(5 * kSecond)});
  EXPECT_THAT(ended_, UnorderedElementsAre("3 waiting 2", "1 parked 4"));
  note(TraceEnd{.time = Time(9 * kSecond)});
  EXPECT_THAT(ended_, UnorderedElementsAre("3 waiting 2", "1 parked 4", "2 native 8"));
}

TEST_F(FirstStatesTest, EndWhereEventsMayBeMissing) {
  wake(3, 3 * kSecond);
  note(Option{.key = "jtrace.dropped", .value = "7"});
  wake(1, 8 * kSecond);
  EXPECT_THAT(ended_, UnorderedElementsAre("3 waiting 2", "1 parked 2", "2 native 2"));
}

TEST_F(FirstStatesTest, EndWithACutDocument) {
  wake(3, 3 * kSecond);
  states_.finish();
  EXPECT_THAT(ended_, UnorderedElementsAre("3 waiting 2", "1 parked 2", "2 native 2"));
}

TEST(FirstStates, AreDrawnInChromesFormat) {
  MemorySink bytes;
  auto writer = make_chrome_writer(bytes);
  const std::vector<Event> events = {
      TraceStart{.traceId = "t", .time = Time(kSecond)},
      ThreadStart{.threadId = ThreadId(7), .time = Time(kSecond), .threadName = "Finalizer"},
      Option{.key = "jtrace.threadState", .value = "7 waiting"},
      TraceEnd{.time = Time(3 * kSecond)},
  };
  for (const Event& event : events) ASSERT_TRUE(writer->write(event));
  ASSERT_TRUE(writer->finish());
  EXPECT_THAT(
      std::string(bytes.text()),
      HasSubstr("{\"name\":\"waiting since before the trace\",\"cat\":\"state\",\"ph\":\"X\",\"pid\":1,\"tid\":7,"
                "\"ts\":0.000,\"dur\":2000000.000}"));
  EXPECT_THAT(std::string(bytes.text()), Not(HasSubstr("running")));
}

// --- in the figures of jtrace stats ---

class FirstWaits : public testing::Test {
 protected:
  FirstWaits() {
    write(AgentCreate{.agentId = "a", .processIdRef = "p", .agentName = "jtrace", .time = Time(kSecond)});
    write(TraceStart{.traceId = "t", .agentIdRef = "a", .time = Time(kSecond)});
  }
  void write(const Event& event) { ASSERT_TRUE(statistics_.write(event)); }
  void begin(const char* events) {
    write(Option{.key = "events", .value = events});
    for (const std::uint64_t thread : {1u, 2u, 3u, 4u})
      write(ThreadStart{.threadId = ThreadId(thread), .time = Time(kSecond), .threadName = "t"});
    for (const char* state : {"1 blocked", "2 waiting", "3 sleeping", "4 runnable"})
      write(Option{.key = "jtrace.threadState", .value = state});
  }
  const ThreadStatistics& thread(std::uint64_t id) { return statistics_.by_scope()[0].threads.at(id); }

  Statistics statistics_;
};

TEST_F(FirstWaits, CountAsTheWaitsThatTheyAre) {
  begin("monWaited,monContendedEntered");
  write(ObjDef{.objId = ObjectId(9), .isArray = 8});
  write(MonContendedEntered{.threadIdRef = ThreadId(1), .time = Time(3 * kSecond), .objIdRef = ObjectId(9)});
  write(TraceEnd{.time = Time(5 * kSecond)});
  ASSERT_TRUE(statistics_.finish());
  EXPECT_EQ(thread(1).blocked.total, 2 * kSecond);
  EXPECT_EQ(thread(2).waiting.total, 4 * kSecond);
  EXPECT_EQ(thread(3).sleeping.total, 0u);  // it may have run since
  EXPECT_EQ(thread(4).blocked.total + thread(4).waiting.total, 0u);
  EXPECT_EQ(statistics_.by_scope()[0].contention.at("byte[]").total, 2 * kSecond);
  EXPECT_NE(statistics_.chosen("p", Family::kMonitors), nullptr);
}

TEST_F(FirstWaits, AreNotKnownWhereTheirEndMakesNoEvent) {
  begin("threadStart,threadEnd");
  write(TraceEnd{.time = Time(5 * kSecond)});
  ASSERT_TRUE(statistics_.finish());
  EXPECT_EQ(thread(1).blocked.total, 0u);
  EXPECT_EQ(thread(2).waiting.total, 0u);
}

TEST_F(FirstWaits, CountOnceInTheDocumentsOfARotatedTrace) {
  begin("monWaited,monContendedEntered");
  write(ThreadEnd{.threadIdRef = ThreadId(4), .time = Time(3 * kSecond)});
  write(Option{.key = "jtrace.continues", .value = "t"});
  begin("monWaited,monContendedEntered");
  write(TraceEnd{.time = Time(5 * kSecond)});
  ASSERT_TRUE(statistics_.finish());
  EXPECT_EQ(thread(2).waiting.total, 4 * kSecond);
}

// Its definitions have the times at which they were made, before it began.
TEST(LaterPart, HasTheTimeFromItsBeginOnAndSaysThatItIsOne) {
  Statistics statistics;
  const std::vector<Event> events = {
      TraceStart{.traceId = "u", .time = Time(10 * kSecond)},
      Option{.key = "jtrace.continues", .value = "t"},
      ThreadStart{.threadId = ThreadId(7), .time = Time(2 * kSecond), .threadName = "main"},
      TraceEnd{.time = Time(11 * kSecond)},
  };
  for (const Event& event : events) ASSERT_TRUE(statistics.write(event));
  ASSERT_TRUE(statistics.finish());
  ASSERT_EQ(statistics.by_scope().size(), 1u);
  EXPECT_EQ(statistics.by_scope()[0].first, 10 * kSecond);
  EXPECT_EQ(statistics.by_scope()[0].last, 11 * kSecond);
  EXPECT_TRUE(statistics.by_scope()[0].begins_later);
}

TEST_F(FirstWaits, WaitsGoOnThroughAPause) {
  begin("monWaited,monContendedEntered");
  write(MonWait{.threadIdRef = ThreadId(4), .time = Time(2 * kSecond), .objIdRef = ObjectId(9)});
  write(Option{.key = "jtrace.paused", .value = "true"});
  write(Option{.key = "jtrace.paused", .value = "false"});
  write(MonWaited{.threadIdRef = ThreadId(4), .time = Time(8 * kSecond), .objIdRef = ObjectId(9)});
  write(TraceEnd{.time = Time(9 * kSecond)});
  ASSERT_TRUE(statistics_.finish());
  EXPECT_EQ(thread(4).waiting.total, 6 * kSecond);
}

// --- waits and pauses that the trace does not end ---

class ChromeLanes : public testing::Test {
 protected:
  void write(const Event& event) { ASSERT_TRUE(writer_->write(event)); }
  void producer(const char* process, std::uint64_t pid, const char* agent, const char* trace) {
    write(ProcessCreate{.processId = process, .pid = pid, .time = Time(kSecond)});
    write(AgentCreate{.agentId = agent, .processIdRef = process, .agentName = "jtrace", .time = Time(kSecond)});
    write(TraceStart{.traceId = trace, .agentIdRef = agent, .time = Time(kSecond)});
  }
  std::string text() {
    EXPECT_TRUE(writer_->finish());
    return std::string(bytes_.text());
  }
  MemorySink bytes_;
  std::unique_ptr<Converter> writer_ = make_chrome_writer(bytes_);
};

TEST_F(ChromeLanes, DrawsWaitsAndPausesThatGoOnUntilTheEnd) {
  producer("p", 4, "a", "t");
  write(MonContendedEnter{.threadIdRef = ThreadId(7), .time = Time(2 * kSecond), .objIdRef = ObjectId(9)});
  write(GcStart{.time = Time(3 * kSecond)});
  write(TraceEnd{.time = Time(4 * kSecond)});
  EXPECT_THAT(text(), testing::AllOf(HasSubstr("\"blocked\",\"cat\":\"monitor\",\"ph\":\"X\",\"pid\":4,\"tid\":7,"
                                               "\"ts\":1000000.000,\"dur\":2000000.000"),
                                     HasSubstr("\"GC pause\",\"cat\":\"gc\",\"ph\":\"X\",\"pid\":4,\"tid\":0,"
                                               "\"ts\":2000000.000,\"dur\":1000000.000")));
}

TEST_F(ChromeLanes, KeepsThePausesOfTwoProcessesApart) {
  producer("p", 4, "a", "t");
  producer("q", 5, "b", "u");
  write(GcStart{.time = Time(2 * kSecond), .traceIdRef = "t"});
  write(GcStart{.time = Time(3 * kSecond), .traceIdRef = "u"});
  write(GcFinish{.time = Time(4 * kSecond), .traceIdRef = "t"});
  write(GcFinish{.time = Time(5 * kSecond), .traceIdRef = "u"});
  EXPECT_THAT(text(), testing::AllOf(HasSubstr("\"pid\":4,\"tid\":0,\"ts\":1000000.000,\"dur\":2000000.000"),
                                     HasSubstr("\"pid\":5,\"tid\":0,\"ts\":2000000.000,\"dur\":2000000.000")));
}

}  // namespace
}  // namespace jtrace::trace::io
