// gcStart...gcFinish is one stop-the-world pause: their number is that of the JVM's own log, with every collector.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "base/file.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

class EachCollector : public ::testing::TestWithParam<JdkAndCollector> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachCollector);
INSTANTIATE_TEST_SUITE_P(Jdks, EachCollector, ::testing::ValuesIn(jdks_and_collectors()), NameOf());

std::vector<std::string> log_flags(int version) {
  if (version >= 9) return {"-Xlog:gc*=info,safepoint=info:file=gc.log:tm,tg"};
  return {"-XX:+PrintGCDetails", "-XX:+PrintGCApplicationStoppedTime", "-Xloggc:gc.log"};
}

// The pauses in a log, each with the time at which it first appears there (ms since the epoch; 0 in the log of JDK 8).
// A young and a full collection within one safepoint are one pause, except with G1 (`each_collection`), which reports
// each collection to JVM TI (SvcGCMarker is in do_collection_pause_at_safepoint_helper and G1FullGCScope; other
// collectors have it in the VM operation). JDK 8's G1 does not report cleanup (there VM_CGC_Operation has no
// SvcGCMarker, only remark has), so it is left out.
std::vector<std::uint64_t> pauses_in(const std::string& log, bool each_collection = false) {
  static const std::regex kPause(
      R"(\[gc(?:,start|,phases|,phases,start)? *\] *(GC\(\d+\))?.* Pause |^[0-9.]+: \[(?:Full )?GC (?!concurrent|cleanup))");
  static const std::regex kSafepointEnd(R"(Safepoint "|Leaving safepoint|application threads were stopped)");
  std::vector<std::uint64_t> pauses;
  std::set<std::string> seen;  // in this safepoint
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, kPause) && seen.insert(each_collection ? match[1].str() : "").second)
      pauses.push_back(line.starts_with('[') ? std::strtoull(line.c_str() + 1, nullptr, 10) : 0);
    if (std::regex_search(line, kSafepointEnd)) seen.clear();
  }
  return pauses;
}

std::vector<std::uint64_t> pauses_so_far(const JvmProcess& jvm, Collector collector) {
  const auto log = read_file(jvm.in_working_folder("gc.log"));
  return log ? pauses_in(*log, collector == Collector::kG1) : std::vector<std::uint64_t>();
}

// The number of logged pauses between the first and the last pause of the trace; a concurrent collector may pause again
// after the end of the trace. The log's line of the last pause may come a moment after its event: then the trace may
// have one more. For JDK 8, whose log has no such times: the pauses after the first `before`.
struct Logged {
  int pauses = 0;
  int late = 0;  // 1: the trace's last pause may be missing in the log
};
Logged logged_beside(const TraceDocument& trace, const std::vector<std::uint64_t>& logged, std::size_t before,
                     int version) {
  if (version < 9) return {static_cast<int>(logged.size() - before)};
  const auto starts = trace.all("gcStart");
  if (starts.empty()) return {};
  // The log's clock is in milliseconds and read later than the trace's; before the first command there is no
  // collection.
  const std::uint64_t first = nanoseconds_of(starts.front()->get("time")) / 1'000'000 - 2;
  const std::uint64_t last = nanoseconds_of(trace.all("gcFinish").back()->get("time")) / 1'000'000;
  constexpr std::uint64_t kLate = 50;  // ms by which a busy machine may delay the writer of the log
  Logged found;
  for (const std::uint64_t time : logged) {
    found.pauses += time >= first && time <= last;
    if (time > last && time <= last + kLate) found.late = 1;
  }
  return found;
}

// For the message of a failure: the trace's pauses and the log's.
std::string both_sides(const TraceDocument& trace, const JvmProcess& jvm) {
  std::string text = "traced (ms):";
  for (const TraceElement* start : trace.all("gcStart"))
    text += " " + std::to_string(nanoseconds_of(start->get("time")) / 1'000'000);
  return text + "\nlogged:\n" + read_file(jvm.in_working_folder("gc.log")).value_or("");
}

