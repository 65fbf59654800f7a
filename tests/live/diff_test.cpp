// jtrace diff BEFORE JVM: the JVM is recorded as BEFORE was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "tests/testlib/background_command.h"
#include "tests/testlib/must.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class DiffWithAJvm : public ::testing::TestWithParam<Jdk> {
 protected:
  void SetUp() override { jvm_ = must(JvmProcess::start(GetParam(), "Shop", attachable(GetParam(), {"-Xmx128m"}))); }
  void record(std::vector<std::string> words) {
    words.insert(words.begin() + 1, jvm_->pid_text());
    const CommandOutput done = must(run_jtrace(words));
    EXPECT_THAT(done.status, AnyOf(0, 9)) << done.err;
    made_ = done.err;
  }
  // The titles of the tables.
  std::set<std::string> compare(const std::string& before, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"diff", before, jvm_->pid_text(), "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    const CommandOutput done = must(run_jtrace(words));
    EXPECT_THAT(done.status, AnyOf(0, 9)) << done.err;
    err_ = done.err;
    std::set<std::string> titles;
    const json answer = json::parse(done.out, nullptr, false);
    if (!answer.is_discarded())
      for (const json& table : answer["data"]) titles.insert(table["table"]);
    EXPECT_FALSE(titles.empty()) << done.out << done.err << made_;
    return titles;
  }

  std::unique_ptr<JvmProcess> jvm_;
  const ScratchDir folder_;
  std::string made_, err_;  // stderr of record() and compare()
};
JTRACE_ON_EACH_JDK(DiffWithAJvm);

TEST_P(DiffWithAJvm, ATraceIsMadeWithTheOptionsOfTheOther) {
  const std::string before = folder_.file("before.xml");
  record({"attach", "-o", before, "--events", "methods,gc,monitors", "--filter", "Shop$Stock *", "--filter",
          "Shop* exclude", "--slower-than", "20ms", "--arguments", "--min-contention", "5ms", "--duration", "1.4"});
  EXPECT_TRUE(compare(before).contains("methods: self time")) << err_;
  EXPECT_THAT(err_, HasSubstr(" --slower-than 0.02 "));
  EXPECT_THAT(err_, HasSubstr(" --arguments "));
  EXPECT_THAT(err_, HasSubstr(" --min-contention 0.005 "));
  EXPECT_THAT(err_, HasSubstr(" --filter 'Shop$Stock include' --filter 'Shop* exclude' "));
  EXPECT_THAT(err_, HasSubstr(" --duration 1.4s"));
  EXPECT_THAT(err_, Not(HasSubstr("--return-values")));
  EXPECT_THAT(err_, Not(HasSubstr("has no effect"))) << made_;
}

TEST_P(DiffWithAJvm, AProfileAndAHistogramToo) {
  if (::getuid() != 0) JTRACE_SKIP("ptrace", "perf events of another process take root here");
  const std::string profile = folder_.file("before.xml"), histogram = folder_.file("before.json");
  record({"profile", "-o", profile, "--duration", "3", "--hz", "199"});
  EXPECT_TRUE(compare(profile, {"--duration", "2"}).contains("frames: by themselves")) << err_;
  EXPECT_THAT(err_, HasSubstr(" --hz 199 --duration 2"));
  const CommandOutput made = must(run_jtrace({"inspect", jvm_->pid_text(), "histogram", "--format", "json"}));
  std::ofstream(histogram) << made.out;
  EXPECT_TRUE(compare(histogram).contains("heap, by class")) << err_;
}

TEST_P(DiffWithAJvm, CtrlCEndsTheRecordingAndWhatThereIsIsCompared) {
  const std::string before = folder_.file("before.xml");
  record({"attach", "-o", before, "--events", "methods", "--filter", "Shop*", "--duration", "1"});
  const auto diff =
      must(BackgroundCommand::start({jtrace_binary(), "diff", before, jvm_->pid_text(), "--duration", "60"}));
  ASSERT_TRUE(diff->wait_err_line("jtrace: tracing", std::chrono::seconds(60))) << diff->err();
  std::this_thread::sleep_for(std::chrono::seconds(2));  // of calls there is something in it
  const std::uint64_t since = monotonic_ns();
  diff->signal(SIGINT);
  EXPECT_THAT(must(diff->wait_exit()), AnyOf(0, 9)) << diff->err();
  EXPECT_LT(monotonic_ns() - since, 30 * kNanosPerSecond);
  EXPECT_THAT(diff->out(), HasSubstr("after:  JVM " + jvm_->pid_text())) << diff->err();
  EXPECT_TRUE(jvm_->alive());
}

}  // namespace
}  // namespace jtrace::test
