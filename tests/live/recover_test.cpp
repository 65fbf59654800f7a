// `jtrace recover`: what is left when both the JVM and the jtrace that traced it were killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachJdk);
INSTANTIATE_TEST_SUITE_P(Jdks, EachJdk, ::testing::ValuesIn(jdks()), NameOf());

// The ring memory that the trace of this JVM has, "" if there is none.
std::string pool_of(pid_t pid) {
  for (const auto& entry : fs::directory_iterator("/dev/shm"))
    if (entry.path().filename().string().starts_with("jtrace-" + std::to_string(pid) + "-")) return entry.path();
  return "";
}

// A trace in the middle of which jtrace stood still, so that the last 30 threads are in the ring memory alone; then
// both were killed.
struct Wreck {
  std::unique_ptr<TraceRun> run;
  std::string pool;
};
void make_wreck(const Jdk& jdk, const std::vector<std::string>& arguments, Wreck& wreck) {
  auto jvm = JvmProcess::start(jdk, "Workload", attachable(jdk));
  ASSERT_TRUE(succeeded(jvm));
  auto run = TraceRun::start((*jvm)->pid(), arguments);
  ASSERT_TRUE(succeeded(run));
  ASSERT_TRUE(succeeded((*jvm)->ask("threads 40")));
  ASSERT_TRUE(succeeded(wait_for_bytes((*run)->path(), "worker-39", std::chrono::seconds(30), [] { return true; })));
  const pid_t tool = (*run)->command().pid();
  (*run)->command().signal(SIGSTOP);
  siginfo_t info;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(tool), &info, WSTOPPED | WNOWAIT), 0);
  ASSERT_TRUE(succeeded((*jvm)->ask("threads 30")));
  wreck.pool = pool_of((*jvm)->pid());
  ASSERT_NE(wreck.pool, "");
  (*jvm)->signal(SIGKILL);
  ASSERT_TRUE(succeeded((*jvm)->wait_exit()));
  (*run)->command().signal(SIGKILL);
  ASSERT_TRUE(succeeded((*run)->command().wait_exit()));
  wreck.run = std::move(*run);
}

TEST_P(EachJdk, makes_a_whole_document_of_what_two_deaths_left) {
  Wreck wreck;
  ASSERT_NO_FATAL_FAILURE(make_wreck(GetParam(), {}, wreck));
  const auto list = run_jtrace({"recover"});
  ASSERT_TRUE(succeeded(list));
  EXPECT_THAT(list->out, HasSubstr(wreck.pool));
  EXPECT_THAT(list->out, HasSubstr(wreck.run->path()));
  const ScratchDir folder;
  const std::string path = folder.file("recovered.xml");
  const auto done = run_jtrace({"recover", wreck.pool, "-o", path, "--remove"});
  ASSERT_TRUE(succeeded(done));
  EXPECT_EQ(done->status, 0) << done->err;
  const auto trace = TraceDocument::read(path);
  ASSERT_TRUE(succeeded(trace));
  EXPECT_TRUE(none(trace->faults()));
  EXPECT_TRUE(valid(path));
  EXPECT_EQ(count_by_thread(*trace, "threadEnd", "worker-"), 70);
  EXPECT_FALSE(fs::exists(wreck.pool));
  record_support(GetParam(), "G1", "live", "recover");
}

TEST_P(EachJdk, makes_a_document_of_the_ring_memory_alone) {
  Wreck wreck;
  ASSERT_NO_FATAL_FAILURE(make_wreck(GetParam(), {}, wreck));
  fs::remove(wreck.run->path());
  const ScratchDir folder;
  const std::string path = folder.file("recovered.xml");
  const auto done = run_jtrace({"recover", wreck.pool, "-o", path, "--remove"});
  ASSERT_TRUE(succeeded(done));
  EXPECT_EQ(done->status, 9) << done->err;
  EXPECT_THAT(done->err, HasSubstr("missing"));
  const auto trace = TraceDocument::read(path);
  ASSERT_TRUE(succeeded(trace));
  EXPECT_TRUE(none(trace->faults()));
  EXPECT_TRUE(valid(path));
  EXPECT_GE(count_by_thread(*trace, "threadEnd", "worker-"), 30);
  fs::remove(wreck.pool);
}

TEST(Recover, refuses_what_is_no_ring_memory_and_what_is_in_use) {
  const ScratchDir folder;
  const std::string out = folder.file("x.xml");
  const auto gone = run_jtrace({"recover", folder.file("gone"), "-o", out});
  EXPECT_EQ(gone->status, 3) << gone->err;
  const auto text = run_jtrace({"recover", "/etc/passwd", "-o", out});
  EXPECT_EQ(text->status, 8) << text->err;
  const auto usage = run_jtrace({"recover", "/etc/passwd"});
  EXPECT_EQ(usage->status, 2) << usage->err;
  JTRACE_NEED_JDK(jdk);
  auto jvm = JvmProcess::start(*jdk, "Workload", attachable(*jdk));
  ASSERT_TRUE(succeeded(jvm));
  auto run = TraceRun::start((*jvm)->pid());
  ASSERT_TRUE(succeeded(run));
  const auto used = run_jtrace({"recover", pool_of((*jvm)->pid()), "-o", out});
  EXPECT_EQ(used->status, 1) << used->err;
  EXPECT_THAT(used->err, HasSubstr("in use"));
  EXPECT_FALSE(fs::exists(out));
  EXPECT_TRUE(succeeded((*run)->stop()));
}

}  // namespace
}  // namespace jtrace::test
