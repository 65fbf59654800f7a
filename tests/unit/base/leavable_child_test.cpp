// Jobs in a child that end, die, or cannot end.
#include "base/leavable_child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace jtrace {
namespace {

TEST(LeavableChild, GivesTheStatusOfItsJob) {
  const auto end = run_in_leavable_child([] { return ExitStatus::kPartial; });
  ASSERT_TRUE(end);
  EXPECT_EQ(end->status, ExitStatus::kPartial);
  EXPECT_EQ(end->signal, 0);
  EXPECT_EQ(end->left_behind, 0);
}

TEST(LeavableChild, TellsTheSignalThatEndedIt) {
  const auto end = run_in_leavable_child([]() -> ExitStatus {
    ::raise(SIGKILL);
    return ExitStatus::kOk;
  });
  ASSERT_TRUE(end);
  EXPECT_EQ(end->signal, SIGKILL);
}

TEST(LeavableChild, GetsTheSignalsOfItsParent) {
  const pid_t parent = ::getpid();
  const auto end = run_in_leavable_child([parent]() -> ExitStatus {
    ::kill(parent, SIGTERM);
    std::this_thread::sleep_for(std::chrono::minutes(1));
    return ExitStatus::kOk;
  });
  ASSERT_TRUE(end);
  EXPECT_EQ(end->signal, SIGTERM);
}

}  // namespace
}  // namespace jtrace
