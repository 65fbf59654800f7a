// Records of context switches joined into waits.
#include "sampling/wait_tracker.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace jtrace::sampling {
namespace {

constexpr std::uint64_t kBegin = 1000, kLeast = 10;

// "tid begin-end" with a letter for each of what is true of it, a space each.
std::string text_of(const Wait& wait) {
  return std::to_string(wait.tid) + " " + std::to_string(wait.begin) + "-" + std::to_string(wait.end) +
         (wait.at ? " stack" : "") + (wait.preempted ? " preempted" : "") + (wait.from_before ? " before" : "") +
         (wait.still ? " still" : "") + (wait.owner ? " owner=" + wait.owner->name : "") +
         (wait.waker ? " waker=" + *wait.waker : "") + "\n";
}

struct Recording {
  std::string waits;
  WaitTracker tracker{kLeast, [this](std::uint32_t tid) { waits += std::to_string(tid) + " ended\n"; },
                      [](const Wakeup& wakeup, std::uint32_t) { return std::to_string(wakeup.waker_tid); }};
  std::array<std::byte, 2> stack{std::byte{1}, std::byte{2}};

  void leaves(std::uint32_t tid, std::uint64_t time) {
    SampleRecord sample;
    sample.pid = 1, sample.tid = tid, sample.time = time;
    sample.stack = stack;
    tracker.add(sample);
  }
  void out(std::uint32_t tid, std::uint64_t time, bool preempted = false) {
    tracker.add(SwitchRecord{.pid = 1, .tid = tid, .time = time, .out = true, .preempted = preempted});
  }
  void in(std::uint32_t tid, std::uint64_t time) { tracker.add(SwitchRecord{.pid = 1, .tid = tid, .time = time}); }
  void wakes(std::uint32_t waker, std::uint32_t tid, std::uint64_t time) {
    tracker.add(Wakeup{.tid = tid, .waker_pid = 1, .waker_tid = waker, .time = time});
  }
  // The threads whose owners are to be looked for; `found`: what each look finds, "" for none.
  std::string looks(std::uint64_t now, const std::string& found = "") {
    std::string tids;
    std::vector<std::uint32_t> looked;
    tracker.find_ownerless(now, [&](std::uint32_t, std::uint32_t tid, std::uint64_t) {
      tids += std::to_string(tid) + " ";
      looked.push_back(tid);
      return true;
    });
    for (const std::uint32_t tid : looked) tracker.owner(tid, {.name = found, .from = now, .until = now + 1});
    return tids;
  }
  TakeWait take() {
    return [this](const Wait& wait) { waits += text_of(wait); };
  }
  std::string up_to(std::uint64_t time) {
    waits.clear();
    tracker.advance(time, take());
    return waits;
  }
  std::string at_end(std::uint64_t time) {
    waits.clear();
    tracker.finish(time, take());
    return waits;
  }
};

TEST(WaitTracker, JoinsWhereAThreadLeftAndWhenItWasBack) {
  Recording recording;
  recording.leaves(7, 1100);
  recording.out(7, 1101);
  recording.in(7, 1151);
  EXPECT_EQ(recording.up_to(2000), "7 1101-1151 stack\n");
}

TEST(WaitTracker, KeepsACopyOfTheStack) {
  Recording recording;
  recording.leaves(7, 1100);
  recording.stack.fill(std::byte{9});
  recording.out(7, 1101);
  recording.in(7, 1151);
  std::size_t seen = 0;
  recording.tracker.advance(2000, [&](const Wait& wait) {
    ++seen;
    ASSERT_TRUE(wait.at);
    ASSERT_EQ(wait.at->stack.size(), 2u);
    EXPECT_EQ(wait.at->stack[1], std::byte{2});
  });
  EXPECT_EQ(seen, 1u);
}

TEST(WaitTracker, OrdersTheRecordsOfSeveralRings) {
  Recording recording;
  recording.in(7, 1151);  // of a ring that is read first
  recording.leaves(7, 1100);
  recording.out(7, 1100);
  EXPECT_EQ(recording.up_to(2000), "7 1100-1151 stack\n");
  EXPECT_EQ(recording.tracker.broken(), 0u);
}

TEST(WaitTracker, LeavesWhatIsTooNewForTheNextTime) {
  Recording recording;
  recording.leaves(7, 1100);
  recording.out(7, 1101);
  recording.in(7, 1151);
  EXPECT_EQ(recording.up_to(1150), "");
  EXPECT_EQ(recording.up_to(1151), "7 1101-1151 stack\n");
}

TEST(WaitTracker, CountsBriefWaitsWithoutGivingThem) {
  Recording recording;
  recording.leaves(7, 1100);
  recording.out(7, 1101);
  recording.in(7, 1110);
  EXPECT_EQ(recording.up_to(2000), "");
  EXPECT_EQ(recording.tracker.brief(), 1u);
  EXPECT_EQ(recording.tracker.brief_ns(), 9u);
}

TEST(WaitTracker, CutsAWaitThatBeganBeforeAndOneThatHasNotEnded) {
  Recording recording;
  for (const std::uint32_t tid : {7u, 9u}) recording.tracker.existed(1, tid, kBegin);
  recording.in(7, 1100);
  recording.leaves(8, 1200);
  recording.out(8, 1200);
  EXPECT_EQ(recording.up_to(2000), "7 1000-1100 before\n");
  EXPECT_EQ(recording.at_end(2000), "8 1200-2000 stack still\n9 1000-2000 before still\n");
}

TEST(WaitTracker, HasTheWaitOfAThreadThatWasSeenRunningOnlyLater) {
  Recording recording;
  for (const std::uint32_t tid : {7u, 8u, 9u, 10u}) {
    recording.tracker.existed(1, tid, kBegin);
    recording.tracker.ran(tid, 1150);
  }
  recording.in(7, 1100);   // it was looked at after that
  recording.out(8, 1160);  // it ran from the beginning on
  recording.in(8, 1180);
  recording.in(9, 1170);  // that it left was lost
  EXPECT_EQ(recording.up_to(2000), "7 1000-1100 before\n8 1160-1180\n");
  EXPECT_EQ(recording.tracker.broken(), 1u);
  EXPECT_EQ(recording.at_end(2000), "") << "10 ran all the time";
}

TEST(WaitTracker, TellsWhoWasPreempted) {
  Recording recording;
  recording.leaves(7, 1100);
  recording.out(7, 1101, true);
  recording.in(7, 1151);
  EXPECT_EQ(recording.up_to(2000), "7 1101-1151 stack preempted\n");
}

TEST(WaitTracker, HasNoStackWhereTheSampleWasLost) {
  Recording recording;
  recording.leaves(7, 1100);
  recording.out(7, 1101);
  recording.in(7, 1151);
  recording.out(7, 1200);
  recording.in(7, 1250);
  EXPECT_EQ(recording.up_to(2000), "7 1101-1151 stack\n7 1200-1250\n") << "not that of the wait before";
}

TEST(WaitTracker, DoesNotKeepTheStackOfAWaitWhoseEndWasLost) {
  Recording recording;
  recording.leaves(7, 1100);
  recording.out(7, 1101);
  recording.out(7, 1200);  // back and the sample were lost
  recording.in(7, 1250);
  EXPECT_EQ(recording.up_to(1250), "7 1200-1250\n");
  EXPECT_EQ(recording.tracker.broken(), 1u);
  recording.leaves(7, 1300);
  recording.out(7, 1301);
  recording.leaves(7, 1400);  // only back was lost
  recording.out(7, 1401);
  recording.in(7, 1450);
  EXPECT_EQ(recording.up_to(2000), "7 1401-1450 stack\n");
}

TEST(WaitTracker, CountsSwitchesThatWereLost) {
  Recording recording;
  recording.out(7, 1100);
  recording.out(7, 1200);
  recording.in(7, 1250);
  recording.in(7, 1300);
  EXPECT_EQ(recording.up_to(2000), "7 1200-1250\n");
  EXPECT_EQ(recording.tracker.broken(), 2u);
}

// A look at a thread may come after its first records were taken.
TEST(WaitTracker, IsNotMisledByALateLook) {
  Recording recording;
  recording.tracker.existed(1, 7, kBegin);
  recording.in(7, 1100);
  recording.out(7, 1200);
  EXPECT_EQ(recording.up_to(1250), "7 1000-1100 before\n");
  recording.tracker.ran(7, 1260);
  recording.tracker.ran(8, 1260);  // it has ended
  recording.in(7, 1300);
  EXPECT_EQ(recording.up_to(2000), "7 1200-1300\n");
  EXPECT_EQ(recording.at_end(3000), "");
}

TEST(WaitTracker, CutsWaitsWhereSwitchesWereLost) {
  Recording recording;
  recording.tracker.existed(1, 9, kBegin);
  recording.leaves(7, 1100);
  recording.out(7, 1100);
  recording.in(8, 1150);
  recording.leaves(6, 1220);  // of a ring that had room
  recording.out(6, 1220);
  recording.in(7, 1500);
  recording.in(6, 1500);
  recording.out(8, 1550);
  recording.in(8, 1580);
  recording.tracker.lost(1200, 1300);
  EXPECT_EQ(recording.up_to(2000), "7 1100-1200 stack\n9 1000-1200 before\n7 1300-1500\n6 1300-1500\n8 1550-1580\n");
  EXPECT_EQ(recording.at_end(2000), "9 1300-2000 still\n");
  EXPECT_EQ(recording.tracker.blind_ns(), 100u);
}

TEST(WaitTracker, FindsWhoWaitsWithoutAStack) {
  Recording recording;
  for (const std::uint32_t tid : {7u, 8u, 9u, 10u}) recording.tracker.existed(1, tid, kBegin);
  recording.tracker.ran(10, 1050);
  const auto stackless = [&recording] {
    std::string tids;
    for (const auto& each : recording.tracker.stackless()) tids += std::to_string(each.tid) + " ";
    return tids;
  };
  EXPECT_EQ(stackless(), "7 8 9 ") << "10 was seen running";
  recording.leaves(8, 1100);
  recording.out(8, 1100);
  recording.out(9, 1100, true);
  recording.up_to(1200);
  EXPECT_EQ(stackless(), "7 ") << "8 has a stack, 9 only has no processor";
  recording.tracker.lost(1300, 1400);
  recording.up_to(1500);
  EXPECT_EQ(stackless(), "7 8 9 ");
}

TEST(WaitTracker, HasNothingOfWaitsThatEndedWhileSwitchesWereLost) {
  Recording recording;
  recording.out(7, 1100);
  recording.in(7, 1250);
  recording.out(8, 1240);
  recording.in(8, 1290);
  recording.tracker.lost(1200, 1300);
  recording.tracker.lost(1210, 1320);  // of another ring
  recording.out(7, 1400);
  recording.in(7, 1450);
  EXPECT_EQ(recording.up_to(2000), "7 1100-1200\n7 1400-1450\n");
  EXPECT_EQ(recording.tracker.blind_ns(), 120u);
}

TEST(WaitTracker, DoesNotMistakeANewThreadForOneThatEnded) {
  Recording recording;
  recording.tracker.existed(1, 7, kBegin);
  recording.out(7, 1100);
  recording.tracker.ended(7, 1150);
  recording.in(7, 1200);
  EXPECT_EQ(recording.up_to(2000), "7 ended\n") << "the thread has just started";
  EXPECT_EQ(recording.tracker.broken(), 0u);
}

TEST(WaitTracker, TellsOfAThreadsEndAfterItsLastWait) {
  Recording recording;
  recording.tracker.ended(7, 1180);  // of a ring that is read first
  recording.out(7, 1100);
  recording.in(7, 1150);
  EXPECT_EQ(recording.up_to(2000), "7 1100-1150\n7 ended\n");
}

// Also if its record comes from a ring that is read later; what was before the wait before belongs to that one.
TEST(WaitTracker, NamesTheLastOneWhoWokeAThread) {
  Recording recording;
  recording.out(7, 1100);
  recording.in(7, 1150);
  recording.out(7, 1200);
  recording.in(7, 1250);
  recording.out(7, 1300);
  recording.in(7, 1350);
  recording.wakes(8, 7, 1140);
  recording.wakes(9, 7, 1240);
  recording.wakes(7, 7, 1290);  // about to wait, it was its own
  recording.wakes(9, 6, 1320);  // nobody's that is known
  EXPECT_EQ(recording.up_to(2000), "7 1100-1150 waker=8\n7 1200-1250 waker=9\n7 1300-1350\n");
}

TEST(WaitTracker, KnowsNoWakerOfWhoStillWaitsOrWasPreempted) {
  Recording recording;
  recording.out(7, 1100, true);
  recording.in(7, 1150);
  recording.out(8, 1100);
  recording.wakes(9, 7, 1140);
  recording.wakes(9, 8, 1190);
  EXPECT_EQ(recording.at_end(1200), "7 1100-1150 preempted\n8 1100-1200 still\n");
}

TEST(WaitTracker, LooksForTheOwnerSomeTimesUntilItIsSeen) {
  Recording recording;
  recording.out(7, 1100);
  recording.out(8, 1100, true);
  EXPECT_EQ(recording.up_to(1100), "");
  EXPECT_EQ(recording.looks(1105), "") << "it has not waited for long";
  EXPECT_EQ(recording.looks(1110), "7 ");
  EXPECT_EQ(recording.looks(1120, "holder"), "7 ");
  EXPECT_EQ(recording.looks(1130), "");
  recording.in(7, 1150);
  recording.out(7, 1200);
  EXPECT_EQ(recording.up_to(1200), "7 1100-1150 owner=holder\n");
  for (std::uint64_t look = 0; look < 3; ++look) EXPECT_EQ(recording.looks(1220 + look), "7 ");
  EXPECT_EQ(recording.looks(1230), "") << "it has none";
}

// It may have been back, and wait for something else now.
TEST(WaitTracker, TakesNoOwnerThatWasSeenAfterTheWait) {
  Recording recording;
  recording.out(7, 1100);
  EXPECT_EQ(recording.up_to(1100), "");
  EXPECT_EQ(recording.looks(1160, "holder"), "7 ");
  recording.in(7, 1150);
  EXPECT_EQ(recording.up_to(2000), "7 1100-1150\n");
}

}  // namespace
}  // namespace jtrace::sampling
