// jtrace slow: which calls of a real JVM took long, and what they waited for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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
using ::testing::Not;
using ::testing::StartsWith;

class Slow : public ::testing::TestWithParam<Jdk> {
 protected:
  static json rows_of(const CommandOutput& done) {
    EXPECT_EQ(done.status, 0) << done.err;
    const json all = json::parse(done.out, nullptr, false);
    return all.is_discarded() || all["data"].empty() ? json::array() : all["data"][0]["slowCalls"];
  }
};
JTRACE_ON_EACH_JDK(Slow);

// The auditor holds the stock for 180 ms each second, and the clerks wait for it.
TEST_P(Slow, NamesWhoHadTheMonitorThatASlowCallWaitedFor) {
  auto jvm = JvmProcess::start(GetParam(), "Shop", attachable(GetParam()));
  ASSERT_TRUE(jvm) << jvm.error().message();
  const auto done = run_jtrace({"slow", (*jvm)->pid_text(), "--over", "100ms", "--duration", "6s", "--filter", "Shop*",
                                "--format", "json", "--rows", "1000"});
  ASSERT_TRUE(done) << done.error().message();
  std::size_t audits = 0, waits = 0, below = 0;
  for (const json& row : rows_of(*done)) {
    EXPECT_GE(row["seconds"], 0.1) << row;
    if (row["method"] == "Shop$Stock.audit" && row["sleeping"] > 0.17) ++audits;
    if (row["method"] == "Shop.serve" && row["blocked"] > 0.09 && row["monitor"] == "Shop$Stock" && row["owner"] != "")
      ++waits;
    // The method that is synchronized, and waited before its first instruction.
    if (row["method"] == "Shop.serve" && row["blocked"] > 0.1 && !row["below"].empty() &&
        row["below"][0]["method"] == "Shop$Stock.reserve" && row["below"][0]["seconds"] > 0.1)
      ++below;
  }
  EXPECT_TRUE((*jvm)->alive()) << (*jvm)->crash_report();
  EXPECT_EQ(json::parse(done->out)["target"]["kind"], "process");
  EXPECT_EQ(json::parse(done->out)["target"]["pid"], (*jvm)->pid());
  for (const json& row : json::parse(done->out)["data"][0]["slowMethods"])
    EXPECT_GE(row.value("allCalls", 0u), row["calls"].get<unsigned>()) << row;
  EXPECT_GE(below, 2u) << done->out;
  EXPECT_GE(audits, 2u) << done->out;
  EXPECT_GE(waits, 2u) << done->out;
  const auto none = run_jtrace({"slow", (*jvm)->pid_text(), "--over", "100s", "--duration", "2s"});
  ASSERT_TRUE(none) << none.error().message();
  EXPECT_THAT(none->out, HasSubstr("no call took 100 s; the slowest seen (the trace has those of 50 ms and more, "
                                   "of shorter ones each that took longer than those before it"))
      << none->err;
  EXPECT_THAT(none->out, HasSubstr("Shop$Stock.audit")) << none->err;
  EXPECT_THAT(none->out,
              HasSubstr("the calls are without arguments: jtrace slow PID reads them with --filter 'Shop*'"));
}

// Of calls of 1 ms the coarse clock shows none: the JVM is traced once more. (On a busy machine one may take longer.)
TEST_P(Slow, OfQuickCallsTheSlowestSeenIsShown) {
  JvmOptions options = attachable(GetParam());
  options.arguments = {"1000"};
  auto jvm = must(JvmProcess::start(GetParam(), "Ticks", options));
  const std::vector<std::string> words{"slow",     jvm->pid_text(),      "--duration", "2s",
                                       "--filter", "Ticks tick include", "--format",   "json"};
  const auto done = must(run_jtrace(words));
  const json rows = rows_of(done);
  ASSERT_FALSE(rows.empty()) << done.out << done.err;
  EXPECT_EQ(rows[0]["method"], "Ticks.tick");
  EXPECT_GE(rows[0]["seconds"], 0.001);
  EXPECT_TRUE(rows[0]["seconds"] >= 0.002 || done.err.find("once more, with the exact clock") != std::string::npos);
  EXPECT_EQ(json::parse(done.out)["data"][0]["overSeconds"], 0.2);
}

// A synchronized block before a call of a synchronized method of the same class: the wait is the caller's, and not the
// callee's. Without the block it is the callee's.
TEST_P(Slow, AWaitBelongsToTheMethodThatWaited) {
  TracedJvm jvm(GetParam(), "Contends",
                {"--events", "methods,monitors", "--slower-than", "100ms", "--min-contention", "0", "--filter",
                 "Contends blocks include", "--filter", "Contends enters include", "--filter", "Contends$Door include",
                 "--filter", "* exclude"});
  jvm.wait_rewritten();
  jvm.ask("block 250");
  jvm.ask("enter 250");
  jvm.finish_valid();
  const auto done = must(run_jtrace({"slow", jvm.path(), "--over", "200ms", "--format", "json"}));
  std::map<std::string, json> calls;
  for (const json& row : rows_of(done)) calls[row["method"].get<std::string>()] = row;
  ASSERT_TRUE(calls.contains("Contends.blocks") && calls.contains("Contends.enters")) << done.out;
  const json blocks = calls["Contends.blocks"], enters = calls["Contends.enters"];
  EXPECT_GE(blocks["blocked"], 0.24);
  EXPECT_EQ(blocks["longestWaits"][0]["in"], "Contends.blocks") << blocks;
  EXPECT_TRUE(blocks["below"].empty()) << blocks;
  EXPECT_GE(enters["blocked"], 0.24);
  ASSERT_FALSE(enters["below"].empty()) << enters;
  EXPECT_EQ(enters["below"][0]["method"], "Contends$Door.pass");
  EXPECT_GE(enters["below"][0]["seconds"], 0.24) << enters;
}

