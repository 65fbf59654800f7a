// The rules about threads that wait for each other, or for a lock that nobody gives back, on both sides of their
// boundaries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/rules.h"
#include "tests/unit/diagnose/made_up_threads.h"

namespace jtrace::diagnose {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ThreadsLook deadlocked() { return {.threads = {waiter(1, 2), waiter(2, 1)}, .deadlocks = {{1, 2}}}; }

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

TEST(DeadlockRule, HasLastedSinceTheLastOfItsThreadsRan) {
  const auto lasted = [](const std::vector<ThreadsLook>& looks) {
    return found_by(find_deadlocks, facts_of(looks)).at(0).evidence.back();
  };
  ThreadsLook first = deadlocked();
  first.threads[0].asleep_ns = 3'000 * kSecond;
  EXPECT_THAT(lasted({first, deadlocked()}), HasSubstr("at least 1.0 s")) << "of the other it is not known";
  first.threads[1].asleep_ns = 2'000 * kSecond;
  EXPECT_THAT(lasted({first, deadlocked()}),
              HasSubstr("the same circle at 2 looks: it has lasted for at least 33 min"));
  EXPECT_EQ(lasted({first}), "it has lasted for at least 33 min");
  ThreadsLook none{.threads = {waiter(1, 2), waiter(2, 1)}};
  none.threads[0].asleep_ns = none.threads[1].asleep_ns = 9 * kSecond;
  EXPECT_THAT(lasted({none, deadlocked(), deadlocked()}), HasSubstr("at least 1.0 s")) << "it began in between";
}

TEST(DeadlockRule, ACoreStandsStillAndASingleLookMayBeTorn) {
  Facts facts = facts_of({deadlocked()});
  EXPECT_EQ(found_by(find_deadlocks, facts).at(0).confidence, Confidence::kLikely);
  facts.live = false;
  EXPECT_EQ(found_by(find_deadlocks, facts).at(0).confidence, Confidence::kCertain);
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
