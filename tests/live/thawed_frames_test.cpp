// Virtual threads that run on after they were parked: the frames to which they have not returned yet are in the heap,
// and belong to their stacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/testlib/must.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// The methods of the program in these frames, equal ones that follow each other once: "bottom 1, down 21, outer 1".
std::string story(const json& frames) {
  std::vector<std::pair<std::string, int>> runs;
  for (const json& frame : frames) {
    if (!frame.contains("method") || frame["class"] != "Thawed") continue;
    const auto name = frame["method"].get<std::string>();
    if (name.starts_with("lambda")) continue;
    if (!runs.empty() && runs.back().first == name) ++runs.back().second;
    else runs.emplace_back(name, 1);
  }
  std::string text;
  for (const auto& [name, count] : runs) text += (text.empty() ? "" : ", ") + name + " " + std::to_string(count);
  return text;
}
bool has_method(const json& frames, std::string_view name) {
  return std::any_of(frames.begin(), frames.end(),
                     [&](const json& frame) { return frame.value("method", "") == name; });
}

std::vector<JdkAndCollector> with_virtual_threads() {
  auto all = jdks_and_collectors();
  std::erase_if(all, [](const JdkAndCollector& one) { return one.jdk.version < 21; });
  return all;
}

class ThawedFrames : public ::testing::TestWithParam<JdkAndCollector> {
 protected:
  void start(std::vector<std::string> flags) {
    if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
    const auto collector = GetParam().jdk.collector_flags(GetParam().collector);
    flags.insert(flags.end(), collector.begin(), collector.end());
    flags.push_back("-Xmx200m");
    jvm_ = must(JvmProcess::start(GetParam().jdk, "Thawed", attachable(GetParam().jdk, flags)));
  }
  // The rows of these two of a document: the virtual thread, and its carrier. Null if they are not there.
  struct Rows {
    json own, carrier;
  };
  static Rows rows_of(const CommandOutput& done, std::string_view name) {
    Rows rows;
    if (!json::accept(done.out)) return rows;
    const json document = json::parse(done.out);
    for (const json& row : document["data"])
      if (row.value("name", "") == name) rows.own = row;
    for (const json& row : document["data"])
      if (!rows.own.is_null() && rows.own.contains("carrier") && row.value("threadId", 0) == rows.own["carrier"])
        rows.carrier = row;
    return rows;
  }
  CommandOutput stack_of(const std::string& target) { return must(run_jtrace({"stack", target, "--format", "json"})); }

  std::unique_ptr<JvmProcess> jvm_;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ThawedFrames);
INSTANTIATE_TEST_SUITE_P(Jvms, ThawedFrames, ::testing::ValuesIn(with_virtual_threads()), NameOf());

TEST_P(ThawedFrames, AreInTheStack) {
  for (const auto& flags : {std::vector<std::string>{}, {"-Xint"}}) {
    start(flags);
    ASSERT_TRUE(jvm_);
    must(jvm_->ask("spin 20"));
    const CommandOutput done = stack_of(jvm_->pid_text());
    ASSERT_EQ(done.status, 0) << done.err;
    const Rows rows = rows_of(done, "deep");
    ASSERT_FALSE(rows.own.is_null()) << done.out;
    const std::string all = story(rows.own["frames"]);
    EXPECT_TRUE(all == "bottom 1, down 21, outer 1" || all == "work 1, bottom 1, down 21, outer 1") << all;
    EXPECT_TRUE(has_method(rows.own["frames"], "enter"));
    EXPECT_FALSE(has_method(rows.own["frames"], "runContinuation")) << "a frame of the carrier";
    EXPECT_EQ(story(rows.carrier["frames"]), "") << "frames of the virtual thread";
    EXPECT_FALSE(has_method(rows.carrier["frames"], "enter")) << "a frame of the virtual thread";
    EXPECT_TRUE(has_method(rows.carrier["frames"], "runContinuation"));
    const ScratchDir folder;
    const std::string core = folder.file("core");
    ASSERT_EQ(must(run_jtrace({"core", jvm_->pid_text(), "-o", core, "--small"})).status, 0);
    const Rows of_core = rows_of(stack_of(core), "deep");
    ASSERT_FALSE(of_core.own.is_null());
    EXPECT_THAT(story(of_core.own["frames"]), HasSubstr("bottom 1, down 21, outer 1"));
  }
  record_support(GetParam().jdk, to_string(GetParam().collector), "live",
                 "stack: frames of virtual threads in the heap");
}

