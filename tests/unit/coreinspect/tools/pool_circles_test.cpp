// Circles of waits through the queue of a pool.
#include "coreinspect/tools/pool_circles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace::coreinspect {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Thread 1 waits for a task of the pool 100, whose threads 2 and 3 wait for a lock of thread 1.
PoolWaits refresh() { return {.owners = {{2, 1}, {3, 1}}, .tasks = {{1, 100}}, .workers = {{100, {2, 3}}}}; }

TEST(PoolCircles, NeedThatAllThreadsOfThePoolAreStuck) {
  EXPECT_THAT(pool_circles(refresh()), ElementsAre(PoolCircle{.others = {1}, .pools = {100}}));
  PoolWaits one_runs = refresh();
  one_runs.owners.erase(3);
  EXPECT_THAT(pool_circles(one_runs), IsEmpty());
  PoolWaits for_one_who_runs = refresh();
  for_one_who_runs.owners[3] = 9;
  EXPECT_THAT(pool_circles(for_one_who_runs), IsEmpty());
  PoolWaits unknown = refresh();
  unknown.workers.clear();
  EXPECT_THAT(pool_circles(unknown), IsEmpty());
  EXPECT_THAT(pool_circles({.owners = {{1, 2}, {2, 1}}, .tasks = {}, .workers = {}}), IsEmpty());
}

TEST(PoolCircles, GoThroughOtherThreadsAndLeaveOutThoseThatOnlyWait) {
  PoolWaits waits = refresh();
  waits.owners[3] = 4;
  waits.owners[4] = 1;
  waits.owners[5] = 1;   // a victim
  waits.tasks[6] = 100;  // a customer
  EXPECT_THAT(pool_circles(waits), ElementsAre(PoolCircle{.others = {1, 4}, .pools = {100}}));
  waits.tasks[3] = 100;  // one waits for the pool itself
  waits.owners.erase(3);
  EXPECT_THAT(pool_circles(waits), ElementsAre(PoolCircle{.others = {1}, .pools = {100}}));
}

TEST(PoolCircles, AreNotPoolsThatWaitForThemselvesAlone) {
  EXPECT_THAT(pool_circles({.owners = {{3, 2}}, .tasks = {{2, 100}}, .workers = {{100, {2, 3}}}}), IsEmpty());
}

// What its other thread waits for is the trouble: without it the pool would go on.
TEST(PoolCircles, AreNotThoseOfAPoolThatAnotherCircleHoldsToo) {
  PoolWaits waits = refresh();
  waits.owners[3] = 7;
  waits.owners[7] = 8;
  waits.owners[8] = 7;
  EXPECT_THAT(pool_circles(waits), IsEmpty());
}

TEST(PoolCircles, GoThroughSeveralPools) {
  const PoolWaits waits{
      .owners = {{4, 3}}, .tasks = {{1, 200}, {2, 200}, {3, 100}}, .workers = {{100, {1, 2}}, {200, {3, 4}}}};
  EXPECT_THAT(pool_circles(waits), ElementsAre(PoolCircle{.others = {}, .pools = {100, 200}}));
}

TEST(PoolName, IsWhatTheNamesOfItsThreadsHaveInCommon) {
  EXPECT_EQ(pool_name({"io-pool-1", "io-pool-12"}), "io-pool-*");
  EXPECT_EQ(pool_name({"io-pool-1", "other-1"}), "");
  EXPECT_EQ(pool_name({"1", "2"}), "");
  EXPECT_EQ(pool_name({}), "");
}

}  // namespace
}  // namespace jtrace::coreinspect
