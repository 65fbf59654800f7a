// Each rule on both sides of its boundary.
#include "diagnose/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/collectors.h"
#include "diagnose/outside_waits.h"
#include "tests/unit/diagnose/found_by.h"

namespace jtrace::diagnose {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ThreadFact thread(ThreadKey key) {
  return {.key = key,
          .name = "t" + std::to_string(key),
          .tid = static_cast<pid_t>(1000 + key),
          .state = "RUNNABLE",
          .frames = {{"App.turn", "App.java:3", 7}, {"App.run", "App.java:9", 1}},
          .whole = true};
}
ThreadFact waiter(ThreadKey key, ThreadKey owner) {
  ThreadFact fact = thread(key);
  fact.wait =
      WaitFact{.kind = "monitor", .text = "waiting to lock", .object = 0x10, .class_name = "Lock", .owner = owner};
  return fact;
}
Facts facts_of(std::vector<ThreadsLook> looks) {
  Facts facts{.target = "4711"};
  for (std::size_t i = 0; i < looks.size(); ++i) looks[i].ns = (i + 1) * kSecond;
  facts.looks = std::move(looks);
  return facts;
}

ThreadsLook deadlocked() { return {.threads = {waiter(1, 2), waiter(2, 1)}, .deadlocks = {{1, 2}}}; }

TEST(CrashRule, NamesSignalAddressThreadAndFrames) {
  Facts facts = facts_of({{.threads = {waiter(1, 2), waiter(2, 1)}, .deadlocks = {{1, 2}}}});
  facts.live = false;
  EXPECT_THAT(found_by(find_crash, facts), IsEmpty());
  facts.crash =
      CrashFact{.signal = "SIGSEGV", .fault = 0x10, .thread = "main", .nid = 7, .frames = {"App.f(App.java:3)"}};
  const auto found = found_by(find_crash, facts);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].sentence,
            "The JVM crashed: SIGSEGV at the address 0x10, in the thread \"main\" with the native id 7.");
  EXPECT_THAT(found[0].evidence, ::testing::ElementsAre("at App.f(App.java:3)"));
  EXPECT_EQ(found[0].confidence, Confidence::kCertain);
  EXPECT_EQ(found[0].next, "jtrace stack 4711");
  // Nothing is more important.
  EXPECT_EQ(rules().front().name, "crash");
}

TEST(DeadlockRule, NeedsTheSameCircleAtTwoLooks) {
  const ThreadsLook none{.threads = {waiter(1, 2), waiter(2, 1)}};
  ThreadsLook turned = deadlocked();
  turned.deadlocks = {{2, 1}};
  EXPECT_THAT(found_by(find_deadlocks, facts_of({none, none, deadlocked()})), IsEmpty());
  EXPECT_THAT(found_by(find_deadlocks, facts_of({deadlocked(), deadlocked(), none})), IsEmpty());
  const auto found = found_by(find_deadlocks, facts_of({none, deadlocked(), turned}));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].confidence, Confidence::kCertain);
  EXPECT_THAT(found[0].sentence, HasSubstr("\"t2\", \"t1\""));
}

TEST(DeadlockRule, CountsThreadsThatAreStuckAfterIt) {
  ThreadsLook look = deadlocked();
  look.threads.push_back(waiter(3, 1));
  look.threads.push_back(waiter(4, 3));
  look.threads.push_back(waiter(5, 9));  // for somebody else
  look.threads.push_back(waiter(6, 2));
  look.threads.back().wait->kind = "wait";  // which somebody else may end
  ThreadsLook before = look;
  const auto lines = [&] { return found_by(find_deadlocks, facts_of({{}, before, look})).at(0).evidence; };
  EXPECT_THAT(lines(), ::testing::Contains("2 other threads wait for these, and cannot go on either: \"t3\", \"t4\""));
  EXPECT_EQ(lines().back(), "the same circle at 2 looks: it has lasted for at least 1.0 s");
  before.threads.erase(before.threads.begin() + 3);  // one that has just come
  EXPECT_THAT(lines(), ::testing::Contains("1 other thread waits for these, and cannot go on either: \"t3\""));
}

TEST(DeadlockRule, ACoreStandsStillAndASingleLookMayBeTorn) {
  Facts facts = facts_of({deadlocked()});
  EXPECT_EQ(found_by(find_deadlocks, facts).at(0).confidence, Confidence::kLikely);
  facts.live = false;
  EXPECT_EQ(found_by(find_deadlocks, facts).at(0).confidence, Confidence::kCertain);
}

ThreadsLook crowd(int waiters, ThreadKey owner) {
  ThreadsLook look{.threads = {thread(99), thread(98)}};
  for (int i = 1; i <= waiters; ++i) look.threads.push_back(waiter(i, owner));
  return look;
}

TEST(ContentionRule, NeedsFiveOfTheSameWaitersAndOneOwner) {
  EXPECT_THAT(found_by(find_contention, facts_of({crowd(4, 99), crowd(9, 99), crowd(9, 99)})), IsEmpty());
  EXPECT_THAT(found_by(find_contention, facts_of({crowd(9, 99), crowd(9, 98), crowd(9, 99)})), IsEmpty());
  EXPECT_THAT(found_by(find_contention, facts_of({crowd(9, 0), crowd(9, 0), crowd(9, 0)})), IsEmpty());
  const auto found = found_by(find_contention, facts_of({crowd(5, 99), crowd(6, 99), crowd(9, 99)}));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].sentence, HasSubstr("5 threads wait for a lock that \"t99\""));
}

