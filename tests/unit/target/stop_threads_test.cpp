// Processes that are stopped and continue, or are killed meanwhile.
#include "target/stop_threads.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "target/process.h"
#include "tests/testlib/must.h"

namespace jtrace::target {
namespace {

constexpr auto kLongest = std::chrono::seconds(5);

TEST(StoppedThreads, StopsReadsAndLetsGo) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  auto process = Process::open(child);
  ASSERT_TRUE(process);
  {
    auto stopped = test::must(StoppedThreads::stop(*process, kLongest));
    ASSERT_EQ(stopped.threads().size(), 1u);
    EXPECT_EQ(stopped.threads()[0].tid, child);
    EXPECT_NE(stopped.threads()[0].registers.pc(), 0u);
    EXPECT_EQ(process->status()->state, 't');
    EXPECT_EQ(process->status()->tracer, ::getpid());
    EXPECT_GT(stopped.release().count(), 0);
    EXPECT_EQ(process->status()->tracer, 0);
  }
  {
    auto stopped = StoppedThreads::stop(*process, kLongest);
    ASSERT_TRUE(stopped);
  }  // released at the end of its scope
  EXPECT_EQ(process->status()->tracer, 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

// Ends with the test, however that ends.
struct SleepingChild {
  SleepingChild() : pid(::fork()) {
    if (pid == 0)
      for (;;) ::pause();
  }
  ~SleepingChild() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  pid_t pid;
};

int priority() { return ::getpriority(PRIO_PROCESS, 0); }

TEST(StoppedThreads, ComeFirstOnlyWhileTheyAreStopped) {
  const SleepingChild child;
  const auto process = test::must(Process::open(child.pid));
  const int before = priority();
  const int raised = FirstInLine().was_raised() ? -20 : before;  // not everybody may
  EXPECT_EQ(priority(), before);
  auto first = test::must(StoppedThreads::stop(process, kLongest));
  EXPECT_EQ(priority(), raised);
  StoppedThreads moved = std::move(first);
  first.release();
  EXPECT_FALSE(FirstInLine().was_raised()) << "it is raised already";
  EXPECT_EQ(priority(), raised) << "they still stand";
  moved.release();
  EXPECT_EQ(priority(), before);
}

// A process of two threads whose parent, which is not this process, waits for its end, and then ends as well.
struct Family {
  pid_t parent = 0;
  pid_t target = 0;
};
Family start_family() {
  int pipe[2];
  if (::pipe(pipe) != 0) return {};
  Family family{.parent = ::fork()};
  if (family.parent == 0) {
    const pid_t target = ::fork();
    if (target == 0) {
      std::thread second([] {
        for (;;) ::pause();
      });
      const pid_t self = ::getpid();
      (void)!::write(pipe[1], &self, sizeof self);
      for (;;) ::pause();
    }
    ::waitpid(target, nullptr, 0);
    ::_exit(0);
  }
  (void)!::read(pipe[0], &family.target, sizeof family.target);
  ::close(pipe[0]);
  ::close(pipe[1]);
  return family;
}

TEST(StoppedThreads, LetAProcessGoThatIsKilledMeanwhile) {
  const Family family = start_family();
  ASSERT_GT(family.target, 0);
  {
    auto process = Process::open(family.target);
    ASSERT_TRUE(process);
    auto stopped = test::must(StoppedThreads::stop(*process, kLongest));
    ASSERT_EQ(stopped.threads().size(), 2u);
    ASSERT_EQ(::kill(family.target, SIGKILL), 0);
  }
  pid_t ended = 0;
  const auto end = std::chrono::steady_clock::now() + kLongest;
  while ((ended = ::waitpid(family.parent, nullptr, WNOHANG)) == 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(ended, family.parent) << "the killed process remains, and its parent waits for it";
  if (ended != family.parent) {
    ::kill(family.parent, SIGKILL);
    ::waitpid(family.parent, nullptr, 0);
  }
}

}  // namespace
}  // namespace jtrace::target
