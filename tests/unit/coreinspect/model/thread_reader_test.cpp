#include "coreinspect/model/thread_reader.h"

#include <gtest/gtest.h>

namespace jtrace::coreinspect {
namespace {

using Sight = CollectionWatch::Sight;

TEST(CollectionWait, EndsWithTheCollection) {
  int looks = 0;
  CollectionWait wait([&looks] { return ++looks < 5 ? Sight::kRuns : Sight::kNone; });
  EXPECT_EQ(wait.wait(), CollectionWait::Outcome::kEnded);
  EXPECT_EQ(looks, 5);
  EXPECT_EQ(wait.wait(), CollectionWait::Outcome::kNoneRan);
}

TEST(CollectionWait, HasOneLimitForAllThreadsOfAnAnswer) {
  int looks = 0;
  CollectionWait wait([&looks] { return ++looks > 0 ? Sight::kRuns : Sight::kNone; });  // it never ends
  EXPECT_EQ(wait.wait(), CollectionWait::Outcome::kStillRuns);
  const int first = looks;
  EXPECT_LE(first, CollectionWait::kLongest.count());
  EXPECT_EQ(wait.wait(), CollectionWait::Outcome::kStillRuns);
  EXPECT_EQ(looks, first) << "the next thread waits no more";
}

TEST(CollectionWait, ReportsOneThatIsOver) {
  CollectionWait wait([] { return Sight::kEnded; });
  EXPECT_EQ(wait.wait(), CollectionWait::Outcome::kEnded);
}

TEST(CollectionWait, GivesUpWhereTheyFollowOneAnother) {
  CollectionWait wait([] { return Sight::kEnded; });
  int times = 0;
  while (wait.wait() == CollectionWait::Outcome::kEnded) ++times;
  EXPECT_LE(times, CollectionWait::kLongest.count());
}

}  // namespace
}  // namespace jtrace::coreinspect