TEST_P(Slow, ShowsArgumentsAndTheCalleeOfATrace) {
  TracedJvm jvm(GetParam(), "Calls",
                {"--events", "methods,sleeps", "--arguments", "--filter", "Calls* include", "--filter", "* exclude"});
  jvm.wait_rewritten();
  jvm.ask("slowly 1 150");
  jvm.finish_valid();
  // It only sleeps, so it is idle.
  const json rows = rows_of(must(run_jtrace({"slow", jvm.path(), "--over", "280ms", "--idle", "--format", "json"})));
  ASSERT_EQ(rows.size(), 1u) << rows;
  // The outermost call is the one that was asked for from outside; what took its time stands below it.
  EXPECT_EQ(rows[0]["method"], "Calls.answer");
  EXPECT_GE(rows[0]["sleeping"], 0.29) << rows;
  ASSERT_FALSE(rows[0]["below"].empty()) << rows;
  EXPECT_EQ(rows[0]["below"][0]["method"], "Calls.slowly");
  EXPECT_THAT(rows[0]["below"][0]["arguments"], AllOf(StartsWith("\"text\", "), HasSubstr(", 1, 150")));
  const std::string text = must(run_jtrace({"slow", jvm.path(), "--over", "10s"})).out;
  EXPECT_THAT(text, AllOf(HasSubstr("no call took 10 s; the slowest seen"), HasSubstr("Calls.slowly(\"text\""),
                          HasSubstr("texts among the arguments are shown as they are, secrets too"),
                          Not(HasSubstr("without arguments"))));
  EXPECT_THAT(must(run_jtrace({"stats", jvm.path()})).out, HasSubstr("the slowest of the calls"));
}

// Three calls that nap for 400 ms take longer than the call that computes, and stand after it.
TEST_P(Slow, IdleCallsDoNotHideTheOneThatWorks) {
  TracedJvm jvm(GetParam(), "Calls",
                {"--events", "methods,sleeps", "--time", "precise", "--filter", "Calls naps include", "--filter",
                 "Calls fib include", "--filter", "* exclude"});
  jvm.wait_rewritten();
  jvm.ask("naps 3 200");
  jvm.ask("fib 15");
  jvm.finish_valid();
  const auto done = must(run_jtrace({"slow", jvm.path(), "--over", "0.001ms", "--rows", "1", "--format", "json"}));
  const json rows = rows_of(done);
  ASSERT_EQ(rows.size(), 1u) << done.out;
  EXPECT_EQ(rows[0]["method"], "Calls.fib");
  const json idle = json::parse(done.out)["data"][0]["idleCalls"];
  ASSERT_EQ(idle.size(), 1u) << done.out;
  EXPECT_EQ(idle[0]["calls"], 3);
  EXPECT_EQ(idle[0]["method"], "Calls.naps");
  EXPECT_GE(idle[0]["longest"]["seconds"], 0.4);
}

// The class is known where exceptions are traced too.
TEST_P(Slow, SaysThatAnExceptionEndedACall) {
  for (const std::string events : {"methods", "methods,exceptions"}) {
    TracedJvm jvm(GetParam(), "Calls",
                  {"--events", events, "--slower-than", "100ms", "--filter", "Calls nap* include"});
    jvm.wait_rewritten();
    jvm.ask("naps 1 200");
    jvm.finish_valid();
    const auto done = must(run_jtrace({"slow", jvm.path(), "--over", "150ms", "--idle", "--format", "json"}));
    std::map<std::string, json> rows;
    for (const json& row : rows_of(done)) {
      rows[row["method"].get<std::string>()] = row;
      for (const json& each : row["below"]) rows[each["method"].get<std::string>()] = each;
    }
    EXPECT_FALSE(rows["Calls.naps"].contains("byException")) << done.out;
    EXPECT_EQ(rows["Calls.napAndThrow"].value("byException", false), true) << done.out;
    EXPECT_EQ(rows["Calls.napAndThrow"].value("exception", "-"),
              events == "methods" ? "-" : "java.lang.IllegalStateException");
  }
}

// The byte comes after 150 ms. A virtual thread parks for it, which is a part of the read.
TEST_P(Slow, TellsWhatASocketTook) {
  auto jvm = must(JvmProcess::start(GetParam(), "Fetches", attachable(GetParam())));
  must(jvm->ask("start 150"));
  std::vector<std::string> words = {"slow",     jvm->pid_text(),         "--over",   "100ms", "--duration", "4s",
                                    "--filter", "Fetches fetch include", "--format", "json",  "--io",       "--rows",
                                    "0"};
  const auto done = must(run_jtrace(words));
  std::map<std::string, int> reads;
  for (const json& row : rows_of(done)) {
    if (row["method"] != "Fetches.fetch") continue;
    ++reads[row["thread"].get<std::string>()];
    EXPECT_GE(row["socketIo"], 0.14) << row;
    EXPECT_LT(row["waiting"], 0.01) << row;
    EXPECT_LT(row["other"], 0.1) << row;
    ASSERT_FALSE(row["below"].empty()) << row;
    EXPECT_THAT(row["below"][0]["method"].get<std::string>(), ::testing::EndsWith(".read")) << row;
  }
  EXPECT_GE(reads["client"], 5) << done.out;
  EXPECT_GE(reads["virtual"], GetParam().version >= 21 ? 5 : 0) << done.out;
}

}  // namespace
}  // namespace jtrace::test
