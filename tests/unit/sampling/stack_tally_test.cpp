// Stacks that are not whole are counted by cause, wherever they were read.
#include "sampling/stack_tally.h"

#include <gtest/gtest.h>

namespace jtrace::sampling {
namespace {

using Causes = std::map<std::string, std::uint64_t>;

coreinspect::Walk walk(const std::string& stopped, bool beyond = false) {
  coreinspect::Walk walk;
  walk.frames.push_back({.kind = coreinspect::FrameKind::kNative, .name = "read"});
  walk.stopped = stopped;
  walk.beyond = beyond;
  return walk;
}

TEST(StackTally, CountsIncompleteStacksByTheirCause) {
  SampleRecord full, short_one, ending;
  full.has_registers = short_one.has_registers = full.stack_is_full = true;
  StackTally tally;
  tally.add(walk(""), &full);
  tally.add(walk("the copy ends", true), &full);
  tally.add(walk("the copy ends", true), &short_one);
  tally.add(walk("it has no registers"), &ending);
  EXPECT_EQ(tally.all(), 4u);
  EXPECT_EQ(tally.cut(), (Causes{{"deeper than the copy (--stack-size)", 1},
                                 {"a page of the stack was not in memory", 1},
                                 {"the thread was ending", 1}}));
}

TEST(StackTally, CountsThoseOfThreadsThatSlept) {
  StackTally tally;
  tally.add(walk(""), nullptr);
  tally.add(walk("the caller is not known"), nullptr);
  tally.add(walk("the copy ends", true), nullptr);
  EXPECT_EQ(tally.all(), 3u);
  EXPECT_EQ(tally.cut(), (Causes{{"in native code", 1}, {"deeper than what is read of a thread that sleeps", 1}}));
}

TEST(StackTally, CountsThoseThatAreNotThereApart) {
  StackTally tally;
  tally.add_missing();
  EXPECT_EQ(tally.all(), 1u);
  EXPECT_EQ(tally.missing(), 1u);
  EXPECT_TRUE(tally.cut().empty());
}

}  // namespace
}  // namespace jtrace::sampling
