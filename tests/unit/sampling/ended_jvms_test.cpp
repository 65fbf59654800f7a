// When nothing of a JVM that has ended is left in the rings.
#include "sampling/ended_jvms.h"

#include <gtest/gtest.h>

#include "sampling/wait_tracker.h"

namespace jtrace::sampling {
namespace {

using Pids = std::vector<pid_t>;

TEST(EndedJvms, AreKeptUntilWhatWasStampedBeforeTheirEndIsTaken) {
  EndedJvms ended;
  ended.add(7, 1000);
  ended.add(8, 1010);
  EXPECT_EQ(ended.taken(999), Pids());
  ended.add(7, 1020);  // it is seen again
  EXPECT_EQ(ended.taken(1000), Pids{7});
  EXPECT_EQ(ended.taken(1030), Pids{8});
  EXPECT_EQ(ended.taken(2000), Pids());
}

// A round takes waits that ended up to a moment ago: the last wait of a JVM is taken a round later.
TEST(EndedJvms, AreThereForTheirLastWait) {
  constexpr std::uint64_t kBehind = 10;
  WaitTracker tracker(1);
  EndedJvms ended;
  tracker.existed(7, 71, 500);
  tracker.add(SwitchRecord{.pid = 7, .tid = 71, .time = 999});
  bool there = true;
  std::vector<bool> seen;
  for (const std::uint64_t now : {1000u, 1100u}) {
    ended.add(7, now);
    tracker.advance(now - kBehind, [&](const Wait&) { seen.push_back(there); });
    if (!ended.taken(now - kBehind).empty()) there = false;
  }
  EXPECT_EQ(seen, std::vector<bool>{true});
  EXPECT_FALSE(there);
}

}  // namespace
}  // namespace jtrace::sampling
