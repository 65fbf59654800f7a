// The rule about pools that wait for their own tasks, on both sides of its boundaries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/rules.h"
#include "tests/unit/diagnose/made_up_threads.h"

namespace jtrace::diagnose {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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

// Whoever waits for the pool shows what its trouble does to the program.
TEST(PoolRule, CountsTheThreadsElsewhereThatWaitForItsTasks) {
  const auto look = [](std::uint64_t pool, std::vector<ThreadFact> elsewhere) {
    ThreadsLook made = starved({for_task(1, "queued", pool, 0), for_task(2, "queued", pool, 0)}, pool);
    made.threads.insert(made.threads.end(), elsewhere.begin(), elsewhere.end());
    return made;
  };
  const auto limited = [](ThreadFact fact) {
    fact.state = "TIMED_WAITING";
    return fact;
  };
  const auto evidence = [](const ThreadsLook& first, const ThreadsLook& last) {
    return found_by(find_starved_pools, facts_of({first, last})).at(0).evidence;
  };
  const ThreadFact queued = for_task(11, "queued", 0x40, 0), runs = for_task(12, "task", 0, 2);
  EXPECT_THAT(evidence(look(0x40, {}), look(0x40, {limited(queued), limited(runs)})),
              ::testing::Contains("2 more threads (\"t11\", \"t12\") wait with a time limit for tasks of this pool"));
  // At the last look it does something else; the pool has moved.
  EXPECT_THAT(evidence(look(0x40, {limited(queued)}), look(0x80, {thread(11), runs})),
              ::testing::IsSupersetOf({"1 more thread (\"t11\") waits with a time limit for tasks of this pool",
                                       "1 more thread waits for a task of this pool: \"t12\" #12 is waiting for a "
                                       "task, at App.turn(App.java:3)"}));
  EXPECT_THAT(evidence(look(0x40, {}), look(0x40, {for_task(11, "queued", 0x99, 0), for_task(12, "task", 0, 77)})),
              ::testing::Not(::testing::Contains(HasSubstr("of this pool"))));
}

// They may be many, and the pool is what they wait for in the end.
TEST(PoolRule, NamesThoseWhoWaitForWhoeverWaitsForThePool) {
  ThreadsLook look = starved({for_task(1, "queued", 0x40, 0), for_task(2, "queued", 0x40, 0)});
  for (const ThreadFact& each : {for_task(11, "task", 0, 2), waiter(12, 11), waiter(13, 12)})
    look.threads.push_back(each);
  EXPECT_THAT(
      found_by(find_starved_pools, facts_of({look, look})).at(0).evidence,
      ::testing::Contains("3 other threads wait for these, and cannot go on either: \"t11\", \"t12\", \"t13\""));
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

}  // namespace
}  // namespace jtrace::diagnose