TEST(ContentionRule, SaysWhereTheWaitersAreAndWhatTheOwnerWaitsFor) {
  Facts facts = facts_of({crowd(5, 99), crowd(5, 99), crowd(5, 99)});
  for (ThreadsLook& look : facts.looks) {
    for (ThreadFact& each : look.threads) each.frames = {{"Shop.add", "Shop.java:4", 1}};
    look.threads.back().frames = {{"Shop.read", "Shop.java:9", 1}};
    look.threads.front().frames = {
        {"sun.nio.ch.Net.poll", "", 1}, {"sun.nio.ch.NioSocketImpl.implRead", "", 2}, {"Feed.pull", "Feed.java:8", 3}};
    look.threads.front().slept = true;
  }
  const auto found = found_by(find_contention, facts);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].evidence,
              ::testing::IsSupersetOf({"its owner \"t99\" #99 waits for data from a socket, at Feed.pull(Feed.java:8)",
                                       "4 waiters at Shop.add(Shop.java:4): \"t1\", \"t2\", \"t3\" and 1 more",
                                       "1 waiter at Shop.read(Shop.java:9): \"t5\""}));
  EXPECT_THAT(found[0].evidence.front(), HasSubstr("at 3 looks over 2.0 s"));
  EXPECT_EQ(found[0].next, "jtrace stack 4711 --java --group");
}

TEST(OutsideWait, IsACallOfTheJdkFromThatPlace) {
  ThreadFact fact = thread(1);
  EXPECT_EQ(outside_wait(fact), "");
  fact.frames.insert(fact.frames.begin(), {"java.io.FileInputStream.readBytes", "", 1});
  EXPECT_EQ(outside_wait(fact), "reads from a file or pipe");
  fact.slept = true;
  EXPECT_EQ(outside_wait(fact), "waits for data from a file or pipe");
  fact.frames.insert(fact.frames.begin(), {"App.filter", "App.java:1", 1});  // a class file transformer, a class loader
  EXPECT_EQ(outside_wait(fact), "");
}

TEST(ContentionRule, SharingOneServerSocketIsNone) {
  const auto facts = [](const char* method) {
    Facts made = facts_of({crowd(9, 99), crowd(9, 99), crowd(9, 99)});
    for (ThreadsLook& look : made.looks)
      look.threads.front().frames = {{"sun.nio.ch.Net.poll", "", 1}, {method, "", 2}};
    return found_by(find_contention, made);
  };
  EXPECT_THAT(facts("sun.nio.ch.NioSocketImpl.accept"), IsEmpty());
  EXPECT_THAT(facts("sun.nio.ch.ServerSocketChannelImpl.accept"), IsEmpty());
  EXPECT_THAT(facts("sun.nio.ch.NioSocketImpl.implRead"), SizeIs(1));
}

