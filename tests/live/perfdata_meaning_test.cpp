// What hsperf says about a counter's meaning, against a running JVM: the right unit if HotSpot declares a wrong one,
// and that counters which change only at a collection do not change between two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "tests/live/perfdata_support.h"
#include "tests/testlib/places.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;

class Meaning : public ::testing::TestWithParam<Jdk> {
 protected:
  // The counters by name.
  static std::map<std::string, json> counters(const JvmProcess& jvm) {
    std::map<std::string, json> all;
    const auto out = run_hsperf({"snap", jvm.pid_text(), "--format", "json"});
    if (!out || out->status != 0) {
      ADD_FAILURE() << (out ? out->err : out.error().message());
      return all;
    }
    const json view = json::parse(out->out);
    for (const json& row : view["data"]) all[row["name"].get<std::string>()] = row;
    return all;
  }
  static std::string freshness(const json& row) { return row.value("freshness", "live"); }
  static double seconds(const json& row) {
    EXPECT_EQ(row["units"], "seconds") << row;
    return row["value"].get<double>();
  }
};
JTRACE_ON_EACH_JDK(Meaning);

TEST_P(Meaning, WhatMovesAtACollectionOnlyStandsStillBetweenTwo) {
  // Enough room that the JVM does not collect by itself.
  auto jvm = must(JvmProcess::start(GetParam(), "Workload", {.flags = {"-XX:+UseSerialGC", "-Xmn256m", "-Xmx512m"}}));
  must(jvm->ask("gc 1"));
  auto first = counters(*jvm);
  must(jvm->ask("garbage 20"));
  auto second = counters(*jvm);
  for (const char* collections : {"sun.gc.collector.0.invocations", "sun.gc.collector.1.invocations"})
    ASSERT_EQ(first[collections]["value"], second[collections]["value"]);
  int still = 0, constant = 0;
  for (const auto& [name, row] : first) {
    const std::string kind = freshness(row);
    if (kind == "gc") ++still;
    else if (kind == "constant") ++constant;
    else continue;
    EXPECT_EQ(row["value"], second[name]["value"]) << name;
  }
  EXPECT_GT(still, 10);
  EXPECT_GT(constant, 30);
  // Eden's use moves without a collection exactly where hsperf says so.
  constexpr const char* kEden = "sun.gc.generation.0.space.0.used";
  if (freshness(first[kEden]) != "gc") {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (counters(*jvm)[kEden]["value"] == first[kEden]["value"] && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_NE(counters(*jvm)[kEden]["value"], first[kEden]["value"]);
  }
  must(jvm->ask("gc 1"));
  auto third = counters(*jvm);
  EXPECT_GT(third["sun.gc.collector.1.invocations"]["value"], second["sun.gc.collector.1.invocations"]["value"]);
  EXPECT_NE(third["sun.gc.collector.1.lastExitTime"]["value"], second["sun.gc.collector.1.lastExitTime"]["value"]);
}

TEST_P(Meaning, UnitsAreWhatTheNumbersAre) {
  const double before = static_cast<double>(realtime_ns()) / 1e9;
  auto jvm = must(JvmProcess::start(GetParam(), "Workload", {.flags = {"-XX:+UseSerialGC", "-Xmn16m"}}));
  must(jvm->ask("garbage 100"));
  must(jvm->ask("gc 2"));
  auto all = counters(*jvm);
  const double after = static_cast<double>(realtime_ns()) / 1e9;
  // Milliseconds since the epoch, declared without a unit.
  const double begun = seconds(all["sun.rt.createVmBeginTime"]), ready = seconds(all["sun.rt.vmInitDoneTime"]);
  EXPECT_GE(begun, before - 1);
  EXPECT_GE(ready, begun);
  EXPECT_LE(ready, after + 1);
  // Ticks of the JVM's clock.
  for (const char* name : {"sun.gc.collector.0.time", "sun.gc.collector.1.time", "sun.gc.collector.1.lastExitTime",
                           "sun.rt.safepointTime", "sun.cls.time"}) {
    EXPECT_GT(seconds(all[name]), 0) << name;
    EXPECT_LE(seconds(all[name]), after - before + 1) << name;
  }
  // CPU time in ns, declared as ticks (22 and later).
  if (all.contains("sun.threads.total_gc_cpu_time")) {
    EXPECT_LE(seconds(all["sun.threads.total_gc_cpu_time"]), after - before + 1);
  }
  // A number of compiler threads, declared as bytes.
  EXPECT_EQ(all["sun.ci.threads"].value("units", ""), "");
  // Heap words, declared as bytes: what was allocated in TLABs before the last collection is at most a young space.
  const json& tlab = all["sun.gc.tlab.alloc"];
  EXPECT_EQ(tlab["units"], "bytes");
  EXPECT_EQ(tlab["value"].get<std::int64_t>(), tlab["raw"].get<std::int64_t>() * 8);
}

TEST_P(Meaning, DamagedFilesAreRefusedOrReadAndNothingWorse) {
  auto jvm = must(JvmProcess::start(GetParam(), "Workload"));
  const auto done =
      must(run_command({tools_folder() + "/perfdata_mutations", counter_file(*jvm), "3000", "1", "2000"}));
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  EXPECT_THAT(done.out, ::testing::HasSubstr("3000 damaged files: "));
}

}  // namespace
}  // namespace jtrace::test
