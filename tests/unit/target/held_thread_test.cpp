// A thread that has another tracer: who the tracer is, and where the thread is.
#include "target/held_thread.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/stop_threads.h"
#include "tests/testlib/must.h"

namespace jtrace::target {
namespace {

TEST(SyscallOfAThread, ShowsWhereItIs) {
  const auto blocked = parse_syscall("202 0x7f01 0x189 0x0 0x0 0x0 0xffffffff 0x7ffe10 0x7f4a9c\n");
  ASSERT_TRUE(blocked);
  EXPECT_EQ(blocked->sp(), 0x7ffe10u);
  EXPECT_EQ(blocked->pc(), 0x7f4a9cu);
  const auto outside = parse_syscall("-1 0x7ffe10 0x7f4a9c\n");
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->sp(), 0x7ffe10u);
  for (const char* text : {"running\n", "", "-1 0x0 0x0\n", "-1 7ffe10 0x7f\n", "0x1 0x2\n", "a b c d\n"})
    EXPECT_FALSE(parse_syscall(text)) << text;
}

// A child with one thread, and another process that traces it.
class HeldProcess : public ::testing::Test {
 protected:
  void SetUp() override {
    child_ = ::fork();
    if (child_ == 0)
      for (;;) ::pause();
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    tracer_ = ::fork();
    if (tracer_ == 0) {
      const bool held = ::ptrace(PTRACE_SEIZE, child_, nullptr, nullptr) == 0 &&
                        ::ptrace(PTRACE_INTERRUPT, child_, nullptr, nullptr) == 0 &&
                        ::waitpid(child_, nullptr, __WALL) == child_;
      (void)!::write(ready[1], held ? "y" : "n", 1);
      for (;;) ::pause();
    }
    char answer = 'n';
    ASSERT_EQ(::read(ready[0], &answer, 1), 1);
    if (answer != 'y') GTEST_SKIP() << "ptrace is not allowed here";
  }
  void TearDown() override {
    for (const pid_t each : {tracer_, child_}) {
      ::kill(each, SIGKILL);
      ::waitpid(each, nullptr, 0);
    }
  }
  pid_t child_ = 0, tracer_ = 0;
};

TEST_F(HeldProcess, IsReportedAndNotStopped) {
  const auto process = Process::open(child_);
  ASSERT_TRUE(process);
  auto stopped = test::must(StoppedThreads::stop(*process, std::chrono::seconds(5)));
  EXPECT_TRUE(stopped.threads().empty());
  ASSERT_EQ(stopped.held().size(), 1u);
  const HeldThread& held = stopped.held().front();
  EXPECT_EQ(held.tid, child_);
  EXPECT_EQ(held.tracer, tracer_);
  EXPECT_TRUE(held.stands);
  EXPECT_FALSE(held.tracer_name.empty());
  EXPECT_EQ(describe_tracer(held),
            "another tracer, process " + std::to_string(tracer_) + " (" + held.tracer_name + ")");
  EXPECT_EQ(stopped.release().count(), 0) << "nothing stood for us";
  const auto at = registers_if_blocked(*process, child_);
  ASSERT_TRUE(at);
  EXPECT_NE(at->sp(), 0u);
  EXPECT_EQ(process->status()->tracer, tracer_) << "it is held as before";
}

TEST_F(HeldProcess, IsOursWhenTheOtherGoes) {
  const auto process = Process::open(child_);
  ASSERT_TRUE(process);
  EXPECT_TRUE(find_holder(*process, child_));
  ::kill(tracer_, SIGKILL);
  ::waitpid(tracer_, nullptr, 0);
  EXPECT_FALSE(find_holder(*process, child_));
  auto stopped = StoppedThreads::stop(*process, std::chrono::seconds(5));
  ASSERT_TRUE(stopped);
  EXPECT_EQ(stopped->threads().size(), 1u);
  EXPECT_TRUE(stopped->held().empty());
  EXPECT_FALSE(find_holder(*process, child_)) << "we are no other";
}

}  // namespace
}  // namespace jtrace::target