// Fewer waiters do, if they have not run between the looks.
TEST(ContentionRule, NeedsThreeIfTheyWaitedAllTheTime) {
  const auto facts = [](int waiters, const char* kind, std::uint64_t ran) {
    Facts made = facts_of({crowd(waiters, 99), crowd(waiters, 99), crowd(waiters, 99)});
    for (std::size_t i = 0; i < 3; ++i)
      for (ThreadFact& each : made.looks[i].threads) {
        each.ran_ns = i * ran;
        if (each.wait) each.wait->kind = kind;
      }
    return made;
  };
  const auto found = found_by(find_contention, facts(3, "park", 100'000));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].sentence, HasSubstr("3 threads wait for a lock that \"t99\""));
  EXPECT_THAT(found_by(find_contention, facts(2, "park", 100'000)), IsEmpty());
  EXPECT_THAT(found_by(find_contention, facts(3, "park", 50'000'000)), IsEmpty());
  EXPECT_THAT(found_by(find_contention, facts(3, "monitor", 100'000)), SizeIs(1));
  Facts carried = facts(3, "park", 100'000);
  for (ThreadsLook& look : carried.looks)
    for (ThreadFact& each : look.threads) {
      each.is_virtual = true;
      each.ran_ns.reset();
      each.frames = {{"Shop.wait", "Shop.java:9", 4}};
    }
  EXPECT_THAT(found_by(find_contention, carried), SizeIs(1)) << "their stacks are the same";
  carried.looks[0].threads[2].frames[0].bci = 5;
  EXPECT_THAT(found_by(find_contention, carried), IsEmpty());
}

// Three looks at eight threads of which one has the lock; they waited `waits` times between two looks, the stops not
// counted, and were ready without a processor for the share `queued`.
Facts turns(const std::vector<ThreadKey>& owners, std::uint64_t waits, double queued = 0) {
  std::vector<ThreadsLook> looks(3);
  for (std::size_t i = 0; i < 3; ++i)
    for (ThreadKey key = 1; key <= 8; ++key) {
      ThreadFact fact = key == owners[i] ? thread(key) : waiter(key, owners[i]);
      fact.ran_ns = i * 100'000;
      fact.queued_ns = static_cast<std::uint64_t>(queued * static_cast<double>(i * kSecond));
      fact.measured_ns = i * kSecond;
      fact.waits = 100 + i * (2 + waits);
      fact.slept = true;
      looks[i].threads.push_back(fact);
    }
  return facts_of(std::move(looks));
}

TEST(ContentionRule, KnowsALockThatGoesFromHandToHand) {
  const auto found = found_by(find_contention, turns({1, 5, 3}, 9));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].confidence, Confidence::kLikely);
  EXPECT_THAT(found[0].sentence, HasSubstr("7 of 8 threads wait for one lock"));
  EXPECT_THAT(found[0].sentence, HasSubstr("\"t1\", \"t5\", \"t3\""));
  EXPECT_THAT(found[0].evidence.at(1), HasSubstr("each wait takes 105 ms"));
  EXPECT_THAT(found_by(find_contention, turns({1, 5, 3}, 60)), IsEmpty()) << "had for a moment";
  EXPECT_EQ(found_by(find_contention, turns({1, 5, 3}, 9, 0.1)).at(0).confidence, Confidence::kHint);
  // Who has it sleeps again and again, which is counted with the waits for it.
  Facts rested = turns({1, 5, 3}, 60);
  for (ThreadsLook& look : rested.looks)
    for (ThreadFact& each : look.threads)
      if (!each.wait) each.state = "TIMED_WAITING";
  ASSERT_THAT(found_by(find_contention, rested), SizeIs(1));
  EXPECT_THAT(found_by(find_contention, rested)[0].evidence.at(1), HasSubstr("slept or waited for something else"));
  Facts moved = turns({1, 5, 3}, 9);
  for (ThreadFact& each : moved.looks[2].threads)
    if (each.wait) each.wait->object = 0x80;
  EXPECT_THAT(found_by(find_contention, moved), SizeIs(1));
}

TEST(ContentionRule, SaysThatALockIsNotGivenBackOnlyIfNobodyWasWaked) {
  const auto kept = found_by(find_contention, turns({2, 2, 2}, 0));
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].confidence, Confidence::kCertain);
  EXPECT_THAT(kept[0].sentence, HasSubstr("7 threads wait for a lock that \"t2\" does not give back."));
  const auto again = found_by(find_contention, turns({2, 2, 2}, 9));
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].confidence, Confidence::kLikely);
  EXPECT_THAT(again[0].sentence, HasSubstr("had at each of 3 looks."));
  EXPECT_THAT(found_by(find_contention, turns({2, 2, 2}, 60)), IsEmpty());
  // A waiter that looks for itself, beside an owner that has slept; and one that runs.
  Facts looks_itself = turns({2, 2, 2}, 0);
  looks_itself.looks[2].threads[7].waits = 110;
  EXPECT_EQ(found_by(find_contention, looks_itself).at(0).confidence, Confidence::kCertain);
  looks_itself.looks[2].threads[1].waits = 110;
  EXPECT_EQ(found_by(find_contention, looks_itself).at(0).confidence, Confidence::kLikely);
}

// An owner that gave it back once, and took it again, has waked one thread, once.
TEST(ContentionRule, IsNotCertainIfSomeThreadMayHaveBeenWaked) {
  const auto expect_likely = [](const Facts& facts) {
    const auto found = found_by(find_contention, facts);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].confidence, Confidence::kLikely);
    EXPECT_THAT(found[0].sentence, HasSubstr("had at each of 3 looks."));
    EXPECT_THAT(found[0].evidence, ::testing::Each(::testing::Not(HasSubstr("was waked"))));
  };
  Facts once = turns({2, 2, 2}, 0);
  ++*once.looks[2].threads[7].waits;  // 105, where 104 are of the stops
  ++*once.looks[2].threads[1].waits;  // the owner's sleep
  expect_likely(once);
  // It was not asleep yet when its waits were read: one that was waked would look the same.
  Facts early = turns({2, 2, 2}, 0);
  early.looks[0].threads[6].slept = early.looks[0].threads[7].slept = false;
  expect_likely(early);
}

// Workers wait for a lock of that class, and at the next look for another one.
Facts two_locks(std::vector<std::uint64_t> objects) {
  Facts facts = turns({1, 5, 3}, 9);
  for (std::size_t i = 0; i < facts.looks.size(); ++i)
    for (ThreadFact& each : facts.looks[i].threads)
      if (each.wait) each.wait->object = objects[i];
  return facts;
}

// Two threads wait for the lock at that address beside.
void add_waiters(ThreadsLook& look, std::uint64_t object) {
  for (const ThreadKey key : {20, 21}) {
    look.threads.push_back(waiter(key, 22));
    look.threads.back().wait->object = object;
  }
}

TEST(ContentionRule, DoesNotTakeTwoLocksOfAClassForOne) {
  EXPECT_THAT(found_by(find_contention, two_locks({0x10, 0x20, 0x30})), SizeIs(1)) << "it may have been moved";
  Facts other = two_locks({0x10, 0x20, 0x30});
  add_waiters(other.looks[2], 0x10);
  EXPECT_THAT(found_by(find_contention, other), IsEmpty()) << "the first one is still there";
  // The same lock counts, whoever waits for another one of its class.
  Facts both = two_locks({0x30, 0x30, 0x30});
  add_waiters(both.looks[0], 0x10);
  EXPECT_THAT(found_by(find_contention, both), SizeIs(1));
}

TEST(ContentionRule, KnowsALockByItsAddressIfNoCollectionHasRun) {
  Facts facts = two_locks({0x10, 0x20, 0x30});
  for (ThreadsLook& look : facts.looks) look.collections = 7;
  EXPECT_THAT(found_by(find_contention, facts), IsEmpty());
  facts.looks[2].collections = 8;
  EXPECT_THAT(found_by(find_contention, facts), SizeIs(1));
  facts = two_locks({0x10, 0x10, 0x10});
  for (ThreadsLook& look : facts.looks) look.collections = 7;
  EXPECT_THAT(found_by(find_contention, facts), SizeIs(1));
}

TEST(ContentionRule, LeavesWhatADeadlockExplainsToThatRule) {
  ThreadsLook look = crowd(9, 99);
  look.deadlocks = {{99, 98}};
  EXPECT_THAT(found_by(find_contention, facts_of({look, look, look})), IsEmpty());
}

TEST(ContentionRule, SaysNothingOfAProcessThatIsStopped) {
  Facts facts = facts_of({crowd(9, 99), crowd(9, 99), crowd(9, 99)});
  facts.process = {{.ns = 1, .state = 'T'}, {.ns = 2, .state = 'T'}};
  EXPECT_THAT(found_by(find_contention, facts), IsEmpty());
}

// A thread that ran for `ran` of each second and was ready for `queued` of it.
Facts busy(double ran, double queued, int between = 8) {
  std::vector<ThreadsLook> looks(3);
  for (std::size_t i = 0; i < 3; ++i) {
    ThreadFact fact = thread(1);
    fact.ran_ns = static_cast<std::uint64_t>(ran * static_cast<double>(i * kSecond));
    fact.measured_ns = i * kSecond;
    fact.queued_ns = static_cast<std::uint64_t>(queued * static_cast<double>(i * kSecond));
    looks[i].threads = {fact};
  }
  Facts facts = facts_of(std::move(looks));
  facts.busy[1].assign(static_cast<std::size_t>(between), thread(1).frames);
  return facts;
}

TEST(SpinningRule, NeedsAThreadThatNeverWaits) {
  EXPECT_THAT(found_by(find_spinning, busy(0.84, 0)), IsEmpty());
  EXPECT_THAT(found_by(find_spinning, busy(0.01, 0.9)), IsEmpty());
  EXPECT_THAT(found_by(find_spinning, busy(0.86, 0)), SizeIs(1));
  EXPECT_THAT(found_by(find_spinning, busy(0.06, 0.9)), SizeIs(1));
}

// The time that a thread has been ready is only counted when it gets a processor.
TEST(SpinningRule, GoesByTheNumberOfWaitsWhereTheMachineHasTooFewProcessors) {
  Facts facts = busy(0.05, 0.3);
  EXPECT_THAT(found_by(find_spinning, facts), IsEmpty());
  for (std::size_t i = 0; i < 3; ++i) {
    facts.looks[i].stops = i == 2 ? 9 : 1;
    facts.looks[i].threads[0].waits = i == 2 ? 112 : 100 + i;
  }
  EXPECT_THAT(found_by(find_spinning, facts), IsEmpty());  // two more than it was stopped
  facts.looks[2].threads[0].waits = 110;
  EXPECT_THAT(found_by(find_spinning, facts), SizeIs(1));
}

TEST(SpinningRule, DoesNotCountTheTimeOfItsOwnStops) {
  Facts facts = busy(0.8, 0);
  EXPECT_THAT(found_by(find_spinning, facts), IsEmpty());
  for (ThreadsLook& look : facts.looks) look.stopped = std::chrono::milliseconds(100);
  EXPECT_THAT(found_by(find_spinning, facts), SizeIs(1));
}

TEST(SpinningRule, NeedsManyStacksAllAlike) {
  EXPECT_THAT(found_by(find_spinning, busy(1, 0, 2)), IsEmpty());
  EXPECT_THAT(found_by(find_spinning, busy(1, 0, 3)), SizeIs(1));
  Facts moved = busy(1, 0);
  moved.busy[1][2][0].bci = 20;  // in the same call
  EXPECT_THAT(found_by(find_spinning, moved), SizeIs(1));
  moved.busy[1][2][1].bci = 20;  // called from elsewhere
  EXPECT_THAT(found_by(find_spinning, moved), IsEmpty());
  Facts other = busy(1, 0);
  other.looks[1].threads[0].frames[0].method = "App.other";
  EXPECT_THAT(found_by(find_spinning, other), IsEmpty());
  Facts torn = busy(1, 0);
  torn.looks[1].threads[0].whole = false;
  EXPECT_THAT(found_by(find_spinning, torn), IsEmpty());
}

TEST(SpinningRule, IsAHintIfItMayBeManyCalls) {
  Facts facts = busy(1, 0);
  const auto hint = found_by(find_spinning, facts);
  ASSERT_THAT(hint, SizeIs(1));
  EXPECT_EQ(hint[0].confidence, Confidence::kHint);
  EXPECT_THAT(hint[0].sentence, HasSubstr("was in App.turn in 11 of 11 stacks"));
  EXPECT_THAT(hint[0].sentence, HasSubstr("or many short ones"));
  // The thread may be in the interpreter, too.
  EXPECT_THAT(hint[0].evidence, ::testing::Each(::testing::Not(HasSubstr("compiled code"))));
  for (ThreadsLook& look : facts.looks) look.threads[0].frames[0].call = 7;
  for (auto& stack : facts.busy[1]) stack[0].call = 7;
  const auto found = found_by(find_spinning, facts);
  EXPECT_EQ(found.at(0).confidence, Confidence::kLikely);
  EXPECT_THAT(found.at(0).sentence, HasSubstr("in one call of App.turn."));
  facts.busy[1][3][0].call = 8;
  EXPECT_EQ(found_by(find_spinning, facts).at(0).confidence, Confidence::kHint);
}

TEST(SpinningRule, NamesTheVirtualThreadThatTheCarrierRuns) {
  Facts facts = busy(1, 0);
  for (ThreadsLook& look : facts.looks)
    look.threads.push_back({.key = 7, .name = "v", .is_virtual = true, .carrier = "t1"});
  EXPECT_THAT(found_by(find_spinning, facts).at(0).sentence, HasSubstr("The virtual thread \"v\" #7 on \"t1\" runs"));
  facts.looks[1].threads[1].key = 8;
  EXPECT_THAT(found_by(find_spinning, facts).at(0).sentence, HasSubstr("The thread \"t1\" runs"));
}

TEST(SpinningRule, LeavesALateThreadToTheSafepoint) {
  Facts facts = busy(1, 0);
  facts.safepoints = {{.late = {{.key = 1}}}};
  EXPECT_THAT(found_by(find_spinning, facts), IsEmpty());
}

TEST(StoppedRule, NeedsTheSameStateAtEachLook) {
  Facts facts{.target = "4711"};
  facts.process = {{.ns = 0, .state = 'T'}};
  EXPECT_THAT(found_by(find_stopped, facts), IsEmpty());
  facts.process.push_back({.ns = kSecond, .state = 'S'});
  EXPECT_THAT(found_by(find_stopped, facts), IsEmpty());
  facts.process[1].state = 'T';
  EXPECT_EQ(found_by(find_stopped, facts).at(0).next, "kill -CONT 4711");
  facts.process = {{.state = 't'}, {.state = 't'}};
  EXPECT_THAT(found_by(find_stopped, facts), IsEmpty());  // by this program itself
  facts.process = {{.state = 't', .tracer = "gdb, process 12"}, {.state = 't', .tracer = "gdb, process 12"}};
  EXPECT_THAT(found_by(find_stopped, facts).at(0).sentence, HasSubstr("gdb, process 12"));
}

TEST(StoppedRule, NamesAThreadThatATracerHoldsAtEachLook) {
  ThreadsLook held{.threads = {thread(1)}};
  held.threads[0].held_by = "another tracer, process 12 (gdb)";
  const ThreadsLook free{.threads = {thread(1)}};
  EXPECT_THAT(found_by(find_stopped, facts_of({free, held, held})), IsEmpty());
  EXPECT_THAT(found_by(find_stopped, facts_of({held, held, held})), SizeIs(1));
}

Facts at_safepoint(SafepointFact::State state, double since) {
  Facts facts{.target = "4711"};
  const SafepointFact fact{.state = state,
                           .number = 7,
                           .since = since,
                           .operation = "VM_HeapDumper",
                           .requester = "main",
                           .late = {{.key = 1, .name = "t1", .why = "runs"}}};
  facts.safepoints = {fact, fact};
  return facts;
}

TEST(SafepointRule, NeedsTheSameSafepointForASecond) {
  using enum SafepointFact::State;
  EXPECT_THAT(found_by(find_late_safepoint, at_safepoint(kSynchronizing, 0.9)), IsEmpty());
  EXPECT_THAT(found_by(find_late_safepoint, at_safepoint(kSynchronized, 1.1)), IsEmpty());
  EXPECT_THAT(found_by(find_late_safepoint, at_safepoint(kSynchronizing, 1.1)), SizeIs(1));
  Facts other = at_safepoint(kSynchronizing, 1.1);
  other.safepoints[0].number = 6;
  EXPECT_THAT(found_by(find_late_safepoint, other), IsEmpty());
  Facts unnumbered = at_safepoint(kSynchronizing, 1.1);
  for (auto& each : unnumbered.safepoints) each.number.reset();
  EXPECT_THAT(found_by(find_late_safepoint, unnumbered), IsEmpty());
}

// JDK 8 does not tell when it began.
TEST(SafepointRule, CountsTheTimeBetweenTheLooksWhereTheVmHasNone) {
  Facts facts = at_safepoint(SafepointFact::State::kSynchronizing, 0.4);
  for (auto& each : facts.safepoints) each.at_least = true;
  facts.safepoints[1].ns = kSecond / 2;
  EXPECT_THAT(found_by(find_late_safepoint, facts), IsEmpty());
  facts.safepoints[1].ns = kSecond;
  EXPECT_THAT(found_by(find_late_safepoint, facts).at(0).evidence.at(0), HasSubstr("for at least 1.4 s"));
}

TEST(SafepointRule, NamesOnlyThreadsThatAreLateAtBothLooks) {
  Facts facts = at_safepoint(SafepointFact::State::kSynchronizing, 2);
  facts.safepoints[0].late.push_back({.key = 2, .name = "t2", .why = "runs"});
  facts.safepoints[1].late.push_back({.key = 3, .name = "t3", .why = "runs"});
  EXPECT_THAT(found_by(find_late_safepoint, facts).at(0).sentence, HasSubstr("because \"t1\" does not stop"));
}

TEST(SafepointRule, OfACoreIsAHint) {
  Facts facts = at_safepoint(SafepointFact::State::kSynchronizing, 0);
  facts.live = false;
  facts.safepoints.pop_back();
  EXPECT_EQ(found_by(find_late_safepoint, facts).at(0).confidence, Confidence::kHint);
}

TEST(VmOperationRule, NeedsTheSameSafepointForASecond) {
  using enum SafepointFact::State;
  EXPECT_THAT(found_by(find_long_operation, at_safepoint(kSynchronized, 0.9)), IsEmpty());
  EXPECT_THAT(found_by(find_long_operation, at_safepoint(kSynchronizing, 1.1)), IsEmpty());
  EXPECT_THAT(found_by(find_long_operation, at_safepoint(kSynchronized, 1.1)).at(0).sentence,
              HasSubstr("VM_HeapDumper"));
  Facts other = at_safepoint(kSynchronized, 1.1);
  other.safepoints[0].number = 6;
  EXPECT_THAT(found_by(find_long_operation, other), IsEmpty());
}

TEST(DescriptorsRule, BeginsAtNineTenthsOfTheLimitAtBothLooks) {
  const auto facts = [](std::uint64_t first, std::uint64_t second) {
    Facts made{.target = "4711"};
    for (const std::uint64_t files : {first, second})
      made.process.push_back({.state = 'S', .files = files, .files_limit = 1000});
    return made;
  };
  EXPECT_THAT(found_by(find_many_files, facts(899, 950)), IsEmpty());
  EXPECT_THAT(found_by(find_many_files, facts(950, 899)), IsEmpty());
  EXPECT_THAT(found_by(find_many_files, facts(900, 901)).at(0).sentence, HasSubstr("901 of 1000"));
  Facts unlimited = facts(900, 901);
  for (auto& each : unlimited.process) each.files_limit.reset();
  EXPECT_THAT(found_by(find_many_files, unlimited), IsEmpty());
}

Facts collecting(double share, double full, double used) {
  Facts facts{.target = "4711"};
  facts.counters = {{.ns = 0, .gc_seconds = 5, .full_collections = 3, .old_used = 10, .old_max = 1000},
                    {.ns = 2 * kSecond,
                     .gc_seconds = 5 + 2 * share,
                     .full_collections = 3 + full,
                     .old_used = used,
                     .old_max = 1000}};
  return facts;
}

TEST(HeapFullRule, NeedsFullCollectionsMostOfTheTimeAndAFullOldGeneration) {
  EXPECT_THAT(found_by(find_full_heap, collecting(0.51, 2, 901)), SizeIs(1));
  EXPECT_THAT(found_by(find_full_heap, collecting(0.51, 1, 901)), IsEmpty());
  EXPECT_THAT(found_by(find_full_heap, collecting(0.51, 2, 899)), IsEmpty());
  Facts other_collector = collecting(0.51, 2, 901);
  other_collector.counters[1].full_collections.reset();
  EXPECT_THAT(found_by(find_full_heap, other_collector), IsEmpty());
}

// On a busy machine the collector, or the program, waits for a processor.
TEST(HeapFullRule, HoldsWhateverTheTimeIfCollectionsLeaveTheOldGenerationFull) {
  Facts facts = collecting(0.1, 2, 901);
  const auto found = found_by(find_full_heap, facts);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].confidence, Confidence::kCertain);
  EXPECT_THAT(found[0].sentence, HasSubstr("2 full collections left 90 % of the old generation in use"));
  // One of them had freed much.
  facts.counters.insert(facts.counters.begin() + 1, facts.counters[1]);
  facts.counters[1].ns = kSecond;
  facts.counters[1].full_collections = 4;
  facts.counters[1].old_used = 500;
  EXPECT_THAT(found_by(find_full_heap, facts), IsEmpty());
}

