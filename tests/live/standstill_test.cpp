// processSuspend and processResume: for a JVM that was stopped or frozen, and for no other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/file.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_calls.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

const std::vector<std::string> kMethods{"--events", "methods,runtime",   "--time",   "precise",
                                        "--filter", "Calls fib include", "--filter", "* exclude"};

::testing::AssertionResult has_said(TraceRun& run, const std::string& element) {
  const auto found =
      wait_for_bytes(run.path(), "<" + element + " ", std::chrono::seconds(60), [&] { return run.command().alive(); });
  return found ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << found.error().message();
}

// Each suspend has its resume, and no event of the program is between them. Returns the number of pairs.
std::size_t standstills(const TraceDocument& trace) {
  std::size_t found = 0;
  const TraceElement* suspended = nullptr;
  for (const TraceElement& each : trace.events()) {
    if (each.name == "processSuspend") {
      EXPECT_EQ(suspended, nullptr);
      suspended = &each;
      ++found;
    } else if (each.name == "processResume") {
      EXPECT_NE(suspended, nullptr);
      if (suspended == nullptr) continue;
      EXPECT_GE(nanoseconds_of(each.get("time")), nanoseconds_of(suspended->get("time")));
      suspended = nullptr;
    } else if (suspended != nullptr && (each.name == "methodEntry" || each.name == "methodExit")) {
      // An event that was being written when the process was stopped has an earlier time.
      EXPECT_LE(nanoseconds_of(each.get("time")), nanoseconds_of(suspended->get("time")));
    }
  }
  EXPECT_EQ(suspended, nullptr);
  return found;
}

TEST_P(EachJdk, ThatWasStoppedIsReported) {
  TracedJvm jvm(GetParam(), "Calls", kMethods);
  jvm.wait_rewritten();
  auto answer = jvm.ask("fib 12");
  long fibs = value_in(answer, "fib");
  ASSERT_EQ(::kill(jvm.pid(), SIGSTOP), 0);
  EXPECT_TRUE(has_said(jvm.run(), "processSuspend"));
  ASSERT_EQ(::kill(jvm.pid(), SIGCONT), 0);
  auto second_answer = jvm.ask("fib 12");
  fibs += value_in(second_answer, "fib");
  EXPECT_TRUE(has_said(jvm.run(), "processResume"));
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_TRUE(none(call_faults(trace)));
  EXPECT_EQ(standstills(trace), 1u);
  EXPECT_EQ(by_method(trace, "methodEntry")["Calls.fib"], fibs);
  record_support(GetParam(), "G1", "live", "process stopped and continued");
}

// A cgroup of the freezer's own, if we may make one; the process is moved back before the cgroup is removed.
class FrozenGroup {
 public:
  explicit FrozenGroup(pid_t pid) : pid_(std::to_string(pid)) {
    for (const char* root : {"/sys/fs/cgroup/freezer", "/sys/fs/cgroup"}) {
      folder_ = std::string(root) + "/jtrace-test-" + pid_;
      if (::mkdir(folder_.c_str(), 0755) != 0) continue;
      is_old_ = ::access((folder_ + "/freezer.state").c_str(), F_OK) == 0;
      const bool can_freeze = is_old_ || ::access((folder_ + "/cgroup.freeze").c_str(), F_OK) == 0;
      if (can_freeze && write("cgroup.procs", pid_)) {
        root_ = root;
        return;
      }
      ::rmdir(folder_.c_str());
    }
  }
  ~FrozenGroup() {
    if (root_.empty()) return;
    freeze(false);
    std::ofstream(root_ + "/cgroup.procs") << pid_;
    ::rmdir(folder_.c_str());
  }
  explicit operator bool() const { return !root_.empty(); }
  bool freeze(bool on) const {
    return is_old_ ? write("freezer.state", on ? "FROZEN" : "THAWED") : write("cgroup.freeze", on ? "1" : "0");
  }

 private:
  bool write(const std::string& name, const std::string& text) const {
    std::ofstream file(folder_ + "/" + name);
    file << text << std::flush;
    return file.good();
  }

  std::string pid_;
  std::string folder_;
  std::string root_;
  bool is_old_ = false;  // cgroups version 1
};

TEST(Standstill, OfAFrozenCgroupIsReported) {
  JTRACE_NEED_JDK(jdk);
  auto jvm = must(JvmProcess::start(*jdk, "Calls", attachable(*jdk)));
  const FrozenGroup group(jvm->pid());
  if (!group) GTEST_SKIP() << "no cgroup can be made here that freezes a process";
  auto run = must(TraceRun::start(jvm->pid(), kMethods));
  ASSERT_TRUE(rewritten(*run));
  must(jvm->ask("fib 10"));
  ASSERT_TRUE(group.freeze(true));
  EXPECT_TRUE(has_said(*run, "processSuspend"));
  ASSERT_TRUE(group.freeze(false));
  must(jvm->ask("fib 10"));
  auto trace = must(run->finish());
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_EQ(standstills(trace), 1u);
}

}  // namespace
}  // namespace jtrace::test
