#include "session/live_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using trace::ClassId;
using trace::Number;
using trace::ObjectId;
using trace::ThreadId;
using trace::Time;

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kDay = 86'400'000 * kMs;

class LiveWatchTest : public testing::Test {
 protected:
  LiveWatchTest() {
    write(trace::ThreadStart{.threadId = ThreadId(1), .threadName = "clerk"});
    write(trace::ThreadStart{.threadId = ThreadId(2), .threadName = "auditor"});
    write(trace::ThreadStart{.threadId = ThreadId(1'000'000'000'007), .threadName = "GC Thread#0"});
    write(trace::ClassDef{.classId = ClassId(5), .name = "shop/Stock"});
    write(trace::ObjDef{.objId = ObjectId(9), .classIdRef = ClassId(5)});
  }
  void write(const trace::Event& event) { EXPECT_TRUE(watch_.write(event)); }
  void enter(std::uint64_t thread, std::uint64_t ms, ThreadId owner = {}) {
    write(trace::MonContendedEnter{
        .threadIdRef = ThreadId(thread), .time = Time(kDay + ms * kMs), .objIdRef = ObjectId(9), .threadOwner = owner});
  }
  void entered(std::uint64_t thread, std::uint64_t ms) {
    write(trace::MonContendedEntered{
        .threadIdRef = ThreadId(thread), .time = Time(kDay + ms * kMs), .objIdRef = ObjectId(9)});
  }
  void pause(std::uint64_t from, std::uint64_t to) {
    write(trace::GcStart{.time = Time(kDay + from * kMs)});
    write(trace::GcFinish{
        .time = Time(kDay + to * kMs), .totalObjectSpace = Number(64u << 20), .usedObjectSpace = Number(16u << 20)});
  }
  std::string state(std::uint64_t ms) { return watch_.state(kDay + ms * kMs); }

  std::vector<std::string> lines_;
  LiveWatch watch_{[this](std::string_view line) { lines_.emplace_back(line); }};
};

