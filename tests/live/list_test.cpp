// `jtrace list` finds every JVM of the test, in any kind of container, and describes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <nlohmann/json.hpp>

#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

// The row of this pid; null if it is not listed.
json row_of(pid_t pid) {
  const auto done = run_jtrace({"list", "--format", "json"});
  if (!done || done->status != 0) return done ? json(done->err) : json(done.error().message());
  const json view = json::parse(done->out, nullptr, false);
  if (view.is_discarded()) return json("not JSON: " + done->out);
  for (const json& row : view["data"])
    if (row["pid"] == pid) return row;
  return {};
}

TEST_P(EachJdk, IsListedWithWhatItIs) {
  auto jvm = must(JvmProcess::start(GetParam(), "Idle", attachable(GetParam(), {"-Dsome.password=hidden"})));
  const json row = row_of(jvm->pid());
  ASSERT_TRUE(row.is_object()) << row;
  EXPECT_EQ(row["main"], "Idle");
  EXPECT_EQ(row["nspid"], jvm->pid());
  const std::string version = row["version"];
  EXPECT_TRUE(version.rfind(std::to_string(GetParam().version) + ".", 0) == 0 ||
              version.rfind(std::to_string(GetParam().version) + "u", 0) == 0 ||
              version.rfind("1." + std::to_string(GetParam().version) + ".", 0) == 0 ||
              version == std::to_string(GetParam().version))
      << version;
  EXPECT_EQ(jvm->out(), "READY\n");
  EXPECT_EQ(jvm->err(), "");
  record_support(GetParam(), "G1", "live", "list");
}

TEST_P(EachJdk, IsListedFromInsideAContainer) {
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("live", why);
  JvmOptions options = attachable(GetParam());
  options.isolation = Isolation::kContainer;
  auto jvm = must(JvmProcess::start(GetParam(), "Idle", options));
  const json row = row_of(jvm->pid());
  ASSERT_TRUE(row.is_object()) << row;
  EXPECT_EQ(row["nspid"], 1);
  EXPECT_EQ(row["main"], "Idle");
}

}  // namespace
}  // namespace jtrace::test
