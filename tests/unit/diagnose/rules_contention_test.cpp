// The rule about locks for which many threads wait, on both sides of its boundaries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/outside_waits.h"
#include "diagnose/rules.h"
#include "tests/unit/diagnose/made_up_threads.h"

namespace jtrace::diagnose {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

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

// Of a core: nothing was compared.
TEST(ContentionRule, OfOneLookSaysNothingOfTheSameThreads) {
  Facts facts = facts_of({crowd(6, 99)});
  facts.live = false;
  const auto found = found_by(find_contention, facts);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].sentence, "6 threads wait for a lock that \"t99\" has.");
  EXPECT_EQ(found[0].evidence.front(), "the lock <0x10> (a Lock)");
  for (const std::string& each : found[0].evidence) EXPECT_THAT(each, ::testing::Not(HasSubstr("look"))) << each;
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
  EXPECT_EQ(found[0].next, "jtrace stack 4711 --java --locals --thread t99,t5");
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

// Before the first look it had not run for 30 s, and the waiters for 20 s.
TEST(ContentionRule, KnowsSinceWhenItsOwnerHadNotRun) {
  Facts facts = turns({2, 2, 2}, 0);
  for (ThreadFact& each : facts.looks[0].threads) each.asleep_ns = (each.key == 2 ? 30 : 20) * kSecond;
  ThreadFact& owner = facts.looks[0].threads[1];
  const auto last_line = [&] { return found_by(find_contention, facts).at(0).evidence.back(); };
  EXPECT_EQ(last_line(),
            "its owner had not run for 30.0 s before the first look: it has had the lock for at least 32.0 s");
  owner.asleep_ns = kSecond / 2;
  EXPECT_THAT(last_line(), Not(HasSubstr("had not run"))) << "hardly more than the looks have seen";
  owner.asleep_ns.reset();
  EXPECT_THAT(last_line(), Not(HasSubstr("had not run")));
  owner.asleep_ns = 30 * kSecond;
  for (ThreadFact& each : facts.looks[2].threads) each.waits = 110;
  facts.looks[2].threads[0].waits = 104;  // so many are of the stops
  EXPECT_THAT(last_line(), Not(HasSubstr("had not run"))) << "it may have given it back";
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

}  // namespace
}  // namespace jtrace::diagnose
