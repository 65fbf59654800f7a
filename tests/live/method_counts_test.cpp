// methodCount: the counts against the program's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "tests/live/method_calls.h"
#include "tests/testlib/java_app.h"
#include "tests/testlib/must.h"
#include "tests/testlib/places.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_calls.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

using ::testing::HasSubstr;

class MethodCounts : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(MethodCounts);

// methodCount by "Class.method"; the last one of the document.
std::map<std::string, std::uint64_t> counts_of(const TraceDocument& trace) {
  std::map<std::string, std::string> names = names_of_methods(trace);
  std::map<std::string, std::uint64_t> counts;
  for (const TraceElement* each : trace.all("methodCount"))
    counts[names[each->get("methodIdRef")]] = each->number("count");
  return counts;
}

TEST_P(MethodCounts, CallsAreCountedInEveryThreadAndWhilePaused) {
  TracedJvm jvm(GetParam(), "Calls", with({"--events", "counts"}, kOnlyCalls));
  jvm.wait_rewritten();
  auto fibs = static_cast<std::uint64_t>(jvm.sum_of("fib", {"fib 15", "threads 4 20", "threads 90 12"}));
  jvm.ask_each({"throws 10", "constructors 40"});
  auto counted = must(run_jtrace({"ctl", jvm.pid_text(), "count"}));
  ASSERT_EQ(counted.status, 0) << counted.err;
  EXPECT_THAT(counted.out, ::testing::MatchesRegex("methods=[0-9]+\n"));
  jvm.ctl({"pause"});
  jvm.ask("everything 100");
  jvm.ctl({"resume"});
  if (GetParam().version >= 21) {
    auto answer = jvm.ask("virtual 20 10");
    fibs += static_cast<std::uint64_t>(value_in(answer, "fib"));
  }
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_EQ(trace.count("methodEntry"), 0u);
  auto counts = counts_of(trace);
  EXPECT_EQ(counts["Calls.fib"], fibs);
  EXPECT_EQ(counts["Calls.everything"], 100u);
  EXPECT_EQ(counts["Calls.thrower"], 40u);
  EXPECT_EQ(counts["Calls.catcher"], 10u);
  EXPECT_EQ(counts["Calls$Base.<init>"], 40u);
  ASSERT_EQ(counts.count("Calls.main"), 1u);
  EXPECT_EQ(counts["Calls.main"], 0u);  // it began before
  // Each method twice: on request, and at the end.
  EXPECT_EQ(trace.count("methodCount"), 2 * counts.size());
  EXPECT_THAT(trace.option("jtrace.counted"), HasSubstr("native=0,"));
  EXPECT_EQ(jvm.err(), "");
  record_support(GetParam(), "G1", "live", "method counts");
}

TEST_P(MethodCounts, EachFileOfATraceEndsWithTheCountsOfThen) {
  TracedJvm jvm(GetParam(), "Calls",
                with({"--events", "methods,counts", "--max-size", "256K", "--rotate", "30"}, kOnlyCalls));
  jvm.wait_rewritten();
  std::uint64_t fibs = 0;
  for (int i = 0; i < 2; ++i) {
    auto answer = jvm.ask("fib 14");
    fibs += static_cast<std::uint64_t>(value_in(answer, "fib"));
  }
  jvm.stop();
  std::vector<std::string> files{jvm.path()};
  while (std::filesystem::exists(jvm.path() + "." + std::to_string(files.size())))
    files.insert(files.begin(), jvm.path() + "." + std::to_string(files.size()));
  ASSERT_GE(files.size(), 3u);
  std::uint64_t entries = 0;
  std::uint64_t counted = 0;
  std::string before;  // the file before this one in the trace
  for (const std::string& file : files) {
    const auto trace = must(TraceDocument::read(file));
    EXPECT_TRUE(none(trace.id_faults()));
    const auto validated = must(run_command({jtrace_binary(), "validate", file}));
    EXPECT_EQ(validated.status, 0) << validated.out << validated.err;
    EXPECT_EQ(trace.option("jtrace.continues"), before);
    before = std::string(trace.all("traceStart").at(0)->get("traceId"));
    EXPECT_EQ(trace.option("jtrace.uncounted"), "");
    EXPECT_NE(trace.option("jtrace.counted"), "");
    entries += static_cast<std::uint64_t>(by_method(trace, "methodEntry")["Calls.fib"]);
    auto counts = counts_of(trace);
    EXPECT_GE(counts["Calls.fib"], std::max(counted, entries));
    counted = counts["Calls.fib"];
  }
  EXPECT_EQ(entries, fibs);
  EXPECT_EQ(counted, fibs);

  auto limited =
      must(TraceRun::start(jvm.pid(), with({"--events", "methods,counts", "--max-size", "300K"}, kOnlyCalls)));
  ASSERT_TRUE(rewritten(*limited));
  jvm.ask("fib 16");
  auto status = must(limited->command().wait_exit());  // at --max-size
  EXPECT_EQ(status, 0) << limited->command().err();
  auto trace = must(limited->document());
  EXPECT_TRUE(none(trace.id_faults()));
  EXPECT_EQ(trace.option("jtrace.uncounted"), "");
  EXPECT_GE(counts_of(trace)["Calls.fib"], static_cast<std::uint64_t>(by_method(trace, "methodEntry")["Calls.fib"]));
  EXPECT_EQ(jvm.err(), "");
}

