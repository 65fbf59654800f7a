// What a JVM that is traced again and again must not die of, and what is said of one that dies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>

#include "tests/testlib/require.h"
#include "tests/testlib/trace_calls.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachJdk);
INSTANTIATE_TEST_SUITE_P(Jdks, EachJdk, ::testing::ValuesIn(jdks()), NameOf());

constexpr const char* kAllocator = "libc_malloc_debug.so.0";  // glibc 2.34 and later, mallopt(3)

bool has_allocator(const Jdk& jdk) {
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu/", "/lib/x86_64-linux-gnu/", "/usr/lib64/", "/lib64/"})
    if (std::filesystem::exists(jdk.root.value_or("") + folder + kAllocator)) return true;
  return false;
}

// What is freed is overwritten, and each block is looked at when it is freed.
JvmOptions checked(const Jdk& jdk) {
  JvmOptions options = attachable(jdk);
  options.environment = {std::string("LD_PRELOAD=") + kAllocator, "MALLOC_CHECK_=3", "MALLOC_PERTURB_=165"};
  return options;
}

const std::vector<std::vector<std::string>> kTraces = {
    {"--events", "threads,classes,gc,monitors,objects,methods", "--max-size", "1M", "--rotate", "3"},
    {"--events", "methods,exceptions", "--slower-than", "10ms"},
    {"--events", "methods,allocations", "--stack-depth", "8", "--objects"},
    {"--events", "threads,sleeps,calls,counts", "--max-size", "1M", "--rotate", "3"},
};

TEST_P(EachJdk, outlives_trace_after_trace_under_a_checking_allocator) {
  using std::chrono::steady_clock;
  if (!has_allocator(GetParam())) GTEST_SKIP() << "no " << kAllocator << " where this JDK lives";
  auto jvm = JvmProcess::start(GetParam(), "Redefined", checked(GetParam()));
  ASSERT_TRUE(succeeded(jvm));
  const ScratchDir folder;
  const auto end = steady_clock::now() + std::chrono::seconds(45);
  for (std::size_t i = 0; i < 40 && steady_clock::now() < end; ++i) {
    std::vector<std::string> words = {"attach", (*jvm)->pid_text(), "--duration", "0.5", "-o", folder.file("t.xml")};
    for (const char* rule : {"Wide* include", "Redefined* include", "* exclude"})
      words.insert(words.end(), {"--filter", rule});
    words.insert(words.end(), {"--ring-memory", "1M"});
    words.insert(words.end(), kTraces[i % kTraces.size()].begin(), kTraces[i % kTraces.size()].end());
    auto done = run_jtrace(words);
    ASSERT_TRUE(succeeded(done));
    EXPECT_THAT(done->status, ::testing::AnyOf(0, 9)) << "trace " << i << ": " << done->err;
    ASSERT_TRUE((*jvm)->alive()) << "trace " << i << ": " << done->err << (*jvm)->crash_report();
  }
  EXPECT_TRUE(succeeded((*jvm)->ask("rounds"))) << (*jvm)->crash_report();
}

// A class that the JVM would not survive many redefinitions of is left alone, and named.
TEST_P(EachJdk, leaves_a_class_alone_whose_constant_pool_has_no_room) {
  auto jvm = JvmProcess::start(GetParam(), "Redefined", attachable(GetParam()));
  ASSERT_TRUE(succeeded(jvm));
  auto run =
      TraceRun::start((*jvm)->pid(), {"--events", "methods", "--filter", "Large include", "--filter", "* exclude"});
  ASSERT_TRUE(succeeded(run));
  ASSERT_TRUE(rewritten(**run));
  ASSERT_TRUE(succeeded((*jvm)->ask("rounds")));
  auto trace = (*run)->finish();
  ASSERT_TRUE(succeeded(trace));
  const bool checks = GetParam().version >= 23;
  EXPECT_EQ(trace->all("methodEntry").size(), checks ? 1u : 0u);
  if (checks) EXPECT_EQ(trace->option("jtrace.unrewritten"), "");
  else EXPECT_THAT(trace->option("jtrace.unrewritten"), AllOf(HasSubstr("Large"), HasSubstr("constant pool")));
}

struct End {
  int signal;
  const char* said;
};

class EachEnd : public ::testing::TestWithParam<Jdk> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachEnd);
INSTANTIATE_TEST_SUITE_P(Jdks, EachEnd, ::testing::ValuesIn(jdks()), NameOf());

TEST_P(EachEnd, is_named_by_its_signal_and_what_it_left) {
  // HotSpot catches SIGSEGV, writes its report and ends as it likes; the others it does not see.
  for (const End& end :
       {End{SIGKILL, "was killed by SIGKILL; "}, {SIGABRT, "was killed by SIGABRT; "}, {SIGSEGV, ""}}) {
    JvmOptions options = attachable(GetParam(), {"-XX:-CreateCoredumpOnCrash"});
    if (GetParam().version < 9) options.flags.clear();
    auto jvm = JvmProcess::start(GetParam(), "Workload", options);
    ASSERT_TRUE(succeeded(jvm));
    auto run = TraceRun::start((*jvm)->pid());
    ASSERT_TRUE(succeeded(run));
    (*jvm)->signal(end.signal);
    auto status = (*run)->command().wait_exit();
    ASSERT_TRUE(succeeded(status));
    const std::string said = (*run)->command().err();
    EXPECT_THAT(said, AllOf(HasSubstr("JVM " + (*jvm)->pid_text() + " " + end.said), HasSubstr("the agent was ")));
    if (end.signal == SIGSEGV) EXPECT_THAT(said, AllOf(HasSubstr("/hs_err.log: SIGSEGV"), HasSubstr(" in ")));
    else EXPECT_EQ(said.find("hs_err"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace jtrace::test
