// `jtrace probe` on JVMs that nobody prepared but for the flag that monitor probes need: no agent, no attach.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "base/file.h"
#include "tests/testlib/require.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

using ::testing::Ge;
using ::testing::HasSubstr;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachJdk);
INSTANTIATE_TEST_SUITE_P(Jdks, EachJdk, ::testing::ValuesIn(jdks()), NameOf());

// Debian's JDK 8 was built without probes: jtrace's own words, so that a broken `jtrace probes` fails the test.
#define NEED_PROBES()                                                                                    \
  if (const auto said = run_jtrace({"probes", GetParam().libjvm()});                                     \
      said && said->status == 1 && said->err.find("built without --enable-dtrace") != std::string::npos) \
  GTEST_SKIP() << said->err

std::string uprobes_of_the_kernel() {
  for (const char* path : {"/sys/kernel/tracing/uprobe_events", "/sys/kernel/debug/tracing/uprobe_events"})
    if (auto text = read_file(path)) return *text;
  return "";
}

TEST_P(EachJdk, says_threads_monitors_classes_and_collections) {
  NEED_PROBES();
  auto jvm = JvmProcess::start(GetParam(), "Workload", {.flags = {"-XX:+DTraceMonitorProbes"}});
  ASSERT_TRUE(succeeded(jvm));
  const std::string before = uprobes_of_the_kernel();
  const ScratchDir folder;
  const std::string path = folder.file("probe.xml");
  auto probe = BackgroundCommand::start({jtrace_binary(), "probe", (*jvm)->pid_text(), "-o", path});
  ASSERT_TRUE(succeeded(probe));
  if (!(*probe)->wait_err_line("jtrace: tracing", std::chrono::seconds(60))) {
    const std::string said = (*probe)->err();
    if (said.find("CAP_") != std::string::npos) JTRACE_SKIP("bpf", said);
    FAIL() << said;
  }
  for (const char* command : {"threads 30", "contend 5", "wait 3", "load 5", "gc 2"})
    ASSERT_TRUE(succeeded((*jvm)->ask(command))) << command;
  (*probe)->signal(SIGINT);
  auto status = (*probe)->wait_exit();
  ASSERT_TRUE(succeeded(status));
  EXPECT_EQ(*status, 0) << (*probe)->err();
  auto trace = TraceDocument::read(path);
  ASSERT_TRUE(succeeded(trace));
  EXPECT_TRUE(none(trace->faults()));
  EXPECT_TRUE(valid(path));
  EXPECT_EQ(count_by_thread(*trace, "threadEnd", "worker-"), 30);
  EXPECT_THAT(count_by_thread(*trace, "monContendedEnter", "contender-"), Ge(5));
  EXPECT_THAT(count_by_thread(*trace, "monContendedEntered", "contender-"), Ge(5));
  EXPECT_THAT(count_by_thread(*trace, "monWait", "waiter-"), Ge(3));
  EXPECT_THAT(trace->count("gcStart"), Ge(2u));
  EXPECT_EQ(count_classes(*trace, "Workload$Plugin"), 5);
  EXPECT_EQ((*jvm)->err(), "");
  EXPECT_TRUE((*jvm)->ask("threads 2"));
  EXPECT_EQ(uprobes_of_the_kernel(), before);
  record_support(GetParam(), "G1", "live", "trace by USDT probes");
}

TEST_P(EachJdk, leaves_nothing_when_it_is_killed) {
  NEED_PROBES();
  auto jvm = JvmProcess::start(GetParam(), "Workload");
  ASSERT_TRUE(succeeded(jvm));
  const std::string before = uprobes_of_the_kernel();
  const ScratchDir folder;
  auto probe = BackgroundCommand::start({jtrace_binary(), "probe", (*jvm)->pid_text(), "-o", folder.file("x.xml")});
  ASSERT_TRUE(succeeded(probe));
  ASSERT_TRUE((*probe)->wait_err_line("jtrace: tracing", std::chrono::seconds(60))) << (*probe)->err();
  (*probe)->signal(SIGKILL);
  ASSERT_TRUE(succeeded((*probe)->wait_exit()));
  ASSERT_TRUE(succeeded((*jvm)->ask("threads 30")));
  EXPECT_EQ(uprobes_of_the_kernel(), before);
  EXPECT_EQ((*jvm)->err(), "");
}

TEST_P(EachJdk, ends_with_the_JVM) {
  NEED_PROBES();
  auto jvm = JvmProcess::start(GetParam(), "Workload");
  ASSERT_TRUE(succeeded(jvm));
  const ScratchDir folder;
  const std::string path = folder.file("x.xml");
  auto probe = BackgroundCommand::start({jtrace_binary(), "probe", (*jvm)->pid_text(), "-o", path});
  ASSERT_TRUE(succeeded(probe));
  ASSERT_TRUE((*probe)->wait_err_line("jtrace: tracing", std::chrono::seconds(60))) << (*probe)->err();
  (*jvm)->close_input();
  auto status = (*probe)->wait_exit();
  ASSERT_TRUE(succeeded(status));
  EXPECT_EQ(*status, 0) << (*probe)->err();
  auto trace = TraceDocument::read(path);
  ASSERT_TRUE(succeeded(trace));
  EXPECT_TRUE(none(trace->faults()));
  EXPECT_EQ(trace->count("runtimeShutdown"), 1u);
}

}  // namespace
}  // namespace jtrace::test