TEST(GcLog, IsReadAsItIsWritten) {
  EXPECT_EQ(pauses_in("[1700ms][gc,start] GC(0) Pause Young (System.gc())\n[1700ms][gc      ] GC(0) Pause Young 1ms\n"
                      "[1700ms][gc] GC(1) Pause Full (System.gc()) 3ms\n[1700ms][safepoint] Safepoint \"X\", T\n"
                      "[1700ms][safepoint] Safepoint \"Cleanup\", T\n"),
            std::vector<std::uint64_t>{1700});
  EXPECT_EQ(
      pauses_in("[5ms][gc,start] GC(0) Pause Young (Normal)\n[6ms][gc] GC(0) Pause Young (Normal) 1ms\n"
                "[7ms][gc,start] GC(1) Pause Full\n[9ms][gc] GC(1) Pause Full 3ms\n[9ms][safepoint] Safepoint \"X\"\n",
                true),
      (std::vector<std::uint64_t>{5, 7}));
  EXPECT_EQ(
      pauses_in("1.234: [GC (System.gc()) 1K->2K]\n1.2: [Full GC (System.gc())]\n"
                "1.3: Total time for which application threads were stopped: 0.1 s\n"
                "1.4: [GC concurrent-mark-start]\n1.4: Total time for which application threads were stopped: 0.1 s\n"),
      std::vector<std::uint64_t>{0});
}

TEST_P(EachCollector, AsManyPausesAsTheJvmLogs) {
  const auto& [jdk, collector] = GetParam();
  std::vector<std::string> flags = jdk.collector_flags(collector);
  for (const std::string& flag : log_flags(jdk.version)) flags.push_back(flag);
  TracedJvm jvm(jdk, "Workload", {}, attachable(jdk, flags));
  const std::size_t before = pauses_so_far(jvm.process(), collector).size();
  jvm.ask_each({"gc 3", "garbage 300", "gc 1"});
  const TraceDocument trace = jvm.finish();
  const Logged logged = logged_beside(trace, pauses_so_far(jvm.process(), collector), before, jdk.version);
  const int traced = static_cast<int>(trace.count("gcStart"));
  EXPECT_GE(logged.pauses, 4);
  EXPECT_GE(traced, logged.pauses) << both_sides(trace, jvm.process());
  EXPECT_LE(traced, logged.pauses + logged.late) << both_sides(trace, jvm.process());
  EXPECT_EQ(static_cast<int>(trace.count("gcFinish")), traced);
  int with_figures = 0;
  for (const TraceElement* finish : trace.all("gcFinish")) {
    // The next pause may have come before the total was asked for; what is used is read in the pause.
    if (finish->get("totalObjectSpace").empty()) continue;
    ++with_figures;
    EXPECT_LE(finish->number("usedObjectSpace"), finish->number("totalObjectSpace"));
  }
  EXPECT_GT(with_figures, 0);
  record_support(jdk, to_string(collector), "live", "gcStart and gcFinish as the JVM logs them");
}

// G1 reports such a collection to JVM TI twice, one pair within the other.
TEST_P(EachCollector, OnePauseForAFullMetaspace) {
  const auto& [jdk, collector] = GetParam();
  std::vector<std::string> flags = jdk.collector_flags(collector);
  flags.insert(flags.end(), {"-XX:MetaspaceSize=6m", "-Xmx100m"});
  TracedJvm jvm(jdk, "Workload", {"--events", "gc"}, attachable(jdk, flags));
  jvm.ask_each({"load 4000", "load 4000", "load 4000"});
  const TraceDocument trace = jvm.finish_valid();  // no gcStart within another
  EXPECT_GT(trace.count("gcStart"), 0u);
  EXPECT_EQ(trace.count("gcStart"), trace.count("gcFinish"));
}

}  // namespace
}  // namespace jtrace::test
