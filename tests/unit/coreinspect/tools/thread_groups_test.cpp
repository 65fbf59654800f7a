// Threads with equal stacks: what is shown of what they wait for.
#include "coreinspect/tools/thread_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace::coreinspect {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Walk kWalk;

TEST(ThreadGroups, SayWhatTheirThreadsWaitFor) {
  const Wait monitor{.kind = "monitor", .class_name = "Stock", .object = 0x10, .owner = "main", .owner_id = 1};
  const Wait again = monitor;
  ThreadGroups groups;
  groups.add("a", "BLOCKED", "    at f\n", kWalk, &monitor);
  groups.add("b", "BLOCKED", "    at f\n", kWalk, &again);
  EXPECT_EQ(groups.text(),
            "2 threads BLOCKED: \"a\", \"b\"\n"
            "    - waiting to lock <0x10> (a Stock) owned by \"main\" #1\n    at f\n\n");
}

TEST(ThreadGroups, CountTheirThreadsByWhatTheyWaitFor) {
  std::vector<Wait> waits(6, {.kind = "park", .class_name = "Lock"});
  for (std::size_t i = 0; i < waits.size(); ++i) waits[i].object = 0x100 + i;
  ThreadGroups groups;
  groups.add("x", "WAITING", "    at f\n", kWalk, nullptr);
  groups.add("y", "WAITING", "    at f\n", kWalk, &waits[0]);
  for (const Wait& wait : waits) groups.add("z", "WAITING", "    at f\n", kWalk, &wait);
  EXPECT_THAT(groups.text(), AllOf(HasSubstr("2 of them: parking to wait for <0x100> (a Lock)\n"),
                                   HasSubstr("1 of them: parking to wait for <0x103> (a Lock)\n"),
                                   Not(HasSubstr("<0x104>")), HasSubstr("and for 2 more: --format json has all")));
}

TEST(ThreadGroups, NameAllThreadsWithoutFrames) {
  ThreadGroups groups;
  for (int i = 0; i < 12; ++i) groups.add("GC Thread#" + std::to_string(i), "", "", kWalk, nullptr);
  for (const char* name : {"VM Thread", "C1 CompilerThread0", "a", "b", "c", "d", "e", "f"})
    groups.add(name, "", "", kWalk, nullptr);
  EXPECT_EQ(
      groups.text(),
      "20 threads without frames: 12 \"GC Thread#*\", \"VM Thread\", \"C1 CompilerThread0\", \"a\", \"b\", \"c\", "
      "\"d\", \"e\", \"f\"\n\n");
}

}  // namespace
}  // namespace jtrace::coreinspect
