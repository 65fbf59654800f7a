// jtrace profile --off-cpu and --wall against a program whose threads meter their own waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>
#include <tuple>

#include "base/clock.h"
#include "base/file.h"
#include "tests/testlib/background_command.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using ::testing::HasSubstr;

constexpr double kMilli = 1e6;  // ns

// "thread;[kind];frame;...;frame" -> ns.
using Stacks = std::map<std::string, double>;
Stacks read_stacks(const std::string& path) {
  Stacks stacks;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t space = line.rfind(' ');
    stacks[line.substr(0, space)] += std::stod(line.substr(space + 1));
  }
  return stacks;
}

// Of the stacks that begin so, and have that frame.
double sum(const Stacks& stacks, const std::string& start, const std::string& frame = "") {
  double all = 0;
  for (const auto& [stack, ns] : stacks)
    if (stack.starts_with(start) && (frame.empty() || stack.find(frame) != stack.npos)) all += ns;
  return all;
}

// The beginnings of those that have that frame.
std::string with_frame(const Stacks& stacks, const std::string& frame) {
  std::string lines;
  for (const auto& [stack, ns] : stacks)
    if (stack.find(frame) != stack.npos) lines += stack.substr(0, 60) + "\n";
  return lines;
}

class OffCpu : public ::testing::TestWithParam<Jdk> {
 protected:
  void start(const std::string& program = "MetersWaits", const std::vector<std::string>& arguments = {}) {
    if (::getuid() != 0) JTRACE_SKIP("ptrace", "perf events of another process take root here");
    jvm_ = must(JvmProcess::start(GetParam(), program, {.flags = {"-Xmx128m"}, .arguments = arguments}));
  }
  // Records while the program does `command`; its answer.
  std::string record(const std::vector<std::string>& options, const std::string& command) {
    std::vector<std::string> words = {jtrace_binary(), "profile", jvm_->pid_text(), "-o", path()};
    words.insert(words.end(), options.begin(), options.end());
    const auto jtrace = must(BackgroundCommand::start(words));
    EXPECT_TRUE(jtrace->wait_err_line("jtrace: recording", std::chrono::seconds(60))) << jtrace->err();
    const std::string answer = must(jvm_->ask(command));
    jtrace->signal(SIGINT);
    EXPECT_THAT(must(jtrace->wait_exit()), ::testing::AnyOf(0, 9)) << jtrace->err();  // 9: the kernel held samples back
    err_ = jtrace->err();
    return answer;
  }
  std::string path() const { return folder_.file("waits.collapsed"); }

  std::unique_ptr<JvmProcess> jvm_;
  const ScratchDir folder_;
  std::string err_;
};
JTRACE_ON_EACH_JDK(OffCpu);

struct Waiter {
  const char* thread;
  const char* kind;
  const char* frame;
};
constexpr Waiter kWaiters[] = {
    {"sleeper", "[sleep]", "MetersWaits.sleepOnce"}, {"parker", "[park]", "MetersWaits.parkOnce"},
    {"waiter", "[wait]", "MetersWaits.waitOnce"},    {"contender", "[monitor]", "MetersWaits.enterOnce"},
    {"reader", "[socket]", "MetersWaits.readOnce"},  {"selector", "[poll]", "MetersWaits.selectOnce"},
};

