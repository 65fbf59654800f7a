#include "target/standstill.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace jtrace::target {
namespace {

MountEntry mount(std::string root, std::string point, std::string type) {
  MountEntry made;
  made.root = std::move(root);
  made.point = std::move(point);
  made.type = std::move(type);
  return made;
}

TEST(Standstill, TheStateComesAfterANameOfAnyCharacters) {
  EXPECT_EQ(parse_state("12 (a) R (b) T 1 2"), 'T');
  EXPECT_EQ(parse_state("12 (java) S 1 2"), 'S');
  EXPECT_EQ(parse_state("12 (java)"), '?');
  EXPECT_EQ(parse_state(""), '?');
}

TEST(Standstill, TheFreezerIsThatOfTheCgroup) {
  const std::vector<MountEntry> old{mount("/", "/sys/fs/cgroup/cpu", "cgroup"),
                                    mount("/", "/sys/fs/cgroup/freezer", "cgroup"),
                                    mount("/", "/sys/fs/cgroup/unified", "cgroup2")};
  EXPECT_EQ(freezer_of("6:freezer:/box\n0::/\n", old).path, "/sys/fs/cgroup/freezer/box/freezer.state");
  EXPECT_EQ(freezer_of("6:cpu,freezer:/a:b\n", old).path, "/sys/fs/cgroup/freezer/a:b/freezer.state");
  EXPECT_EQ(freezer_of("6:freezer:/\n0::/app\n", old).path, "/sys/fs/cgroup/unified/app/cgroup.events");
  EXPECT_EQ(freezer_of("6:freezer:/\n0::/\n", old).path, "");
  const std::vector<MountEntry> inside{mount("/docker/12", "/sys/fs/cgroup", "cgroup2")};
  EXPECT_EQ(freezer_of("0::/docker/12/app\n", inside).path, "/sys/fs/cgroup/app/cgroup.events");
  EXPECT_EQ(freezer_of("0::/docker/123\n", inside).path, "");
  EXPECT_EQ(freezer_of("0::/other\n", inside).path, "");
  EXPECT_EQ(freezer_of("", inside).path, "");
}

// A child that waits, or spins.
class Child {
 public:
  explicit Child(bool spins) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
      if (spins) (void)::getppid();
      else ::pause();
    }
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  // Stops the child, and waits until it is stopped.
  void stop() const {
    ::kill(pid_, SIGSTOP);
    ::waitpid(pid_, nullptr, WUNTRACED);
  }
  void go_on() const {
    ::kill(pid_, SIGCONT);
    ::waitpid(pid_, nullptr, WCONTINUED);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(Standstill, AStoppedProcessStandsStillABusyOrAnIdleOneDoesNot) {
  for (const bool spins : {true, false}) {
    const Child child(spins);
    auto process = Process::open(child.pid());
    ASSERT_TRUE(process);
    Standstill standstill(*process);
    EXPECT_FALSE(standstill.is_still());
    child.stop();
    EXPECT_TRUE(standstill.is_still());
    child.go_on();
    EXPECT_FALSE(standstill.is_still());
  }
}

TEST(Standstill, AProcessThatHasEndedDoesNot) {
  const pid_t pid = ::fork();
  if (pid == 0) ::pause();
  auto process = Process::open(pid);
  ASSERT_TRUE(process);
  ::kill(pid, SIGKILL);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  Standstill standstill(*process);
  EXPECT_FALSE(standstill.is_still());
  ::waitpid(pid, nullptr, 0);
  EXPECT_FALSE(standstill.is_still());
}

}  // namespace
}  // namespace jtrace::target
