// The figures of a trace equal what the JVM itself reports: the heap in its log, threads and classes in its MXBeans.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <sstream>

#include "base/file.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

class EachCollector : public ::testing::TestWithParam<JdkAndCollector> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachCollector);
INSTANTIATE_TEST_SUITE_P(Jdks, EachCollector, ::testing::ValuesIn(jdks_and_collectors()), NameOf());

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

struct HeapFigures {
  double used = 0;  // bytes
  double total = 0;
  double unit = 0;  // unit of rounding in the log
};

// "5M->1M(20M)" in the last line of a full collection, as every stop-the-world collector's log has it.
std::vector<HeapFigures> full_collections(const std::string& log) {
  static const std::regex kFull(R"((Pause Full|\[Full GC).*?\b\d+[KM]->(\d+)([KM])\((\d+)([KM])\))");
  std::vector<HeapFigures> result;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, kFull)) continue;
    const double unit = match[3] == "K" ? 1024 : 1024 * 1024;
    result.push_back({std::stod(match[2]) * unit, std::stod(match[4]) * (match[5] == "K" ? 1024 : 1024 * 1024), unit});
  }
  return result;
}

TEST_P(EachCollector, TheHeapAfterFullCollectionsIsTheLogs) {
  const auto& [jdk, collector] = GetParam();
  if (collector == Collector::kZ || collector == Collector::kShenandoah)
    GTEST_SKIP() << "a concurrent collector's log has no heap figures of a pause";
  std::vector<std::string> flags = jdk.collector_flags(collector);
  flags.push_back(jdk.version >= 9 ? "-Xlog:gc:file=gc.log" : "-XX:+PrintGC");
  if (jdk.version < 9) flags.push_back("-Xloggc:gc.log");
  TracedJvm jvm(jdk, "Workload", {"--events", "gc"}, attachable(jdk, flags));
  jvm.ask("gc 5");
  const auto log = must(read_file(jvm.process().in_working_folder("gc.log")));
  const TraceDocument trace = jvm.finish();
  const auto logged = full_collections(log);
  const auto traced = trace.all("gcFinish");
  ASSERT_EQ(logged.size(), 5u);
  ASSERT_EQ(traced.size(), collector == Collector::kParallel ? traced.size() : 5u);
  // Parallel collects the young generation before the old one; the log's "Pause Full" is the second of the pair.
  const std::size_t step = traced.size() / logged.size();
  ASSERT_EQ(traced.size() % logged.size(), 0u);
  for (std::size_t i = 0; i < logged.size(); ++i) {
    const TraceElement& finish = *traced[i * step + step - 1];
    EXPECT_NEAR(static_cast<double>(finish.number("usedObjectSpace")), logged[i].used, logged[i].unit) << i;
    EXPECT_NEAR(static_cast<double>(finish.number("totalObjectSpace")), logged[i].total, logged[i].unit) << i;
  }
  record_support(jdk, to_string(collector), "live", "gcFinish's heap as the JVM logs it");
}

TEST_P(EachJdk, ThreadsAndClassesAreTheMxbeans) {
  auto jvm = must(JvmProcess::start(GetParam(), "Workload", attachable(GetParam())));
  must(jvm->ask("load 1"));  // what the command itself needs
  must(jvm->ask("counts"));
  auto run = must(TraceRun::start(jvm->pid(), {"--events", "threads,classes"}));
  const auto before = must(jvm->ask("counts"));
  for (const char* command : {"threads 25", "hold 7", "load 50"}) must(jvm->ask(command));
  const auto after = must(jvm->ask("counts"));
  auto trace = must(run->finish());
  EXPECT_TRUE(none(trace.faults()));
  const long plugins = count_classes(trace, "Workload$Plugin");
  EXPECT_EQ(plugins, 50);
  // Hidden and generated classes (lambda forms) may be loaded at any time: there are at least as many as the program
  // loads.
  EXPECT_GE(value_in(after, "loaded") - value_in(before, "loaded"), plugins);
  long started = 0;
  long lives = 0;
  for (const TraceElement* thread : trace.all("threadStart")) {
    const std::string name = thread->get("threadName");
    const bool hidden = name.find("CompilerThread") != std::string::npos;  // hidden from ThreadMXBean, not from JVM TI
    started += name.starts_with("worker-") || name.starts_with("held-");
    lives += !hidden;
  }
  EXPECT_EQ(started, value_in(after, "started") - value_in(before, "started"));
  lives -= static_cast<long>(trace.count("threadEnd"));
  EXPECT_EQ(lives, value_in(after, "threads"));
}

}  // namespace
}  // namespace jtrace::test
