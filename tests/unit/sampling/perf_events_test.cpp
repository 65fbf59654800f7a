// Events of real processes that come and go. Skipped where the kernel refuses them.
#include "sampling/perf_events.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <filesystem>
#include <thread>

namespace jtrace::sampling {
namespace {

// A process that sleeps for moments until it is ended.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (pid_ == 0) ::usleep(1000);
    process_ = std::make_unique<target::Process>(*target::Process::open(pid_));
  }
  ~Child() { end(); }
  const target::Process& process() const { return *process_; }
  pid_t pid() const { return pid_; }
  void end() {
    if (ended_) return;
    ended_ = true;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  const pid_t pid_;
  bool ended_ = false;
  std::unique_ptr<target::Process> process_;
};

std::size_t descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

// Waits for a record of a switch of that process.
bool has_switches(PerfEvents& events, pid_t pid) {
  bool found = false;
  TakeRecords take;
  take.switched = [&](const SwitchRecord& record) { found = found || record.pid == static_cast<std::uint32_t>(pid); };
  for (int look = 0; look < 5000 && !found; ++look) {
    ::usleep(1000);
    events.drain(take);
  }
  return found;
}

constexpr EventOptions kSwitches{.hz = 99, .stack_bytes = 512, .ticks = false, .switches = true};

TEST(PerfEvents, OfAProcessThatHasEndedAreClosed) {
  Child first;
  auto opened = PerfEvents::open({&first.process()}, kSwitches);
  if (!opened) GTEST_SKIP() << opened.error().message();
  PerfEvents& events = **opened;
  ASSERT_TRUE(events.start());
  const std::size_t before = descriptors();
  for (int i = 0; i < 3; ++i) {
    Child next;
    const std::size_t with_child = descriptors();
    ASSERT_TRUE(events.add(next.process()));
    EXPECT_GT(descriptors(), with_child);
    EXPECT_TRUE(has_switches(events, next.pid()));
    next.end();
    events.remove(next.pid());
    EXPECT_EQ(descriptors(), with_child);
  }
  EXPECT_EQ(descriptors(), before);
  EXPECT_EQ(events.lost(), 0u);
  // Its events have the rings: those of others still come.
  first.end();
  events.remove(first.pid());
  Child last;
  ASSERT_TRUE(events.add(last.process()));
  EXPECT_TRUE(has_switches(events, last.pid()));
}

TEST(PerfEvents, LeaveOutAProcessOfSeveralThatCannotBeSampled) {
  Child first, gone, last;
  gone.end();
  const auto opened = PerfEvents::open({&first.process(), &gone.process(), &last.process()}, kSwitches);
  if (!opened && opened.error().category == ErrorCategory::kPermission) GTEST_SKIP() << opened.error().message();
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_TRUE((*opened)->has_events(first.pid()));
  EXPECT_TRUE((*opened)->has_events(last.pid()));
  ASSERT_EQ((*opened)->left_out().size(), 1u);
  EXPECT_EQ((*opened)->left_out().begin()->first, gone.pid());
  EXPECT_FALSE(PerfEvents::open({&gone.process()}, kSwitches));
}

// A process that starts a thread, which gives itself a name and ends, again and again.
class Namer {
 public:
  Namer() : pid_(::fork()) {
    if (pid_ == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (pid_ == 0) {
      std::thread([] { ::prctl(PR_SET_NAME, "brief-thread"); }).join();
      ::usleep(1000);
    }
  }
  ~Namer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  const pid_t pid_;
};

TEST(PerfEvents, HaveTheNamesOfThreads) {
  const Namer namer;
  const auto process = target::Process::open(namer.pid());
  ASSERT_TRUE(process);
  for (const bool of_threads : {true, false}) {
    const EventOptions options{.hz = 99, .stack_bytes = 512, .ticks = !of_threads, .switches = of_threads};
    auto opened = PerfEvents::open({&*process}, options);
    if (!opened) GTEST_SKIP() << opened.error().message();
    ASSERT_TRUE((*opened)->start());
    NameRecord found;
    TakeRecords take;
    take.named = [&](const NameRecord& record) { found = record; };
    for (int look = 0; look < 5000 && found.name.empty(); ++look) {
      ::usleep(1000);
      (*opened)->drain(take);
    }
    EXPECT_EQ(found.name, "brief-thread") << (*opened)->description();
    EXPECT_EQ(found.pid, static_cast<std::uint32_t>(namer.pid()));
    EXPECT_NE(found.tid, found.pid);
  }
}

// The limit below which so many descriptors are free.
rlim_t limit_with_free(std::size_t wanted) {
  int limit = 0;
  for (; wanted > 0; ++limit) wanted -= ::fcntl(limit, F_GETFD) < 0 ? 1 : 0;
  return static_cast<rlim_t>(limit);
}

// With `missing` descriptors less than two processes take. In a process of its own, because the limit cannot be raised
// again. The number of the check that failed; 0 if none did.
int open_with_few_descriptors(const target::Process& first, const target::Process& second, std::size_t missing) {
  const auto processors = static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  const std::size_t of_a_thread = 2 * processors, before = descriptors();
  const rlim_t most = limit_with_free(2 * of_a_thread - missing);
  const rlimit limit{.rlim_cur = most, .rlim_max = most};
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  const auto events = PerfEvents::open({&first, &second}, {.hz = 99, .stack_bytes = 512, .switches = true});
  if (!events) return 2;
  if (!(*events)->has_events(first.pid())) return 3;
  if ((*events)->has_events(second.pid()) != (missing == 0)) return 4;
  if (missing == 0) return 0;
  if (descriptors() != before + of_a_thread) return 5;
  return (*events)->missing().empty() || (*events)->missing()[0].find("are not sampled") == std::string::npos ? 6 : 0;
}

TEST(PerfEvents, OfAThreadAreAllThereOrNone) {
  Child first, second;
  if (const auto allowed = PerfEvents::open({&first.process()}, kSwitches); !allowed)
    GTEST_SKIP() << allowed.error().message();
  for (const std::size_t missing : {0u, 1u}) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(open_with_few_descriptors(first.process(), second.process(), missing));
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << "the check of that number, " << missing << " missing";
  }
}

}  // namespace
}  // namespace jtrace::sampling