TEST_P(OffCpu, HasTheWaitsThatThreadsMeterThemselves) {
  start();
  ASSERT_TRUE(jvm_);
  std::istringstream words(record({"--off-cpu", "--min", "0"}, "run"));
  std::map<std::string, double> metered;
  std::string thread;
  for (double ns = 0; words >> thread >> ns;) metered[thread] = ns;
  const Stacks stacks = read_stacks(path());
  for (const Waiter& waiter : kWaiters) {
    const std::string name = waiter.thread;
    const double truth = metered[name];
    ASSERT_GT(truth, 200 * kMilli) << name;
    // Up to JDK 12 a read has a buffer of 64 KiB on its stack (SocketInputStream.c): the copy ends in it.
    const bool cut = name == "reader" && GetParam().version < 13;
    // Debian's JDK 8 has no symbols: what its VM waits for is not known.
    const bool nameless = name == "contender" && GetParam().version == 8;
    const double waits = sum(stacks, name + ";" + (nameless ? "[VM]" : waiter.kind) + ";", cut ? "" : waiter.frame);
    // On a busy machine it waits for a processor and for safepoints too, inside of what it meters.
    const double all = sum(stacks, name + ";[");
    const double tolerance = 0.01 * truth + kMilli;
    EXPECT_GE(all + tolerance, truth) << name << "\n" << err_ << with_frame(stacks, waiter.frame);
    EXPECT_GE(waits, 0.8 * truth) << name << "\n" << err_;
    EXPECT_LE(waits, truth + tolerance) << name << "\n" << err_;
  }
  EXPECT_THAT(err_, HasSubstr("the target was not stopped"));
}

// From before the recording to its end: one wait of its length, with the stack as it lies in memory.
TEST_P(OffCpu, HasWhoWaitsAllTheTime) {
  start();
  ASSERT_TRUE(jvm_);
  const CommandOutput done =
      must(run_jtrace({"profile", jvm_->pid_text(), "--off-cpu", "--duration", "1", "-o", path()}));
  ASSERT_THAT(done.status, ::testing::AnyOf(0, 9)) << done.err;
  const CommandOutput table = must(run_jtrace({"profile", jvm_->pid_text(), "--off-cpu", "--duration", "500ms"}));
  EXPECT_THAT(table.out, HasSubstr("what and where\n"));
  EXPECT_THAT(table.out, HasSubstr("[park] MetersWaits."));
  EXPECT_THAT(table.out, HasSubstr("  stander\n"));
  const Stacks stacks = read_stacks(path());
  const double waited = sum(stacks, "stander;[park];", "java.util.concurrent.locks.LockSupport.park");
  EXPECT_GE(waited, 0.99 * 1000 * kMilli - kMilli);
  EXPECT_LE(waited, 1.2 * 1000 * kMilli) << "the machine may be late";
}

// They are gone when their records are read: no look of any kind finds their names.
TEST_P(OffCpu, HasTheNamesOfThreadsThatHaveEnded) {
  start();
  ASSERT_TRUE(jvm_);
  EXPECT_EQ(record({"--off-cpu", "--min", "0"}, "brief"), "60");
  const Stacks stacks = read_stacks(path());
  std::set<std::string> named;
  for (const auto& [stack, ns] : stacks)
    if (stack.starts_with("brief-")) named.insert(stack.substr(0, stack.find(';')));
  if (err_.find("switches of threads were lost") != std::string::npos) {  // and names with them
    EXPECT_GT(named.size(), 10u) << err_;
    return;
  }
  EXPECT_EQ(named.size(), 60u) << err_ << with_frame(stacks, "java;") << with_frame(stacks, "thread ");
  // One that ended between the read of the rings and the look at its first wait has its name from then on.
  EXPECT_LE(sum(stacks, "thread "), 0.1 * sum(stacks, "brief-")) << err_;
}

// "time longest times what and where", of the row that has that frame; times in ms.
struct TableRow {
  double time = 0, longest = 0, times = 0;
};
TableRow row_of(const std::string& table, const std::string& frame) {
  TableRow row;
  const std::size_t begin = table.rfind('\n', table.find(frame)) + 1;
  if (begin < table.size()) std::istringstream(table.substr(begin)) >> row.time >> row.longest >> row.times;
  return row;
}

