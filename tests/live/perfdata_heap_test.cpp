// heap.max, heap.used and heap.share of hsperf against MemoryMXBean of the same JVM, for every collector of every JDK.
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "tests/live/perfdata_support.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

struct Usage {
  double max = 0, used = 0;
};

Usage usage_of(const std::string& answer) {
  std::smatch match;
  if (!std::regex_search(answer, match, std::regex("max=([0-9]+) used=([0-9]+)"))) ADD_FAILURE() << answer;
  return {std::stod(match[1]), std::stod(match[2])};
}

class Heap : public ::testing::TestWithParam<Jdk> {
 protected:
  // The collectors, and other flags that change their bounds.
  static std::vector<CollectorChoice> choices() {
    std::vector<CollectorChoice> all = collector_choices(GetParam());
    all.push_back({"G1 of 16 bytes alignment", {"-XX:+UseG1GC", "-XX:ObjectAlignmentInBytes=16"}});
    all.push_back({"Parallel that grows", {"-XX:+UseParallelGC", "-Xms20m"}});
    all.push_back({"Parallel with fixed spaces", {"-XX:+UseParallelGC", "-XX:-UseAdaptiveSizePolicy"}});
    all.push_back({"Serial with large survivors", {"-XX:+UseSerialGC", "-XX:SurvivorRatio=2"}});
    return all;
  }
  static bool holds(const JvmProcess& jvm, const std::string& condition) {
    const auto out = run_hsperf({"check", jvm.pid_text(), condition, "-q"});
    return out && out->status == 0;
  }
  static void expect_holds(const JvmProcess& jvm, const std::string& condition) {
    EXPECT_TRUE(holds(jvm, condition)) << condition << ": "
                                       << run_hsperf({"check", jvm.pid_text(), "heap.max > 0 and heap.used > 0"})->out;
  }
};
JTRACE_ON_EACH_JDK(Heap);

TEST_P(Heap, IsThatOfMemoryMXBean) {
  for (CollectorChoice& choice : choices()) {
    SCOPED_TRACE(choice.name);
    choice.flags.insert(choice.flags.begin(), "-Xmx200m");
    auto jvm = must(JvmProcess::start(GetParam(), "Workload", {.flags = choice.flags}));
    const auto answer = must(jvm->ask("heap 60"));
    const Usage said = usage_of(answer);
    expect_holds(*jvm, "heap.max == " + std::to_string(static_cast<std::int64_t>(said.max)));
    // Allocations between the JVM's last collection and its answer are not in the counters (or only in them).
    constexpr double kSlack = 8 << 20;
    const std::string used = std::to_string(static_cast<std::int64_t>(said.used));
    expect_holds(*jvm, "heap.used > " + used + " - 8M and heap.used < " + used + " + 8M");
    const double share = said.used / said.max, slack = kSlack / said.max;
    expect_holds(
        *jvm, "heap.share > " + std::to_string(share - slack) + " and heap.share < " + std::to_string(share + slack));
  }
}

}  // namespace
}  // namespace jtrace::test