TEST(DirectMemoryRule, BeginsAtNineTenthsOfTheLimit) {
  Facts facts;
  EXPECT_THAT(found_by(find_full_direct_memory, facts), IsEmpty());
  facts.direct = DirectFact{.reserved = 899, .count = 1, .limit = 1000};
  EXPECT_THAT(found_by(find_full_direct_memory, facts), IsEmpty());
  facts.direct->reserved = 900;
  EXPECT_THAT(found_by(find_full_direct_memory, facts), SizeIs(1));
  facts.direct->limit.reset();
  EXPECT_THAT(found_by(find_full_direct_memory, facts), IsEmpty());
}

Facts finalizing(const std::string& outer) {
  ThreadFact fact = thread(3);
  fact.name = "Finalizer";
  fact.frames.push_back({outer, "Finalizer.java:90", 4});
  const ThreadsLook look{.threads = {fact}};
  return facts_of({look, look, look});
}

TEST(FinalizerRule, NeedsOneFinalizeForLong) {
  const std::string runs = "java.lang.ref.Finalizer.runFinalizer";
  EXPECT_THAT(found_by(find_stuck_finalizer, finalizing(runs)), SizeIs(1));
  EXPECT_THAT(found_by(find_stuck_finalizer, finalizing("java.lang.ref.ReferenceQueue.remove")), IsEmpty());
  Facts moved = finalizing(runs);
  moved.looks[1].threads[0].frames[0].bci = 9;
  EXPECT_THAT(found_by(find_stuck_finalizer, moved), IsEmpty());
  Facts brief = finalizing(runs);
  brief.looks[2].ns = brief.looks[0].ns + kSecond;
  EXPECT_THAT(found_by(find_stuck_finalizer, brief), IsEmpty());
  const auto rule =
      std::find_if(rules().begin(), rules().end(), [](const Rule& each) { return each.name == "finalizer"; });
  EXPECT_THAT(std::string(rule->unasked(brief)), HasSubstr("less than 1.5 s")) << "silence would read as health";
  EXPECT_EQ(rule->unasked(finalizing(runs)), "");
  Facts other = finalizing(runs);
  for (auto& look : other.looks) look.threads[0].name = "main";
  EXPECT_THAT(found_by(find_stuck_finalizer, other), IsEmpty());
}

