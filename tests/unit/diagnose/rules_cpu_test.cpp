// The rule about threads that spin, on both sides of its boundaries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/rules.h"
#include "tests/unit/diagnose/made_up_threads.h"

namespace jtrace::diagnose {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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

// A pattern that is matched: the JDK's frames are others in each stack.
TEST(SpinningRule, FindsOneCallOfTheJdkWhoseFramesChange) {
  Facts facts = busy(1, 0);
  int depth = 0;
  const auto own = [](std::vector<FrameFact>& frames) { return frames.end() - 2; };
  const auto match = [&](std::vector<FrameFact>& frames) {
    frames[0].call = 7;
    ++depth;
    std::vector<FrameFact> inner(static_cast<std::size_t>(1 + depth % 3), {"java.util.regex.Pattern.match", "", depth});
    inner.push_back({"java.util.regex.Matcher.matches", "Matcher.java:1", 3});
    frames.insert(frames.begin(), inner.begin(), inner.end());
  };
  for (ThreadsLook& look : facts.looks) match(look.threads[0].frames);
  for (auto& stack : facts.busy[1]) match(stack);
  const auto found = found_by(find_spinning, facts);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].confidence, Confidence::kLikely);
  EXPECT_EQ(found[0].sentence,
            "The thread \"t1\" runs without a pause in one call of java.util.regex.Matcher.matches by App.turn.");
  EXPECT_EQ(found[0].next, "jtrace stack 4711 --java --locals --thread t1");
  Facts starved = busy(0.2, 0.75);  // a short call takes long without a processor
  starved.busy = facts.busy;
  for (std::size_t i = 0; i < 3; ++i) starved.looks[i].threads[0].frames = facts.looks[i].threads[0].frames;
  EXPECT_EQ(found_by(find_spinning, starved).at(0).confidence, Confidence::kHint);
  own(facts.busy[1][3])->call = 8;  // called once more
  EXPECT_EQ(found_by(find_spinning, facts).at(0).confidence, Confidence::kHint);
  EXPECT_THAT(found_by(find_spinning, facts).at(0).sentence,
              HasSubstr("called by App.turn, in 11 of 11 stacks: it is"));
  own(facts.busy[1][3])->bci = 20;  // another call in it
  EXPECT_THAT(found_by(find_spinning, facts), IsEmpty());
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

}  // namespace
}  // namespace jtrace::diagnose
