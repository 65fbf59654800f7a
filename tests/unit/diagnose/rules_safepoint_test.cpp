// The rules about safepoints, on both sides of their boundaries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/rules.h"
#include "tests/unit/diagnose/made_up_threads.h"

namespace jtrace::diagnose {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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

}  // namespace
}  // namespace jtrace::diagnose