Facts locked(std::initializer_list<bool> wanted, double collections) {
  Facts facts{.target = "4711"};
  for (const bool each : wanted) {
    SafepointFact look{.state = SafepointFact::State::kNone, .ns = (facts.safepoints.size() + 1) * kSecond};
    look.locker_wanted = each;
    look.locker_regions = 2;
    facts.safepoints.push_back(look);
  }
  facts.counters = {{.ns = 1, .collections = 7}, {.ns = 2, .collections = collections}};
  return facts;
}

TEST(GcLockerRule, NeedsTheWishAtEachLookAndNoCollectionInBetween) {
  EXPECT_THAT(found_by(find_kept_gc_locker, locked({true, false}, 7)), IsEmpty());
  EXPECT_THAT(found_by(find_kept_gc_locker, locked({true}, 7)), IsEmpty());
  EXPECT_THAT(found_by(find_kept_gc_locker, locked({true, true}, 8)), IsEmpty());
  const auto found = found_by(find_kept_gc_locker, locked({true, true}, 7));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].confidence, Confidence::kCertain);
  EXPECT_THAT(found[0].evidence, testing::Contains(HasSubstr("2 threads in JNI critical regions")));
}

TEST(GcLockerRule, IsNotExaminedWithoutSymbols) {
  Facts facts = locked({true, true}, 7);
  facts.safepoints[0].locker_wanted.reset();
  EXPECT_THAT(found_by(find_kept_gc_locker, facts), IsEmpty());
  const auto rule = std::find_if(rules().begin(), rules().end(), [](auto& each) { return each.name == "gc-locker"; });
  ASSERT_NE(rule, rules().end());
  EXPECT_THAT(std::string(rule->unasked(facts)), HasSubstr("no symbols"));
}