TEST_P(OffCpu, KeepsToItsTimeWithAThousandThreads) {
  start("Naps", {"1000"});
  ASSERT_TRUE(jvm_);
  const CommandOutput done = must(
      run_jtrace({"profile", jvm_->pid_text(), "--off-cpu", "--duration", "2"}, {.timeout = std::chrono::minutes(3)}));
  // Of processor time: how long that takes is the machine's, which has other tests to run.
  EXPECT_LT(done.cpu, std::chrono::seconds(10)) << done.err;
  const TableRow naps = row_of(done.out, "[sleep] Naps.");
  // Of some 13,000. A busy machine does not get all of them, and says how many it lost.
  double lost = 0;
  if (const std::size_t at = done.err.find(" s, "); at != std::string::npos)
    std::istringstream(done.err.substr(at + 4)) >> lost;
  EXPECT_GE(naps.times + lost, 5000) << done.err;
  EXPECT_GE(naps.times, 100) << done.err;
  EXPECT_LT(naps.longest, 1000) << done.err;
}

// For two seconds nobody empties the rings.
TEST_P(OffCpu, DoesNotJoinWaitsBetweenWhichSwitchesWereLost) {
  start("Naps", {"1000"});
  ASSERT_TRUE(jvm_);
  const auto jtrace = must(BackgroundCommand::start({jtrace_binary(), "profile", jvm_->pid_text(), "--off-cpu"}));
  ASSERT_TRUE(jtrace->wait_err_line("jtrace: recording", std::chrono::seconds(60))) << jtrace->err();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  jtrace->signal(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  jtrace->signal(SIGCONT);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  jtrace->signal(SIGINT);
  EXPECT_EQ(must(jtrace->wait_exit()), 9) << "records were lost\n" << jtrace->err();
  EXPECT_THAT(jtrace->err(), HasSubstr("switches of threads were lost: waits are cut there"));
  EXPECT_LT(row_of(jtrace->out(), "[sleep] Naps.").longest, 1000) << jtrace->err();
}

TEST_P(OffCpu, IsAPartOfWallTime) {
  start();
  ASSERT_TRUE(jvm_);
  record({"--wall", "--hz", "499"}, "run");
  const Stacks stacks = read_stacks(path());
  EXPECT_GT(sum(stacks, "sleeper;[sleep];", "MetersWaits.sleepOnce"), 200 * kMilli) << err_;
  EXPECT_GT(sum(stacks, "stander;[park];"), 200 * kMilli) << sum(stacks, "stander;[") << "\n" << err_;
  double runs = 0;
  for (const auto& [stack, ns] : stacks)
    if (stack.find(";[") == stack.npos) runs += ns;
  EXPECT_GT(runs, 0) << "samples of CPU time";
}

// How often a thread's waits had whom as owner or waker ("owners", "wakers"), of its stacks that have that frame.
std::map<std::string, int> parties_of(const nlohmann::json& answer, const std::string& thread, const char* key,
                                      const std::string& frame = "") {
  std::map<std::string, int> parties;
  const auto has = [&frame](const nlohmann::json& frames) {
    return frame.empty() || std::any_of(frames.begin(), frames.end(), [&](const auto& each) { return each == frame; });
  };
  for (const auto& row : answer["data"])
    if (row["thread"] == thread && row.contains(key) && has(row["frames"]))
      for (const auto& party : row[key]) parties[party["name"].get<std::string>()] += party["times"].get<int>();
  return parties;
}

double longest_of(const nlohmann::json& answer, const std::string& thread, const std::string& frame) {
  double longest = 0;
  for (const auto& row : answer["data"])
    if (row["thread"] == thread && std::find(row["frames"].begin(), row["frames"].end(), frame) != row["frames"].end())
      longest = std::max(longest, row["longestNs"].get<double>());
  return longest;
}

class WhoKeepsThemWaiting : public OffCpu {
 protected:
  // `words`: before jtrace's own.
  nlohmann::json record_run(std::vector<std::string> words = {}) {
    start("Wakes");
    if (!jvm_) return {};
    words.insert(words.end(), {jtrace_binary(), "profile", jvm_->pid_text(), "--off-cpu", "--format", "json"});
    const auto jtrace = must(BackgroundCommand::start(words));
    EXPECT_TRUE(jtrace->wait_err_line("jtrace: recording", std::chrono::seconds(60))) << jtrace->err();
    must(jvm_->ask("run"));
    jtrace->signal(SIGINT);
    EXPECT_THAT(must(jtrace->wait_exit()), ::testing::AnyOf(0, 9)) << jtrace->err();
    err_ = jtrace->err();
    return nlohmann::json::parse(jtrace->out(), nullptr, false);
  }
};
JTRACE_ON_EACH_JDK(WhoKeepsThemWaiting);

constexpr int kTurns = 6;  // of Wakes.java

TEST_P(WhoKeepsThemWaiting, HasTheOwnersOfLocks) {
  const nlohmann::json answer = record_run();
  if (!jvm_) return;
  ASSERT_TRUE(answer.contains("data")) << err_;
  // A thread that ends takes the monitor of its Thread, which others may have too.
  for (const auto& [thread, owner, frame] :
       {std::tuple("entering", "holder", "Wakes.enter"), {"locking", "locker", "Wakes.lock"}}) {
    auto owners = parties_of(answer, thread, "owners", frame);
    EXPECT_GE(owners[owner], 1) << thread << "\n" << answer;  // a busy machine looks too late most of the time
    for (const auto& [name, times] : owners)
      EXPECT_TRUE(name == owner || name == "[not seen]") << thread << ": " << name << "\n" << answer;
  }
  for (const auto& [thread, frame] :
       {std::pair("sleeper", "java.lang.Thread.sleep"), {"parked", "Wakes.park"}, {"holder", "Wakes.letWait"}})
    EXPECT_TRUE(parties_of(answer, thread, "owners", frame).empty()) << thread << "\n" << answer;
  EXPECT_EQ(answer.contains("wakersUnknown"), err_.find("is not known: ") != std::string::npos) << err_;
}

// In a mount namespace of its own, where the machine has no tracefs.
TEST_P(WhoKeepsThemWaiting, HasWhoWokeThem) {
  if (::getuid() != 0) JTRACE_SKIP("ptrace", "a tracepoint takes root here");
  const auto with_tracefs = [](const std::string& command) -> std::vector<std::string> {
    return {"unshare",
            "-m",
            "sh",
            "-c",
            "{ [ -e /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing; } && " + command,
            "sh"};
  };
  const auto tried = run_command(with_tracefs("[ -r /sys/kernel/tracing/events/sched/sched_waking/format ]"));
  if (!tried || tried->status != 0) JTRACE_SKIP("tracefs", "there is no tracefs here");
  const nlohmann::json answer = record_run(with_tracefs("exec \"$@\""));
  ASSERT_TRUE(answer.contains("data")) << err_;
  ASSERT_FALSE(answer.contains("wakersUnknown")) << err_;
  // Who enters a monitor looks at it again from time to time, up to JDK 23: that is one wait. Debian's JDK 8 has no
  // symbols: there it is not known that it is for a monitor.
  if (GetParam().version > 8) {
    EXPECT_GE(longest_of(answer, "entering", "Wakes.enter"), 100 * kMilli) << answer;
  }
  struct Woken {
    const char *thread, *frame, *waker;
  };
  for (const Woken& woken : {Woken{"entering", "Wakes.enter", "holder"},
                             {"locking", "Wakes.lock", "locker"},
                             {"parked", "Wakes.park", "unparker"},
                             {"notified", "Wakes.await", "notifier"},
                             {"sleeper", "java.lang.Thread.sleep", "[interrupt]"}}) {
    auto wakers = parties_of(answer, woken.thread, "wakers", woken.frame);
    int others = 0;
    for (const auto& [name, times] : wakers)
      if (name != woken.waker && name != "[not seen]" && name != "[interrupt]") others += times;
    // An idle processor of some virtual machines traces nothing of its timer's interrupt: perf record has none either.
    if (std::string_view(woken.waker) == "[interrupt]") wakers[woken.waker] += wakers["[not seen]"];
    EXPECT_GE(wakers[woken.waker], kTurns / 2) << woken.thread << "\n" << answer;
    // Each may wait for something of the VM there too: a safepoint.
    EXPECT_LT(others, wakers[woken.waker]) << woken.thread << "\n" << answer;
  }
}

}  // namespace
}  // namespace jtrace::test
