// The JDKs are found and can be started: all other live tests depend on it.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using ::testing::HasSubstr;

// It fails the test at the line that called it, and ends it.
TEST(Must, EndsTheTestWithTheErrorsTextAtItsOwnLine) {
  EXPECT_EQ(must(Result<int>(7)), 7);
  ::testing::TestPartResultArray failures;
  int line = 0;
  {
    using Reporter = ::testing::ScopedFakeTestPartResultReporter;
    const Reporter reporter(Reporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    line = __LINE__ + 1;
    EXPECT_THROW(must(Result<int>(fail(ErrorCategory::kRefused, "the reason"))), ::testing::AssertionException);
  }
  ASSERT_EQ(failures.size(), 1);
  const ::testing::TestPartResult& failure = failures.GetTestPartResult(0);
  EXPECT_TRUE(failure.fatally_failed());
  EXPECT_STREQ(failure.message(), "Failed\nthe reason");
  EXPECT_THAT(failure.file_name(), ::testing::EndsWith("testlib_test.cpp"));
  EXPECT_EQ(failure.line_number(), line);
}

TEST(JdkMatrix, FindsAtLeastTwo) {
  if (jdks().size() < 2)
    JTRACE_SKIP("two-jdks", "found " + std::to_string(jdks().size()) + " JDKs; scripts/jdks fetches more");
}

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

TEST_P(EachJdk, RunsAndAnswers) {
  auto jvm = JvmProcess::start(GetParam(), "Workload");
  ASSERT_TRUE(jvm) << jvm.error().message();
  auto answer = (*jvm)->ask("threads 5");
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(*answer, "threads=5");
  EXPECT_FALSE((*jvm)->ask("nonsense"));
  (*jvm)->close_input();
  auto status = (*jvm)->wait_exit();
  ASSERT_TRUE(status) << status.error().message();
  EXPECT_EQ(WEXITSTATUS(*status), 0);
  EXPECT_EQ((*jvm)->err(), "");
}

TEST_P(EachJdk, RunsInAContainer) {
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("live", why);
  JvmOptions options;
  options.isolation = Isolation::kContainer;
  auto jvm = JvmProcess::start(GetParam(), "Idle", options);
  ASSERT_TRUE(jvm) << jvm.error().message();
  auto status = read_file("/proc/" + (*jvm)->pid_text() + "/status");
  ASSERT_TRUE(status);
  EXPECT_THAT(*status, HasSubstr("NSpid:\t" + (*jvm)->pid_text() + "\t1\n"));
}

TEST_P(EachJdk, DoesEveryCommand) {
  auto jvm = JvmProcess::start(GetParam(), "Workload");
  ASSERT_TRUE(jvm) << jvm.error().message();
  for (const char* command : {"hold 3", "release", "contend 3", "wait 2", "park 2", "exceptions 10", "garbage 8",
                              "alloc 5", "load 5", "unload 5", "gc 1", "weak", "counts", "threadids"}) {
    auto answer = (*jvm)->ask(command);
    EXPECT_TRUE(answer) << answer.error().message();
  }
  EXPECT_EQ((*jvm)->ask("virtual 10").has_value(), GetParam().version >= 21);
}

TEST_P(EachJdk, DiesWithItsObject) {
  pid_t pid = 0;
  {
    auto jvm = JvmProcess::start(GetParam(), "Idle");
    ASSERT_TRUE(jvm) << jvm.error().message();
    pid = (*jvm)->pid();
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

// A later JVM with its pid, perhaps of another user, could not be attached to.
TEST_P(EachJdk, LeavesNoSocketWhenItIsKilled) {
  std::string socket;
  {
    const auto jvm = must(JvmProcess::start(GetParam(), "Idle"));
    const auto asked = must(run_command({jtrace_binary(), "cmd", jvm->pid_text(), "jcmd", "VM.version"}));
    ASSERT_EQ(asked.status, 0) << asked.err;
    socket = "/tmp/.java_pid" + jvm->pid_text();
    ASSERT_EQ(::access(jvm->inside(socket).c_str(), F_OK), 0);
  }
  EXPECT_EQ(::access(socket.c_str(), F_OK), -1);
}

TEST(RunCommand, GivesOutputStatusAndTimeout) {
  CommandOptions options;
  options.input = "hello";
  auto done = run_command({"sh", "-c", "cat; echo oops >&2; exit 7"}, options);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->out, "hello");
  EXPECT_EQ(done->err, "oops\n");
  EXPECT_EQ(done->status, 7);
  EXPECT_GT(done->peak_kib, 0u);
  options.timeout = std::chrono::milliseconds(20);
  auto late = run_command({"sleep", "100"}, options);
  ASSERT_TRUE(late);
  EXPECT_TRUE(late->timed_out);
  auto missing = run_command({"/nonexistent/program"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().errnum, ENOENT);
}

}  // namespace
}  // namespace jtrace::test
