// What threads were doing when the trace began, and until when that is known.
#include "trace/io/first_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/byte_sink.h"
#include "trace/io/converter.h"

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

}  // namespace
}  // namespace jtrace::trace::io
