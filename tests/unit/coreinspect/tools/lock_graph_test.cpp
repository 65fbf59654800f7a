// The graph of locks of all kinds: circles through Java's locks and those below.
#include "coreinspect/tools/lock_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace::coreinspect {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

LockParty party(pid_t nid) { return {.nid = nid, .name = "t" + std::to_string(nid)}; }
LockEdge java(pid_t waiter, pid_t owner) { return {party(waiter), party(owner), LockKind::kJava}; }
LockEdge below(pid_t waiter, pid_t owner) { return {party(waiter), party(owner), LockKind::kBelow}; }

TEST(LockGraph, FindsCirclesOfBothKindsAndNoOthers) {
  EXPECT_THAT(mixed_circles({java(1, 2), java(2, 1)}), IsEmpty());
  EXPECT_THAT(mixed_circles({below(1, 2), below(2, 1)}), IsEmpty());
  EXPECT_THAT(mixed_circles({java(1, 2), below(2, 3)}), IsEmpty());
  const auto found = mixed_circles({java(1, 2), below(2, 3), java(3, 1), java(9, 1)});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0], SizeIs(3));
}

// A late thread waits for a mutex that a thread has which the safepoint has stopped.
TEST(LockGraph, GoesThroughTheSafepoint) {
  const auto vm = [](pid_t waiter, pid_t owner) { return LockEdge{party(waiter), party(owner), LockKind::kVm}; };
  const auto found = mixed_circles({below(2, 3), vm(1, 2), vm(1, 4), vm(3, 1)});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0], SizeIs(3));
  EXPECT_THAT(mixed_circles({vm(1, 2), vm(3, 1)}), IsEmpty());
}

TEST(LockGraph, KnowsAVirtualThreadFromAnotherOne) {
  const LockParty one{.virtual_thread = 0x10, .name = "v1"}, other{.virtual_thread = 0x20, .name = "v2"};
  const auto found = mixed_circles({{one, other, LockKind::kJava}, {other, one, LockKind::kBelow}});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0][0].name, "v1");
  EXPECT_EQ(found[0][1].name, "v2");
}

MutexReport report(pid_t owner, std::vector<pid_t> waiters) {
  MutexRow row{.kind = "native", .address = 0x100, .owner = MutexParty{.nid = owner}};
  for (const pid_t each : waiters) row.waiters.push_back({.nid = each});
  return {.rows = {row}};
}

TEST(LockGraph, KeepsTheWaitersOfBothReports) {
  EXPECT_THAT(kept_in_both(report(1, {2}), report(3, {2})), IsEmpty());
  EXPECT_THAT(kept_in_both(report(1, {2}), report(1, {3})), IsEmpty());
  const auto kept = kept_in_both(report(1, {2, 3}), report(1, {3, 4}));
  ASSERT_THAT(kept, SizeIs(1));
  ASSERT_THAT(kept[0].waiters, SizeIs(1));
  EXPECT_EQ(kept[0].waiters[0].nid, 3);
}

}  // namespace
}  // namespace jtrace::coreinspect