TEST_P(MethodCounts, CountsOfTheWholeJdkAreWrittenWhenTheJvmEnds) {
  TracedJvm jvm(GetParam(), "Calls", {"--events", "counts", "--ring-memory", "2M"});
  jvm.wait_rewritten();
  auto answer = jvm.ask("threads 3 15");
  must(jvm.process().send("exit"));
  auto status = jvm.wait_exit();
  EXPECT_EQ(status, 0) << jvm.command().err();
  const TraceDocument trace = jvm.document();
  jvm.expect_valid(trace);
  auto counts = counts_of(trace);
  EXPECT_EQ(counts["Calls.fib"], static_cast<std::uint64_t>(value_in(answer, "fib")));
  EXPECT_GT(counts["java/lang/String.length"], 0u);
  EXPECT_GT(counts.size(), 3000u);
  EXPECT_THAT(trace.option("jtrace.counted"), ::testing::Not(HasSubstr("guardedClasses=0")));
}

// The JVM gives an agent that retransforms the methods in an order of its own, one that redefines in that of the file.
TEST_P(MethodCounts, GoOnWhenAnotherAgentRedefinesTheClass) {
  TracedJvm jvm(GetParam(), "Calls", with({"--events", "methods,counts"}, kOnlyCalls));
  const std::string agent = "/tmp/jtrace-test-" + jvm.pid_text() + "-redefines.so";
  const std::string classes = GetParam().root ? std::string("/mnt") : must(compiled_app("Calls"));
  std::filesystem::copy_file(build_folder() + "/lib/libother_agent.so", jvm.process().inside(agent));
  jvm.wait_rewritten();
  auto fibs = static_cast<std::uint64_t>(value_in(jvm.ask("fib 15"), "fib"));
  const auto loaded = must(run_jtrace({"load", jvm.pid_text(), agent, "redefine=" + classes + "/Calls.class"}));
  std::filesystem::remove(jvm.process().inside(agent));
  ASSERT_EQ(loaded.status, 0) << loaded.err;
  fibs += static_cast<std::uint64_t>(value_in(jvm.ask("fib 12"), "fib"));
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_EQ(counts_of(trace)["Calls.fib"], fibs);
  EXPECT_EQ(static_cast<std::uint64_t>(by_method(trace, "methodEntry")["Calls.fib"]), fibs);
  // One row for each method.
  EXPECT_EQ(trace.count("methodCount"), counts_of(trace).size());
}

TEST_P(MethodCounts, MethodsOfUnloadedClassesAreDefinedBeforeTheirClassEnds) {
  TracedJvm jvm(GetParam(), "Workload",
                {"--events", "counts,classes", "--filter", "Workload$Plugin*", "--filter", "* exclude"});
  jvm.wait_rewritten();
  jvm.ask("load 5");
  jvm.ask("unload 5");
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_GE(trace.count("classUnload"), 5u);
  EXPECT_GE(trace.count("methodCount"), 5u);
  const auto validated = must(run_command({jtrace_binary(), "validate", jvm.path()}));
  EXPECT_EQ(validated.status, 0) << validated.out << validated.err;
}

}  // namespace
}  // namespace jtrace::test