Facts parked(const char* lock, ThreadKey owner, std::uint64_t ran_between) {
  std::vector<ThreadsLook> looks;
  for (std::uint64_t i = 0; i < 3; ++i) {
    ThreadFact fact = thread(1);
    fact.wait = WaitFact{.kind = "park", .text = "parking", .object = 0x10, .class_name = lock, .owner = owner};
    fact.ran_ns = 100 + i * ran_between;
    looks.push_back({.threads = {fact}});
  }
  return facts_of(std::move(looks));
}

TEST(LockWaitRule, NeedsALockWithoutAnOwnerAndAThreadThatDoesNotRun) {
  const char* upgraded = "java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync";
  EXPECT_THAT(found_by(find_waits_without_owner, parked(upgraded, 2, 0)), IsEmpty());
  EXPECT_THAT(found_by(find_waits_without_owner, parked(upgraded, 0, 1'000'000)), IsEmpty());
  EXPECT_THAT(found_by(find_waits_without_owner, parked("java.util.concurrent.Semaphore$NonfairSync", 0, 0)),
              IsEmpty());
  EXPECT_THAT(found_by(find_waits_without_owner, parked("java.util.concurrent.locks.StampedLock", 0, 0)), SizeIs(1));
  const auto found = found_by(find_waits_without_owner, parked(upgraded, 0, 0));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].sentence, HasSubstr("1 thread waits for a lock"));
}

