// How long threads have not run, of text and of real threads.
#include "target/last_run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace jtrace::target {
namespace {

using std::chrono::milliseconds;

TEST(LastRun, IsReadInNanoseconds) {
  EXPECT_EQ(
      parse_last_run("java (7, #threads: 12)\n---\nse.exec_start         :      47707490.662086\nse.vruntime : 1.5\n"),
      47'707'490'662'086u);
  EXPECT_EQ(parse_last_run("se.exec_start : 0.000001\n"), 1u);
}

TEST(LastRun, OfOtherTextIsNotKnown) {
  for (const char* text :
       {"", "se.exec_start", "se.exec_start : 12\n", "se.exec_start : 12.5\n", "se.exec_start : x.662086\n",
        "se.exec_start : 0.000000\n", "se.vruntime : 12.500000\n", "se.exec_start : 99999999999999999999.000000\n"})
    EXPECT_FALSE(parse_last_run(text)) << text;
}

// A thread that sleeps in the kernel until it is told to end.
class Sleeper {
 public:
  Sleeper()
      : thread_([this] {
          tid_ = ::gettid();
          char byte = 0;
          (void)!::read(pipe_[0], &byte, 1);
        }) {
    while (tid_ == 0) std::this_thread::yield();
  }
  ~Sleeper() {
    ::close(pipe_[1]);
    thread_.join();
    ::close(pipe_[0]);
  }
  pid_t tid() const { return tid_; }

 private:
  int pipe_[2] = {-1, -1}, made_ = ::pipe(pipe_);
  std::atomic<pid_t> tid_{0};
  std::thread thread_;
};

TEST(TimesAsleep, AreNoLongerThanThoseSlept) {
  const auto process = Process::open(::getpid());
  ASSERT_TRUE(process);
  if (!process->read_proc("sched")) GTEST_SKIP() << "the kernel has no /proc/PID/sched";
  cpu_set_t before, after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  const auto born = std::chrono::steady_clock::now();
  const Sleeper sleeper;
  std::this_thread::sleep_for(milliseconds(400));
  const pid_t tids[] = {sleeper.tid(), ::gettid(), 1 << 30};
  const auto times = times_asleep(*process, tids, std::chrono::seconds(20));
  const auto age = std::chrono::steady_clock::now() - born;
  ASSERT_TRUE(times.contains(sleeper.tid()));
  EXPECT_GE(times.at(sleeper.tid()), milliseconds(200)) << "a busy hypervisor's time is not in it";
  EXPECT_LE(times.at(sleeper.tid()), age);
  EXPECT_EQ(times.size(), 1u) << "who asks runs, and there is no such thread";
  ASSERT_EQ(::sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  EXPECT_TRUE(times_asleep(*process, tids, std::chrono::nanoseconds(0)).empty());
}

}  // namespace
}  // namespace jtrace::target
