// The state of a thread is that of the moment of its frames, also where the collector moves objects while threads run.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/testlib/must.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

using nlohmann::json;

constexpr int kLooks = 8;

class StatesAtStop : public ::testing::TestWithParam<JdkAndCollector> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StatesAtStop);
INSTANTIATE_TEST_SUITE_P(Jvms, StatesAtStop, ::testing::ValuesIn(jdks_and_collectors()), NameOf());

struct Seen {
  int computing = 0, sleeping = 0;
  int other = 0;  // asleep, and runnable
};

void look(const json& thread, Seen& seen) {
  if (!thread["name"].is_string() || !thread["name"].get<std::string>().starts_with("turn-")) return;
  if (thread["vmState"] == "in Java") {
    ++seen.computing;
    EXPECT_EQ(thread["state"], "RUNNABLE") << thread;
    EXPECT_FALSE(thread["frames"].empty()) << thread;
  }
  if (thread["vmState"] != "blocked" || thread["frames"].empty()) return;
  const json& method = thread["frames"][0]["method"];
  if (!method.is_string() || !method.get<std::string>().starts_with("sleep")) return;
  ++seen.sleeping;
  seen.other += thread["state"] != "TIMED_WAITING";
}

TEST_P(StatesAtStop, AreThoseOfTheFrames) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  auto flags = GetParam().jdk.collector_flags(GetParam().collector);
  flags.push_back("-Xmx100m");
  const auto jvm = must(JvmProcess::start(GetParam().jdk, "Turns", attachable(GetParam().jdk, flags)));
  Seen seen;
  for (int i = 0; i < kLooks; ++i) {
    const auto done = must(run_jtrace({"inspect", jvm->pid_text(), "threads", "--format", "json"}));
    ASSERT_TRUE(json::accept(done.out)) << done.err;
    const json document = json::parse(done.out);
    for (const json& thread : document["data"]) look(thread, seen);
  }
  EXPECT_GT(seen.computing, 0);
  EXPECT_GT(seen.sleeping, 0);
  // The tables of JDK 11's ZGC are not read: the state is of a moment later. A thread that waits for the end of a pause
  // is blocked too.
  if (GetParam().collector != Collector::kZ || GetParam().jdk.version > 11) {
    EXPECT_LE(seen.other * 10, seen.sleeping);
  }
}

}  // namespace
}  // namespace jtrace::test