ThreadFact for_task(ThreadKey key, const char* kind, std::uint64_t pool, ThreadKey owner) {
  ThreadFact fact = thread(key);
  fact.wait = WaitFact{.kind = kind, .text = "waiting for a task", .object = pool, .owner = owner};
  return fact;
}
ThreadsLook starved(std::vector<ThreadFact> threads, std::uint64_t pool = 0x40) {
  ThreadsLook look{.pools = {{.object = pool}}};
  for (const ThreadFact& each : threads) look.pools[0].threads.push_back(each.key);
  look.threads = std::move(threads);
  return look;
}

TEST(PoolRule, NeedsThatAllThreadsWaitForTheirOwnQueue) {
  const auto queued = [](ThreadKey key) { return for_task(key, "queued", 0x40, 0); };
  const ThreadsLook all = starved({queued(1), queued(2)});
  const auto found = found_by(find_starved_pools, facts_of({all, all}));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].confidence, Confidence::kCertain);
  EXPECT_THAT(found[0].sentence, HasSubstr("All 2 threads of the pool \"t*\" wait"));
  EXPECT_THAT(found[0].evidence, ::testing::Contains("so at 2 looks, for at least 1.0 s"));
  const ThreadsLook one_runs = starved({queued(1), thread(2)});
  EXPECT_THAT(found_by(find_starved_pools, facts_of({all, one_runs})), IsEmpty());
  EXPECT_THAT(found_by(find_starved_pools, facts_of({one_runs, all})), IsEmpty());
  const ThreadsLook of_other_pool = starved({queued(1), for_task(2, "queued", 0x80, 0)});
  EXPECT_THAT(found_by(find_starved_pools, facts_of({of_other_pool, of_other_pool})), IsEmpty());
}

