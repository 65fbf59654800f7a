// Jobs in threads and in children.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <set>

#include "base/child_jobs.h"
#include "base/in_parallel.h"
#include "base/unique_fd.h"

namespace jtrace {
namespace {

TEST(InParallel, ResultsComeByIndex) {
  InParallel<std::size_t> squares(100, [](std::size_t i) { return i * i; });
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(squares.wait(i), i * i);
}

TEST(ChildJobs, EachEndsWithItsOwnStatus) {
  const auto statuses = run_in_children(
      3, [](std::size_t i) { return i == 1 ? ExitStatus::kUsage : ExitStatus::kOk; }, -1);
  ASSERT_TRUE(statuses);
  EXPECT_EQ(std::multiset<ExitStatus>(statuses->begin(), statuses->end()),
            (std::multiset<ExitStatus>{ExitStatus::kOk, ExitStatus::kOk, ExitStatus::kUsage}));
}

TEST(ChildJobs, AChildThatDiesIsAFailure) {
  const auto statuses = run_in_children(
      1,
      [](std::size_t) {
        ::raise(SIGKILL);
        return ExitStatus::kOk;
      },
      -1);
  ASSERT_TRUE(statuses);
  EXPECT_EQ(*statuses, std::vector<ExitStatus>{ExitStatus::kRefused});
}

TEST(ChildJobs, ASignalIsOneToAll) {
  sigset_t signals, before;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGTERM);
  ::sigaddset(&signals, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &signals, &before);
  const UniqueFd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  ::kill(::getpid(), SIGTERM);
  const auto statuses = run_in_children(
      2,
      [&](std::size_t) {
        int taken = 0;
        sigset_t interrupt;
        ::sigemptyset(&interrupt);
        ::sigaddset(&interrupt, SIGINT);
        return ::sigwait(&interrupt, &taken) == 0 && taken == SIGINT ? ExitStatus::kOk : ExitStatus::kRefused;
      },
      fd.get());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(statuses);
  EXPECT_EQ(*statuses, (std::vector<ExitStatus>{ExitStatus::kOk, ExitStatus::kOk}));
}

}  // namespace
}  // namespace jtrace
