// jtrace allocations: what a program allocates that knows it (tests/apps/Allocations.java, tests/apps/Till.java).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/testlib/must.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class AllocationsTest : public ::testing::TestWithParam<Jdk> {
 protected:
  static json view_of(const std::vector<std::string>& words) {
    std::vector<std::string> all{"allocations", "--format", "json", "--rows", "1000"};
    all.insert(all.end(), words.begin(), words.end());
    const CommandOutput done = must(run_jtrace(all));
    EXPECT_EQ(done.status, 0) << done.err;
    const json view = json::parse(done.out, nullptr, false);
    if (view.is_discarded() || view["data"].empty()) end_test("no answer: " + done.err + done.out, __FILE__, __LINE__);
    return view["data"][0];
  }
};
JTRACE_ON_EACH_JDK(AllocationsTest);

TEST_P(AllocationsTest, OfATraceAreExactWhereEachIsRecorded) {
  TracedJvm jvm(GetParam(), "Till",
                {"--events", "allocations,threads", "--stack-depth", "8", "--filter", "Till*", "--when-full", "block",
                 "--block-limit", "10000"});
  jvm.wait_rewritten();
  jvm.ask("sell 100");
  jvm.finish_valid();
  const json all = view_of({jvm.path()});
  EXPECT_EQ(all["kind"], "exact");
  EXPECT_EQ(all["byClass"][0]["class"], "byte[]");
  EXPECT_EQ(all["byClass"][0]["instances"], 95);
  EXPECT_GE(all["byClass"][0]["bytes"].get<int>(), 95 * 10'000);
  EXPECT_FALSE(all.contains("byStack"));
  const json of_bytes = view_of({jvm.path(), "--class", "byte[]"});
  ASSERT_EQ(of_bytes["bySite"].size(), 1u) << of_bytes;
  EXPECT_THAT(of_bytes["bySite"][0]["site"].get<std::string>(), HasSubstr("Till.receipt:"));
  std::map<std::string, int> threads;
  for (const json& row : of_bytes["byThread"]) threads[row["name"].get<std::string>()] += row["instances"].get<int>();
  EXPECT_EQ(threads, (std::map<std::string, int>{{"clerk-1", 50}, {"clerk-2", 45}}));
  const json stacks = view_of({jvm.path(), "--class", "byte[]", "--by", "stack"});
  int seen = 0;
  for (const json& row : stacks["byStack"]) {
    EXPECT_THAT(row["stack"].dump(),
                AllOf(HasSubstr("Till.receipt:"), HasSubstr("Till.sell:"), HasSubstr("Till.serve:")));
    seen += row["instances"].get<int>();
  }
  EXPECT_EQ(seen, 95);
}

// While the program allocates, in one command: samples without a filter, each object with one.
TEST_P(AllocationsTest, OfAJvmInOneCommand) {
  auto jvm = must(JvmProcess::start(GetParam(), "Allocations", attachable(GetParam())));
  // Ends the work also if the test ends early.
  struct Work {
    std::atomic<bool> is_over{false};
    std::thread thread;
    ~Work() { end(); }
    void end() {
      is_over = true;
      if (thread.joinable()) thread.join();
    }
  } work;
  work.thread = std::thread([&] {
    while (!work.is_over) {
      (void)jvm->ask("bytes 2000");
      (void)jvm->ask("things 500");
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  const std::vector<std::string> words{jvm->pid_text(), "--duration", "3s"};
  const json exact = view_of({words[0], words[1], words[2], "--filter", "Allocations*"});
  EXPECT_EQ(exact["kind"], "exact");
  json sampled;
  if (GetParam().version >= 11) sampled = view_of({words[0], words[1], words[2], "--sample-interval", "16K"});
  const auto refused = must(run_jtrace({"allocations", words[0], "--duration", "1s"}));
  work.end();
  ASSERT_FALSE(exact["byClass"].empty()) << exact;
  EXPECT_EQ(exact["byClass"][0]["class"], "byte[]");
  // 2000 byte[] of 216 bytes for each 500 things of 40 (or 32): the ratio of their numbers is known.
  const auto count_of = [](const json& view, const std::string& type) {
    for (const json& row : view["byClass"])
      if (row["class"] == type) return row["instances"].get<double>();
    return 0.0;
  };
  EXPECT_NEAR(count_of(exact, "byte[]") / count_of(exact, "Allocations$Thing"), 4, 0.3) << exact;
  if (GetParam().version < 11) {
    EXPECT_EQ(refused.status, 2);
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr("jtrace allocations " + words[0] + " --filter 'Allocations*'"));
    return;
  }
  EXPECT_EQ(sampled["kind"], "estimated");
  EXPECT_THAT(sampled["note"].get<std::string>(), HasSubstr("estimated from"));
  EXPECT_EQ(sampled["byClass"][0]["class"], "byte[]");
  EXPECT_THAT(sampled["bySite"][0]["site"].get<std::string>(), HasSubstr("Allocations.make:"));
  EXPECT_NEAR(count_of(sampled, "byte[]") / count_of(sampled, "Allocations$Thing"), 4, 2) << sampled["byClass"];
}

}  // namespace
}  // namespace jtrace::test
