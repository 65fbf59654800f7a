// `jtrace recover`: what a killed jtrace leaves, with its JVM or alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

// The ring memory of the trace of this JVM, "" if there is none.
std::string pool_of(pid_t pid) {
  for (const auto& entry : fs::directory_iterator("/dev/shm"))
    if (entry.path().filename().string().starts_with("jtrace-" + std::to_string(pid) + "-")) return entry.path();
  return "";
}

// A trace during which jtrace was stopped, so that the last 30 threads are only in the ring memory; then both were
// killed.
struct Wreck {
  std::unique_ptr<TracedJvm> jvm;
  std::string pool;
};
void make_wreck(const Jdk& jdk, const std::vector<std::string>& arguments, Wreck& wreck) {
  wreck.jvm = std::make_unique<TracedJvm>(jdk, "Workload", arguments);
  TracedJvm& jvm = *wreck.jvm;
  jvm.ask("threads 40");
  must(wait_for_bytes(jvm.path(), "worker-39", std::chrono::seconds(30), [] { return true; }));
  const pid_t tool = jvm.command().pid();
  jvm.command().signal(SIGSTOP);
  siginfo_t info;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(tool), &info, WSTOPPED | WNOWAIT), 0);
  jvm.ask("threads 30");
  wreck.pool = pool_of(jvm.pid());
  ASSERT_NE(wreck.pool, "");
  jvm.process().signal(SIGKILL);
  must(jvm.process().wait_exit());
  jvm.command().signal(SIGKILL);
  jvm.wait_exit();
}

TEST_P(EachJdk, MakesAWholeDocumentOfWhatTwoDeathsLeft) {
  Wreck wreck;
  ASSERT_NO_FATAL_FAILURE(make_wreck(GetParam(), {}, wreck));
  const auto list = must(run_jtrace({"recover"}));
  EXPECT_THAT(list.out, HasSubstr(wreck.pool));
  EXPECT_THAT(list.out, HasSubstr(wreck.jvm->path()));
  const ScratchDir folder;
  const std::string path = folder.file("recovered.xml");
  const auto done = must(run_jtrace({"recover", wreck.pool, "-o", path, "--remove"}));
  EXPECT_EQ(done.status, 0) << done.err;
  const auto trace = must(TraceDocument::read(path));
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_TRUE(valid(path));
  EXPECT_EQ(count_by_thread(trace, "threadEnd", "worker-"), 70);
  EXPECT_FALSE(fs::exists(wreck.pool));
  record_support(GetParam(), "G1", "live", "recover");
}

TEST_P(EachJdk, MakesADocumentOfTheRingMemoryAlone) {
  Wreck wreck;
  ASSERT_NO_FATAL_FAILURE(make_wreck(GetParam(), {}, wreck));
  fs::remove(wreck.jvm->path());
  const ScratchDir folder;
  const std::string path = folder.file("recovered.xml");
  const auto done = must(run_jtrace({"recover", wreck.pool, "-o", path, "--remove"}));
  EXPECT_EQ(done.status, 9) << done.err;
  EXPECT_THAT(done.err, HasSubstr("missing"));
  const auto trace = must(TraceDocument::read(path));
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_TRUE(valid(path));
  EXPECT_GE(count_by_thread(trace, "threadEnd", "worker-"), 30);
  fs::remove(wreck.pool);
}

// The JVM lives on; the next trace names the 64 MiB, and jtrace doctor until they are removed on request.
TEST_P(EachJdk, ALaterTraceNamesWhatAKilledJtraceLeft) {
  TracedJvm jvm(GetParam(), "Workload");
  const std::string pool = pool_of(jvm.pid());
  ASSERT_NE(pool, "");
  EXPECT_THAT(must(run_jtrace({"recover"})).out, HasSubstr(pool + "  in use"));
  jvm.command().signal(SIGKILL);
  jvm.wait_exit();
  const ScratchDir folder;
  const auto attach = [&] {
    CommandOutput done;
    for (int i = 0; i < 100 && (i == 0 || done.status == 1); ++i) {  // the agent of the killed one is leaving
      done = must(run_jtrace(
          {"attach", jvm.process().pid_text(), "--duration", "0.1", "--events", "gc", "-o", folder.file("t.xml")}));
      if (done.status == 1) ::usleep(100'000);
    }
    EXPECT_EQ(done.status, 0) << done.err;
    return done.err;
  };
  EXPECT_THAT(attach(), HasSubstr("left 64.0 MiB of ring memory of this JVM: " + pool + "; `jtrace recover " + pool));
  const std::string later = must(run_jtrace({"slow", jvm.process().pid_text(), "--duration", "0.1"})).err;
  EXPECT_THAT(later, ::testing::Not(HasSubstr(pool)));
  EXPECT_THAT(must(run_jtrace({"doctor"})).out, HasSubstr("jtrace recover lists what is there"));
  ASSERT_TRUE(fs::exists(pool));
  EXPECT_EQ(must(run_jtrace({"recover", pool, "-o", folder.file("r.xml"), "--remove"})).status, 0);
  EXPECT_TRUE(valid(folder.file("r.xml")));
  EXPECT_THAT(attach(), ::testing::Not(HasSubstr("of this JVM")));
}

TEST(Recover, SaysThatNothingWasRecordedYetAndRemovesThatAlone) {
  const ScratchDir folder;
  const std::string blank = folder.file("jtrace-1-2-0123abcd.pool"), out = folder.file("x.xml");
  std::ofstream(blank) << std::string(1 << 20, '\0');
  const auto read = must(run_jtrace({"recover", blank, "-o", out}));
  EXPECT_EQ(read.status, 1) << read.err;
  EXPECT_THAT(read.err, HasSubstr("nothing was recorded in " + blank));
  EXPECT_THAT(read.err, HasSubstr("jtrace recover " + blank + " --remove"));
  EXPECT_TRUE(fs::exists(blank));
  const auto removed = must(run_jtrace({"recover", blank, "--remove"}));
  EXPECT_EQ(removed.status, 0) << removed.err;
  EXPECT_FALSE(fs::exists(blank));
  const std::string zeros = folder.file("zeros");
  std::ofstream(zeros) << std::string(1 << 20, '\0');
  EXPECT_NE(must(run_jtrace({"recover", zeros, "--remove"})).status, 0);
  EXPECT_TRUE(fs::exists(zeros));
}

TEST(Recover, RefusesWhatIsNoRingMemoryAndWhatIsInUse) {
  const ScratchDir folder;
  const std::string out = folder.file("x.xml");
  const auto gone = run_jtrace({"recover", folder.file("gone"), "-o", out});
  EXPECT_EQ(gone->status, 3) << gone->err;
  const auto text = run_jtrace({"recover", "/etc/passwd", "-o", out});
  EXPECT_EQ(text->status, 8) << text->err;
  const auto usage = run_jtrace({"recover", "/etc/passwd"});
  EXPECT_EQ(usage->status, 2) << usage->err;
  JTRACE_NEED_JDK(jdk);
  TracedJvm jvm(*jdk, "Workload");
  const auto used = run_jtrace({"recover", pool_of(jvm.pid()), "-o", out});
  EXPECT_EQ(used->status, 1) << used->err;
  EXPECT_THAT(used->err, HasSubstr("in use"));
  EXPECT_FALSE(fs::exists(out));
  EXPECT_TRUE(succeeded(jvm.run().stop()));
}

}  // namespace
}  // namespace jtrace::test