TEST(PoolRule, CountsTheTasksAndNamesThePoolByItsThreads) {
  ThreadsLook look = starved({for_task(12, "queued", 0x40, 0), for_task(17, "queued", 0x40, 0)});
  look.pools[0].queued = 41;
  look.threads[0].name = "order-exec-12";
  look.threads[1].name = "order-exec-17";
  auto found = found_by(find_starved_pools, facts_of({look, look}));
  EXPECT_THAT(found.at(0).sentence, HasSubstr("the pool \"order-exec-*\" wait"));
  EXPECT_EQ(found.at(0).evidence.at(0), "the pool <0x40> has 41 tasks in its queue");
  look.threads[1].name = "other";
  EXPECT_THAT(found_by(find_starved_pools, facts_of({look, look})).at(0).sentence, HasSubstr("2 threads of a pool"));
}

TEST(PoolRule, CountsThreadsThatWaitForStuckOnesAndFindsAMovedPool) {
  const auto chain = [](std::uint64_t pool) {
    return starved({for_task(1, "task", 0, 2), for_task(2, "queued", pool, 0), waiter(3, 1)}, pool);
  };
  EXPECT_THAT(found_by(find_starved_pools, facts_of({chain(0x40), chain(0x80)})), SizeIs(1));
  const ThreadsLook for_outside = starved({for_task(1, "task", 0, 9), for_task(2, "queued", 0x40, 0)});
  EXPECT_THAT(found_by(find_starved_pools, facts_of({for_outside, for_outside})), IsEmpty());
}

TEST(PoolRule, CountsWaitsWithATimeLimitThatLast) {
  const auto facts = [](std::uint64_t waits) {
    Facts made = facts_of({});
    for (std::size_t i = 0; i < 3; ++i) {
      ThreadsLook look = starved({for_task(1, "queued", 0x40, 0), for_task(2, "queued", 0x40, 0)});
      look.ns = i * kSecond;
      look.threads[0].state = "TIMED_WAITING";
      look.threads[0].waits = 10 + i * (2 + waits);
      ThreadFact idle = thread(9);
      idle.state = "WAITING";
      idle.waits = 2 * i;
      look.threads.push_back(idle);
      made.looks.push_back(look);
    }
    return made;
  };
  const auto found = found_by(find_starved_pools, facts(0));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].confidence, Confidence::kLikely);
  EXPECT_THAT(found[0].evidence.back(), HasSubstr("1 thread of them has a time limit"));
  EXPECT_THAT(found_by(find_starved_pools, facts(4)), IsEmpty());
  Facts brief = facts(0);
  brief.looks.resize(2);
  EXPECT_THAT(found_by(find_starved_pools, brief), IsEmpty());
}

TEST(PoolRule, IsLessSureOfAPoolThatMayGrowAndOfOneLook) {
  ThreadsLook look = starved({for_task(1, "queued", 0x40, 0)});
  EXPECT_EQ(found_by(find_starved_pools, facts_of({look})).at(0).confidence, Confidence::kLikely);
  look.pools[0].may_grow = true;
  EXPECT_EQ(found_by(find_starved_pools, facts_of({look, look})).at(0).confidence, Confidence::kLikely);
}

TEST(LostLockRule, NeedsTheSameEndedOwnerAtTwoLooks) {
  const auto look = [](bool ended, ThreadKey owner) {
    ThreadsLook made{.threads = {waiter(1, owner), waiter(2, owner)}};
    for (ThreadFact& each : made.threads) each.wait->owner_ended = ended;
    return made;
  };
  const auto found = found_by(find_lost_locks, facts_of({look(true, 9), look(true, 9)}));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].sentence, HasSubstr("2 threads wait for a lock"));
  EXPECT_THAT(found_by(find_lost_locks, facts_of({look(false, 9), look(true, 9)})), IsEmpty());
  EXPECT_THAT(found_by(find_lost_locks, facts_of({look(true, 8), look(true, 9)})), IsEmpty());
}

}  // namespace
}  // namespace jtrace::diagnose
