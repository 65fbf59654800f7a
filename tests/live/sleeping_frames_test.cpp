// Objects to which only the frames of sleeping threads refer, after the collector has moved them. Generational ZGC
// updates such frames at its next collection; until then other objects may be where they were.
#include <gtest/gtest.h>

#include "tests/live/heap_peers.h"
#include "tests/testlib/must.h"
#include "tests/testlib/require.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

constexpr std::uint64_t kThreads = 30;

class SleepingFrames : public ::testing::TestWithParam<JdkAndCollector> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SleepingFrames);
INSTANTIATE_TEST_SUITE_P(Jvms, SleepingFrames, ::testing::ValuesIn(jdks_and_collectors()), NameOf());

TEST_P(SleepingFrames, KeepTheirObjects) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  auto flags = GetParam().jdk.collector_flags(GetParam().collector);
  flags.push_back("-Xmx400m");
  const auto jvm = must(JvmProcess::start(GetParam().jdk, "Sleepers", attachable(GetParam().jdk, flags)));
  for (const char* thousands : {"0", "20", "0", "40", "70", "0"}) {
    must(jvm->ask(std::string("collect ") + thousands));
    const auto document = inspect_heap(jvm->pid_text(), true, {"histogram", "--reachable"});
    ASSERT_TRUE(document.contains("data"));
    EXPECT_EQ(histogram_of_json(document)["Sleepers$Local"].instances, kThreads)
        << "after " << thousands << " thousand arrays; missing: " << document["missing"];
  }
  record_support(GetParam().jdk, to_string(GetParam().collector), "live", "heap: what only frames keep");
}

}  // namespace
}  // namespace jtrace::test
