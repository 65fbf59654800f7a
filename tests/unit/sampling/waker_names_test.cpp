// Who woke a thread, as it is shown.
#include "sampling/waker_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace jtrace::sampling {
namespace {

WakerNames names() {
  return {[](pid_t pid, pid_t tid) { return pid == 9 ? "" : "thread-" + std::to_string(tid); },
          [](pid_t pid) { return pid == 7 ? "" : "process p (" + std::to_string(pid) + ")"; }};
}

TEST(WakerNames, SayWhichThreadOfWhichProcess) {
  WakerNames wakers = names();
  EXPECT_EQ(wakers.name({.tid = 1, .waker_pid = 5, .waker_tid = 6}, 5), "thread-6");
  EXPECT_EQ(wakers.name({.tid = 1, .waker_pid = 5, .waker_tid = 6}, 4), "thread-6 of process p (5)");
  EXPECT_EQ(wakers.name({.tid = 1, .waker_pid = 9, .waker_tid = 9}, 5), "process p (9)");
  EXPECT_EQ(wakers.name({.tid = 1, .waker_pid = 7, .waker_tid = 6}, 5), "thread-6 of process 7");
}

TEST(WakerNames, BlameNobodyForAnInterrupt) {
  WakerNames wakers = names();
  EXPECT_EQ(wakers.name({.tid = 1, .waker_pid = 5, .waker_tid = 6, .interrupt = true}, 5), "[interrupt]");
  EXPECT_EQ(wakers.name({.tid = 1}, 5), "[interrupt]") << "no process runs there";
}

TEST(WakerNames, HaveTheProcessAsTheKernelCallsIt) {
  EXPECT_THAT(name_of_process(::getpid()),
              ::testing::MatchesRegex("process [^ ]+ \\(" + std::to_string(::getpid()) + "\\)"));
  EXPECT_EQ(name_of_process(0), "");
}

}  // namespace
}  // namespace jtrace::sampling
