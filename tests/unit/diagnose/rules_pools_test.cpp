// The rule about deadlocks through the queue of a pool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/rules.h"
#include "tests/unit/diagnose/made_up_threads.h"

namespace jtrace::diagnose {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Thread 1 waits for a task of the pool, whose threads want its lock; so does thread 9. Thread 8 waits for a task too.
ThreadsLook refresh(std::uint64_t pool = 0x40) {
  ThreadsLook look;
  look.threads = {thread(1), waiter(2, 1), waiter(3, 1), waiter(9, 1), thread(8)};
  for (const std::size_t i : {std::size_t{0}, std::size_t{4}})
    look.threads[i].wait = WaitFact{.kind = "queued", .text = "waiting for a task", .object = pool};
  look.pools = {{.object = pool, .threads = {2, 3}, .queued = 5}};
  look.pool_circles = {{.others = {1}, .pools = {pool}}};
  return look;
}

TEST(PoolDeadlockRule, NamesTheOwnerAndThePool) {
  const auto found = found_by(find_pool_deadlocks, facts_of({refresh(), refresh()}));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].sentence,
            "Deadlock: \"t1\" and all 2 threads of the pool \"t*\" wait for each other through the queue of this pool, "
            "and none of them can go on.");
  EXPECT_EQ(found[0].confidence, Confidence::kCertain);
  EXPECT_EQ(found[0].next, "jtrace inspect 4711 locks");
  EXPECT_THAT(found[0].evidence, ElementsAre("\"t1\" #1 is waiting for a task, at App.turn(App.java:3)",
                                             "the pool <0x40> has 5 tasks in its queue",
                                             "\"t2\" #2 is waiting to lock, at App.turn(App.java:3)",
                                             "\"t3\" #3 is waiting to lock, at App.turn(App.java:3)",
                                             "2 other threads wait for these, and cannot go on either: \"t8\", \"t9\"",
                                             "the same circle at 2 looks: it has lasted for at least 1.0 s"));
}

TEST(PoolDeadlockRule, NeedsTheSameCircleAtTwoLooks) {
  ThreadsLook none = refresh();
  none.pool_circles.clear();
  EXPECT_THAT(found_by(find_pool_deadlocks, facts_of({refresh(), refresh(), none})), IsEmpty());
  EXPECT_THAT(found_by(find_pool_deadlocks, facts_of({refresh(), none, refresh()})), IsEmpty());
  EXPECT_THAT(found_by(find_pool_deadlocks, facts_of({none, refresh(), refresh(0x80)})), SizeIs(1)) << "it has moved";
  ThreadsLook other = refresh();
  other.pools[0].threads = {2};
  EXPECT_THAT(found_by(find_pool_deadlocks, facts_of({other, refresh()})), IsEmpty());
}

TEST(PoolDeadlockRule, IsLessSureOfAPoolThatMayGrowAndOfOneLook) {
  EXPECT_EQ(found_by(find_pool_deadlocks, facts_of({refresh()})).at(0).confidence, Confidence::kLikely);
  Facts core = facts_of({refresh()});
  core.live = false;
  EXPECT_EQ(found_by(find_pool_deadlocks, core).at(0).confidence, Confidence::kCertain);
  ThreadsLook grows = refresh();
  grows.pools[0].may_grow = true;
  EXPECT_EQ(found_by(find_pool_deadlocks, facts_of({grows, grows})).at(0).confidence, Confidence::kLikely);
}

TEST(PoolDeadlockRule, NamesSeveralPoolsAndSomeOfManyThreads) {
  ThreadsLook look;
  for (ThreadKey key = 1; key <= 10; ++key) look.threads.push_back(waiter(key, 11 - key));
  look.threads[9].name = "other-1";
  look.pools = {{.object = 1, .threads = {1, 2, 3, 4, 5}}, {.object = 2, .threads = {10}}};
  look.pool_circles = {{.others = {}, .pools = {1, 2}}};
  const auto found = found_by(find_pool_deadlocks, facts_of({look, look}));
  EXPECT_THAT(found.at(0).sentence,
              HasSubstr("Deadlock: all 5 threads of the pool \"t*\" and the only thread of the "
                        "pool \"other-*\" wait for each other through the queues of these pools"));
  EXPECT_THAT(found.at(0).evidence, Contains("and 2 others of this pool"));
}

// The deadlock explains who waits for its locks.
TEST(PoolDeadlockRule, IsNotToldOnceMoreAsContention) {
  ThreadsLook look = refresh();
  for (ThreadKey key = 20; key < 25; ++key) look.threads.push_back(waiter(key, 1));
  ThreadsLook without = look;
  without.pool_circles.clear();
  EXPECT_THAT(found_by(find_contention, facts_of({without})), SizeIs(1));
  EXPECT_THAT(found_by(find_contention, facts_of({look})), IsEmpty());
}

}  // namespace
}  // namespace jtrace::diagnose