TEST_F(LiveWatchTest, ALongWaitNamesWhoHadTheMonitor) {
  enter(1, 1'000, ThreadId(2));
  entered(1, 1'500);
  EXPECT_FALSE(watch_.lacked_owners());
  EXPECT_THAT(lines_, ElementsAre("00:00:01.000  \"clerk\" was blocked for 500 ms by the monitor of a shop.Stock that "
                                  "\"auditor\" had"));
}

TEST_F(LiveWatchTest, AnOwnerThatHasEndedKeepsItsName) {
  enter(1, 1'000, ThreadId(2));
  write(trace::ThreadEnd{.threadIdRef = ThreadId(2)});
  entered(1, 1'500);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("that \"auditor\" had")));
}

TEST_F(LiveWatchTest, AShortWaitHasNoLine) {
  enter(1, 1'000, ThreadId(2));
  entered(1, 1'019);
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(LiveWatchTest, AnOwnerThatIsNotKnownIsNotNamed) {
  enter(1, 0);
  entered(1, 19);
  EXPECT_FALSE(watch_.lacked_owners()) << "of a short wait nobody asks";
  enter(1, 0);
  entered(1, 20);
  EXPECT_TRUE(watch_.lacked_owners());
  enter(1, 100, ThreadId(0));  // it had none any more
  entered(1, 140);
  EXPECT_THAT(lines_, ElementsAre("00:00:00.000  \"clerk\" was blocked for 20 ms by the monitor of a shop.Stock",
                                  "00:00:00.100  \"clerk\" was blocked for 40 ms by the monitor of a shop.Stock"));
}

TEST_F(LiveWatchTest, TheStateNamesWhoIsBlockedNow) {
  EXPECT_EQ(state(0), "");
  enter(1, 1'000, ThreadId(2));
  EXPECT_EQ(state(1'010), "");
  EXPECT_EQ(state(4'000),
            "1 blocked, the longest for 3.0 s: \"clerk\" by the monitor of a shop.Stock that \"auditor\" has");
  write(trace::ThreadEnd{.threadIdRef = ThreadId(1)});
  EXPECT_EQ(state(5'000), "");
}

TEST_F(LiveWatchTest, AParkForALockThatSomebodyHasIsAWait) {
  const auto park = [&](std::uint64_t ms, std::uint64_t owner) {
    write(trace::MonWait{.threadIdRef = ThreadId(1),
                         .time = Time(kDay + ms * kMs),
                         .objIdRef = ObjectId(9),
                         .timeout = 0,
                         .threadOwner = ThreadId(owner)});
  };
  const auto unparked = [&](std::uint64_t ms) {
    write(trace::MonWaited{.threadIdRef = ThreadId(1), .time = Time(kDay + ms * kMs), .objIdRef = ObjectId(9)});
  };
  park(1'000, 0);  // an idle thread of a pool
  EXPECT_EQ(state(3'000), "");
  unparked(3'500);
  park(4'000, 2);
  EXPECT_EQ(state(5'000), "1 blocked, the longest for 1.0 s: \"clerk\" by a shop.Stock that \"auditor\" has");
  unparked(5'500);
  EXPECT_EQ(state(6'000), "");
  EXPECT_THAT(lines_,
              ElementsAre("00:00:04.000  \"clerk\" was blocked for 1.5 s by a shop.Stock that \"auditor\" had"));
}

TEST_F(LiveWatchTest, AThreadThatWasBlockedBeforeTheTraceIsCountedFromItsBegin) {
  write(trace::TraceStart{.traceId = "t", .time = Time(kDay)});
  write(trace::Option{.key = "jtrace.threadState", .value = "1 blocked"});
  EXPECT_EQ(state(2'000), "") << "without monitor events its end would not be seen";
  write(trace::Option{.key = "events", .value = "gcStart,monContendedEntered"});
  write(trace::Option{.key = "jtrace.threadState", .value = "1 blocked"});
  write(trace::Option{.key = "jtrace.threadState", .value = "2 waiting"});
  EXPECT_EQ(state(3'000),
            "1 blocked, the longest (since before the trace) for 3.0 s: \"clerk\" by the monitor of an object");
  entered(1, 4'000);
  EXPECT_EQ(state(5'000), "");
  EXPECT_THAT(lines_, ElementsAre("00:00:00.000  \"clerk\" was blocked for 4.0 s (and before the trace) by the monitor "
                                  "of a shop.Stock"));
}

class Growth : public LiveWatchTest {
 protected:
  void begin(std::string_view virtual_threads) {
    write(trace::TraceStart{.traceId = "t", .time = Time(kDay)});
    write(trace::Option{.key = "events", .value = "threadStart,threadEnd", .traceIdRef = "t"});
    write(trace::Option{.key = "virtual-threads", .value = virtual_threads, .traceIdRef = "t"});
    state(500);
  }
  // With what is said of each: no begin.
  void meet(std::string_view key, std::string_view kind) {
    for (std::uint64_t id = 10; id < 14; ++id) {
      write(trace::ThreadStart{
          .threadId = ThreadId(id), .time = Time(kDay + 1000 * kMs), .threadName = "v" + std::to_string(id)});
      write(trace::Option{.key = key, .value = std::to_string(id) + " " + std::string(kind)});
    }
  }
};

TEST_F(Growth, VirtualThreadsThatAreMetHaveNotBegun) {
  begin("true");
  meet("jtrace.threadMet", "virtual");
  EXPECT_EQ(state(2'000), "6 threads");
  EXPECT_EQ(watch_.findings(kDay + 30'000 * kMs), "");
}

TEST_F(Growth, VirtualThreadsWhoseEndIsNotTracedDoNotCount) {
  begin("false");
  meet("jtrace.threadMet", "virtual");
  EXPECT_EQ(state(2'000), "2 threads");
  EXPECT_EQ(watch_.findings(kDay + 30'000 * kMs), "");
}

TEST_F(Growth, ThreadsWithAStateOfBeforeHaveNotBegun) {
  begin("false");
  meet("jtrace.threadState", "parked");
  EXPECT_EQ(state(2'000), "6 threads");
  EXPECT_EQ(watch_.findings(kDay + 30'000 * kMs), "");
}

TEST_F(LiveWatchTest, AfterALossNobodyIsKnownToBeBlocked) {
  for (const char* key : {"jtrace.gap", "jtrace.dropped"}) {
    enter(1, 1'000, ThreadId(2));
    EXPECT_THAT(state(4'000), HasSubstr("1 blocked")) << key;
    write(trace::Option{.key = key, .value = "1"});
    EXPECT_EQ(state(5'000), "") << key;
  }
}

TEST_F(LiveWatchTest, PausesAreCountedAndLongOnesShown) {
  pause(100, 105);
  pause(200, 235);
  EXPECT_THAT(lines_, ElementsAre("00:00:00.200  the collector stopped all threads for 35 ms; then 16.0 MiB of 64.0 "
                                  "MiB were used"));
  EXPECT_EQ(state(1'000), "2 pauses, the longest 35 ms");
  EXPECT_EQ(state(2'000), "");
}

TEST_F(LiveWatchTest, APauseSaysWhatItWasFor) {
  write(trace::GcStart{.time = Time(kDay + 200 * kMs)});
  write(trace::GcFinish{.time = Time(kDay + 235 * kMs),
                        .totalObjectSpace = Number(64u << 20),
                        .usedObjectSpace = Number(16u << 20),
                        .cause = "G1 Evacuation Pause",
                        .kind = "young",
                        .usedObjectSpaceBefore = Number(40u << 20)});
  EXPECT_THAT(lines_, ElementsAre("00:00:00.200  the collector stopped all threads for 35 ms (young, G1 Evacuation "
                                  "Pause); 40.0 MiB were used before, then 16.0 MiB of 64.0 MiB"));
}

TEST_F(LiveWatchTest, PausesThatTheProgramAskedForAreCounted) {
  for (const char* cause : {"System.gc()", "G1 Evacuation Pause", "System.gc()"}) {
    write(trace::GcStart{.time = Time(kDay + 200 * kMs)});
    write(trace::GcFinish{.time = Time(kDay + 205 * kMs), .cause = cause});
  }
  EXPECT_EQ(watch_.asked_pauses(), 2u);
}

TEST_F(LiveWatchTest, TheLongestAreTheFindings) {
  EXPECT_EQ(watch_.findings(kDay), "");
  enter(1, 1'000, ThreadId(2));
  entered(1, 1'500);
  enter(1, 2'000);
  entered(1, 2'030);
  pause(3'000, 3'030);
  EXPECT_EQ(
      watch_.findings(kDay + 4'000 * kMs),
      "2 waits of 20 ms and more, the longest 00:00:01.000  \"clerk\" was blocked for 500 ms by the monitor of a "
      "shop.Stock that \"auditor\" had; 1 pause of 20 ms and more, 00:00:03.000  the collector stopped all threads "
      "for 30 ms; then 16.0 MiB of 64.0 MiB were used");
}

TEST_F(LiveWatchTest, WhoIsBlockedAtTheEndIsAFinding) {
  enter(1, 1'000, ThreadId(2));
  EXPECT_EQ(
      watch_.findings(kDay + 3'000 * kMs),
      "at the end 1 blocked, the longest for 2.0 s: \"clerk\" by the monitor of a shop.Stock that \"auditor\" has");
}

TEST_F(LiveWatchTest, AStormIsCutShort) {
  for (std::uint64_t i = 0; i < 50; ++i) {
    enter(1, i * 100);
    entered(1, i * 100 + 30);
  }
  EXPECT_EQ(lines_.size(), LiveWatch::kLines);
  state(5'000);
  ASSERT_EQ(lines_.size(), LiveWatch::kLines + 1);
  EXPECT_THAT(lines_.back(), HasSubstr("40 more"));
}

TEST_F(LiveWatchTest, TheThreadsOfTheProgramAreCounted) {
  write(trace::Option{.key = "events", .value = "threadStart,threadEnd,gcStart"});
  EXPECT_EQ(state(1'000), "2 threads") << "not the collector's; who was there has not started";
  write(trace::ThreadStart{.threadId = ThreadId(3), .threadName = "courier"});
  write(trace::ThreadStart{.threadId = ThreadId(4), .threadName = "courier"});
  write(trace::ThreadEnd{.threadIdRef = ThreadId(1)});
  EXPECT_EQ(state(2'000), "3 threads (2 started, 1 ended)");
  EXPECT_EQ(state(3'000), "3 threads");
  write(trace::ThreadStart{.threadId = ThreadId(3), .threadName = "courier"});  // restated by a new part
  EXPECT_EQ(state(4'000), "3 threads");
}

TEST_F(LiveWatchTest, ThreadsThatBecomeMoreAreAFinding) {
  write(trace::TraceStart{.traceId = "t", .time = Time(kDay)});
  write(trace::Option{.key = "events", .value = "threadStart,threadEnd", .traceIdRef = "t"});
  const auto start = [&](std::uint64_t id, std::uint64_t ms, std::string_view name) {
    write(trace::ThreadStart{.threadId = ThreadId(id), .time = Time(kDay + ms * kMs), .threadName = name});
  };
  start(3, 0, "older");
  for (std::uint64_t i = 10; i < 13; ++i) start(i, 1000 * i, "reader-" + std::to_string(i));
  start(20, 20'000, "writer");
  write(trace::ThreadEnd{.threadIdRef = ThreadId(11), .time = Time(kDay + 21'000 * kMs)});
  EXPECT_EQ(watch_.findings(kDay + 30'000 * kMs),
            "3 threads more than at the beginning, 6.0 a minute: 2 \"reader-*\", 1 \"writer\"");
  write(trace::ThreadEnd{.threadIdRef = ThreadId(3), .time = Time(kDay + 22'000 * kMs)});
  EXPECT_EQ(watch_.findings(kDay + 30'000 * kMs), "");
}

TEST_F(LiveWatchTest, AfterALossNobodyKnowsHowManyThreadsThereAre) {
  write(trace::Option{.key = "events", .value = "threadStart,threadEnd"});
  EXPECT_EQ(state(1'000), "2 threads");
  write(trace::Option{.key = "jtrace.gap", .value = ""});
  EXPECT_EQ(state(2'000), "");
}

}  // namespace
}  // namespace jtrace::session
