// The rule about pools that stand still while tasks queue, on both sides of its boundaries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/rules.h"
#include "tests/unit/diagnose/made_up_threads.h"

namespace jtrace::diagnose {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ThreadFact parked(ThreadKey key, std::uint64_t waits) {
  ThreadFact fact = thread(key);
  fact.state = "WAITING";
  fact.wait = WaitFact{.kind = "park", .text = "waiting for an answer", .object = 0x70, .class_name = "Answer"};
  fact.waits = waits;
  fact.slept = true;
  fact.asleep_ns = 20 * kSecond;
  return fact;
}
// Three looks at a pool of two threads, which have waited `more` times between two looks, besides the stops.
Facts looks_at(std::uint64_t more, std::uint64_t queued, std::uint64_t growth = 0) {
  Facts facts = facts_of({});
  for (std::uint64_t i = 0; i < 3; ++i) {
    ThreadsLook look{.ns = i * kSecond};
    look.threads = {parked(1, 10 + i * (2 + more)), parked(2, 10 + i * (2 + more)), parked(9, 2 * i)};
    look.pools = {{.object = 0x40 + i, .threads = {1, 2}, .queued = queued + i * growth}};
    facts.looks.push_back(look);
  }
  return facts;
}

TEST(StuckPoolRule, NeedsThatAllStandStillAndTasksQueue) {
  const auto found = found_by(find_stuck_pools, looks_at(0, 41, 3));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].confidence, Confidence::kLikely);
  EXPECT_EQ(found[0].sentence, "All 2 threads of the pool \"t*\" wait in a task, and 47 tasks wait in its queue.");
  EXPECT_THAT(found[0].evidence,
              Contains("\"t1\", \"t2\": \"t1\" #1 is waiting for an answer, at App.turn(App.java:3)"));
  EXPECT_THAT(found[0].evidence, Contains("the pool <0x42> has 47 tasks in its queue, 6 more than 2.0 s before"));
  EXPECT_THAT(found[0].evidence, Contains(HasSubstr("none of them has gone on for at least 22.0 s")));
  EXPECT_EQ(found[0].next, "jtrace stack 4711 --java --locals --thread 't*'");
  EXPECT_THAT(found_by(find_stuck_pools, looks_at(0, 0)), IsEmpty());
  EXPECT_THAT(found_by(find_stuck_pools, looks_at(4, 41)), IsEmpty());
}

TEST(StuckPoolRule, IsAHintAsLongAsATaskMayTakeThatLong) {
  Facts facts = looks_at(0, 41);
  for (ThreadsLook& look : facts.looks) look.threads[1].asleep_ns = kSecond;
  EXPECT_EQ(found_by(find_stuck_pools, facts).at(0).confidence, Confidence::kHint);
}

TEST(StuckPoolRule, AnIdleThreadOrOneThatMovedOnEndsIt) {
  Facts facts = looks_at(0, 41);
  facts.looks.back().threads[1].wait->without_task = true;
  EXPECT_THAT(found_by(find_stuck_pools, facts), IsEmpty());
  facts = looks_at(0, 41);
  facts.looks.back().threads[0].frames.front().bci = 9;
  EXPECT_THAT(found_by(find_stuck_pools, facts), IsEmpty());
}

TEST(StuckPoolRule, LeavesOutTasksThatMayNotBeDue) {
  Facts facts = looks_at(0, 41);
  for (ThreadsLook& look : facts.looks) look.pools[0].is_scheduled = true;
  EXPECT_THAT(found_by(find_stuck_pools, facts), IsEmpty());
}

TEST(StuckPoolRule, LeavesLocksAndTasksToTheirOwnRules) {
  Facts facts = looks_at(0, 41);
  facts.looks.back().threads[0].wait->owner = 9;
  EXPECT_THAT(found_by(find_stuck_pools, facts), IsEmpty());
  facts = looks_at(0, 41);
  facts.looks.back().threads[1].wait->kind = "queued";
  EXPECT_THAT(found_by(find_stuck_pools, facts), IsEmpty());
}

}  // namespace
}  // namespace jtrace::diagnose