// One that is parked has all its frames, or a line says why not: its state and its frames are of one moment.
TEST_P(ThawedFrames, OfThreadsThatAreParkedAgainAndAgainAreWhole) {
  start({});
  ASSERT_TRUE(jvm_);
  must(jvm_->ask("naps 40"));
  std::size_t whole = 0;
  for (int i = 0; i < 40; ++i) {
    const CommandOutput done = must(run_jtrace({"stack", jvm_->pid_text(), "--java", "--format", "json"}));
    ASSERT_TRUE(done.status == 0 || done.status == 9) << done.err;
    const json document = json::parse(done.out);
    for (const json& row : document["data"]) {
      if (!row.value("name", "").starts_with("nap-") || row.contains("carrier")) continue;
      if (row.contains("problem")) {
        EXPECT_EQ(done.status, 9);
        continue;
      }
      if (row["vmState"] == "STARTED") continue;
      EXPECT_TRUE(has_method(row["frames"], "doze") && has_method(row["frames"], "enter")) << row.dump();
      EXPECT_TRUE(row["vmState"].get<std::string>().ends_with("PARKING") || has_method(row["frames"], "yield"))
          << row.dump();
      ++whole;
    }
  }
  EXPECT_GT(whole, 800u) << "of 1600";
}

// What is in the heap is of the moment of the stop: each stack is one of those that there are.
TEST_P(ThawedFrames, AreOfTheMomentOfTheStop) {
  // Inlining is left out: of a thread that runs in compiled code the place is known only roughly.
  start({"-XX:-Inline"});
  ASSERT_TRUE(jvm_);
  must(jvm_->ask("turns"));
  std::size_t mounted = 0, cut = 0;
  for (int i = 0; i < 100 && mounted < 12; ++i) {
    const CommandOutput done = stack_of(jvm_->pid_text());
    ASSERT_TRUE(done.status == 0 || done.status == 9) << done.err;
    const Rows rows = rows_of(done, "turns");
    if (rows.carrier.is_null()) continue;
    const std::string all = story(rows.own["frames"]);
    const std::string below = all.substr(std::min(all.find("leaf 1, "), all.size()));
    if (below.empty()) continue;  // between two turns
    if (rows.own.contains("problem") || rows.carrier.contains("problem")) {
      ++cut;
      continue;
    }
    ++mounted;
    EXPECT_TRUE(below == "leaf 1, left 12, turns 1" || below == "leaf 1, right 7, turns 1") << all << "\n" << done.err;
  }
  EXPECT_GT(mounted, 0u) << cut << " of one that was perhaps being parked";
}

// A profile has a copy of the stack, and no copy of the heap: such a stack is cut, and counted as that.
TEST_P(ThawedFrames, AreCutOffAProfile) {
  if (GetParam().collector != GetParam().jdk.collectors().front()) return;  // it does not depend on the collector
  if (::getuid() != 0) JTRACE_SKIP("ptrace", "perf events of another process take root here");
  start({});
  ASSERT_TRUE(jvm_);
  must(jvm_->ask("spin 20"));
  const CommandOutput done =
      must(run_jtrace({"profile", jvm_->pid_text(), "--duration", "500ms", "--hz", "199", "--format", "collapsed"}));
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, ::testing::ContainsRegex("(^|\n)deep;\\[cut stack\\];Thawed.bottom"));
  EXPECT_THAT(done.out, Not(::testing::ContainsRegex("ForkJoinWorkerThread[^\n]*Thawed")));
  EXPECT_THAT(done.err, HasSubstr("outermost frames of virtual threads are in the heap"));
}

}  // namespace
}  // namespace jtrace::test
