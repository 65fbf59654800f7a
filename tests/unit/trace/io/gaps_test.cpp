// A document with reports of losses: every reader of calls closes there what is open, and continues without it. One
// thread is in outer and inner when it loses events from 2.5 to 4.0 s; its later calls have unknown callers. Another
// thread loses nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "trace/io/converter.h"
#include "trace/io/open_source.h"
#include "trace/io/report.h"
#include "trace/io/statistics.h"
#include "trace/io/validator.h"
#include "trace/xml_writer.h"

namespace jtrace::trace::io {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using Counts = std::map<std::string, std::uint64_t>;

constexpr std::string_view kHead =
    "<TRACE>\n<node nodeId=\"n\" hostname=\"h\" ipaddress=\"\"/>\n"
    "<processCreate processId=\"p\" pid=\"4\" nodeIdRef=\"n\" time=\"1.0\"/>\n"
    "<agentCreate agentId=\"a\" processIdRef=\"p\" agentName=\"jtrace\" time=\"1.0\"/>\n"
    "<traceStart traceId=\"t\" agentIdRef=\"a\" time=\"1.0\"/>\n<option key=\"jtrace.gaps\" value=\"by thread\"/>\n"
    "<threadStart threadId=\"1\" time=\"1.0\" threadName=\"one\"/>\n"
    "<threadStart threadId=\"2\" time=\"1.0\" threadName=\"two\"/>\n<classDef name=\"A\" classId=\"1\"/>\n"
    "<methodDef name=\"outer\" methodId=\"1\" classIdRef=\"1\"/>\n"
    "<methodDef name=\"inner\" methodId=\"2\" classIdRef=\"1\"/>\n"
    "<methodDef name=\"later\" methodId=\"3\" classIdRef=\"1\"/>\n";
constexpr std::string_view kTail =
    "<traceEnd traceIdRef=\"t\" time=\"9.0\"/>\n<agentDestroy agentIdRef=\"a\" time=\"9.0\"/>\n</TRACE>\n";
constexpr std::string_view kBefore =
    "<methodEntry threadIdRef=\"1\" time=\"2.000000000\" methodIdRef=\"1\" ticket=\"1\"/>\n"
    "<methodEntry threadIdRef=\"1\" time=\"2.250000000\" methodIdRef=\"2\" ticket=\"2\"/>\n"
    "<methodEntry threadIdRef=\"2\" time=\"2.250000000\" methodIdRef=\"1\" ticket=\"1\"/>\n";
constexpr std::string_view kGap =
    "<option key=\"jtrace.gap\" value=\"thread=1,from=2.500000000,to=4.000000000,lost=17\"/>\n"
    "<option key=\"jtrace.dropped\" value=\"17\"/>\n";
constexpr std::string_view kAfter =
    "<methodEntry threadIdRef=\"1\" time=\"4.000000000\" methodIdRef=\"3\" ticket=\"3\"/>\n"
    "<methodExit threadIdRef=\"1\" methodIdRef=\"3\" ticket=\"3\" time=\"5.000000000\"/>\n"
    "<methodExit threadIdRef=\"2\" methodIdRef=\"1\" ticket=\"1\" time=\"6.000000000\"/>\n";

std::string document(std::string_view events) { return std::string(kHead).append(events).append(kTail); }
std::string lossy() { return document(std::string(kBefore).append(kGap).append(kAfter)); }

Result<> feed(std::string_view text, EventSink& sink, FaultLog& faults) {
  auto source = make_event_source(std::move(*memory_byte_source(text)), "in", faults);
  if (!source) return fail(source.error());
  if (auto* validator = dynamic_cast<Validator*>(&sink)) validator->set_source(source->get());
  JTRACE_RETURN_IF_ERROR((*source)->read(sink));
  return sink.finish();
}
Counts faults_of(std::string_view text) {
  FaultLog faults;
  Validator validator("in", faults);
  EXPECT_TRUE(feed(text, validator, faults));
  const auto& counts = faults.counts();
  return {counts.begin(), counts.end()};
}
template <class Make>
std::string converted(std::string_view text, Make make) {
  MemorySink bytes;
  FaultLog faults;
  auto writer = make(bytes);
  EXPECT_TRUE(feed(text, *writer, faults));
  return bytes.text();
}

TEST(Gaps, OfStacksThatExisted) {
  const auto collapsed = [](std::string_view text) {
    return converted(text, [](ByteSink& bytes) { return make_collapsed_writer(bytes, Weight::kWall); });
  };
  EXPECT_EQ(collapsed(lossy()),
            "one;A.outer 250000000\none;A.outer;A.inner 250000000\ntwo;A.outer 3750000000\n"
            "one;(callers not known);A.later 1000000000\n");
  // A second call is placed below `(callers not known)` again.
  const std::string twice =
      document(std::string(kBefore).append(kGap).append(kAfter) +
               "<methodEntry threadIdRef=\"1\" time=\"6.000000000\" methodIdRef=\"3\" ticket=\"4\"/>\n"
               "<methodEntry threadIdRef=\"1\" time=\"6.000000000\" methodIdRef=\"2\" ticket=\"5\"/>\n");
  EXPECT_THAT(collapsed(twice), HasSubstr("one;(callers not known);A.later;A.inner 3000000000\n"));
  EXPECT_THAT(collapsed(twice), HasSubstr("one;(callers not known);A.later 1000000000\n"));
}

TEST(Gaps, InTheReport) {
  ReportCollector report;
  FaultLog faults;
  ASSERT_TRUE(feed(lossy(), report, faults));
  const CallTree& tree = *report.tree(report.by_scope()[0]);
  std::map<std::string, std::uint64_t> wall;
  for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
    std::string path;
    for (std::size_t at = i; at != 0; at = tree.nodes[at].parent) path = ";" + tree.names[tree.nodes[at].name] + path;
    wall[path] = tree.nodes[i].wall;
  }
  EXPECT_EQ(wall, (std::map<std::string, std::uint64_t>{{";A.outer", 4'000'000'000},
                                                        {";A.outer;A.inner", 250'000'000},
                                                        {";(callers not known)", 0},
                                                        {";(callers not known);A.later", 1'000'000'000}}));
}

TEST(Gaps, InStatistics) {
  Statistics statistics;
  FaultLog faults;
  ASSERT_TRUE(feed(document("<monWait threadIdRef=\"1\" time=\"1.5\" objIdRef=\"0\"/>\n" + std::string(kGap)),
                   statistics, faults));
  EXPECT_EQ(statistics.by_scope()[0].threads.at(1).waiting.total, 1'000'000'000u);
  Statistics calls;
  ASSERT_TRUE(feed(lossy(), calls, faults));
  const ScopeStatistics& all = calls.by_scope()[0];
  EXPECT_EQ(all.methods.at(1).total, 4'250'000'000u);
  EXPECT_EQ(all.methods.at(1).self, 4'000'000'000u);
  EXPECT_EQ(all.methods.at(2).total, 250'000'000u);
  EXPECT_EQ(all.methods.at(3).total, 1'000'000'000u);
  EXPECT_EQ(calls.calls().closed_by_gaps(), 2u);
  EXPECT_EQ(calls.calls().closed_at_end(), 0u);
  EXPECT_EQ(all.gaps, 1u);
  EXPECT_EQ(all.scope->losses.events, 17u);
  EXPECT_THAT(statistics_text(calls, 5), HasSubstr("2 open where events were lost"));
  EXPECT_THAT(statistics_text(calls, 5), HasSubstr("gaps: 1, 1.500000 s of all threads together"));
}

TEST(Gaps, OnTimelines) {
  const json speedscope =
      json::parse(converted(lossy(), [](ByteSink& bytes) { return make_speedscope_writer(bytes, "in"); }));
  const json& frames = speedscope["shared"]["frames"];
  std::string steps;
  for (const json& step : speedscope["profiles"][0]["events"])
    steps += step["type"].get<std::string>() + " " +
             frames[step["frame"].get<std::size_t>()]["name"].get<std::string>() + " " +
             std::to_string(step["at"].get<std::uint64_t>() / 1'000'000) + "\n";
  EXPECT_EQ(steps,
            "O A.outer 0\nO A.inner 250\nC A.inner 500\nC A.outer 500\nO (events lost) 500\nC (events lost) 2000\n"
            "O A.later 2000\nC A.later 3000\n");
  const std::string waits = document("<monWait threadIdRef=\"1\" time=\"1.5\" objIdRef=\"0\"/>\n" + std::string(kGap) +
                                     "<monWaited threadIdRef=\"1\" time=\"8.0\" objIdRef=\"0\"/>\n");
  const json chrome = json::parse(converted(waits, [](ByteSink& bytes) { return make_chrome_writer(bytes); }));
  std::string bars;
  for (const json& each : chrome["traceEvents"])
    if (each["ph"] == "X")
      bars += each["name"].get<std::string>() + " " + std::to_string(each["dur"].get<double>() / 1e6) + "\n";
  EXPECT_EQ(bars, "waiting 1.000000\n(events lost) 1.500000\n");
}

TEST(Gaps, AreSoundAndOthersAreFaults) {
  EXPECT_EQ(faults_of(lossy()), Counts());
  const std::string ends = "<threadEnd threadIdRef=\"1\" time=\"7.0\"/>\n<threadEnd threadIdRef=\"2\" time=\"7.0\"/>\n";
  EXPECT_EQ(faults_of(document(std::string(kBefore).append(kGap).append(kAfter) + ends)), Counts());
  // An end is missing without a report, or the report is another thread's gap.
  EXPECT_EQ(faults_of(document(std::string(kBefore).append(kAfter) + ends)), (Counts{{"unbalanced", 1}}));
  EXPECT_EQ(faults_of(document(std::string(kBefore) +
                               "<option key=\"jtrace.gap\" value=\"thread=2,from=2.500000000,lost=1\"/>\n" +
                               std::string(kAfter) + ends)),
            (Counts{{"unbalanced", 1}}));
  // If gaps are reported by thread, the sum closes nothing.
  EXPECT_EQ(faults_of(document(std::string(kBefore) + "<option key=\"jtrace.dropped\" value=\"1\"/>\n" +
                               std::string(kAfter) + ends)),
            (Counts{{"unbalanced", 1}}));
  // A gap without a thread applies to all threads.
  EXPECT_EQ(faults_of(document(std::string(kBefore) + "<option key=\"jtrace.gap\" value=\"lost=1\"/>\n" +
                               std::string(kAfter) + ends)),
            Counts());
}

// System.exit: the JVM ends this thread where it is, and no other.
TEST(Gaps, AThreadThatEndsTheJvmEndsWithinItsCalls) {
  const std::string exit = "<option key=\"jtrace.exit\" value=\"1\"/>\n";
  const std::string one = "<threadEnd threadIdRef=\"1\" time=\"7.0\"/>\n";
  const std::string two = "<threadEnd threadIdRef=\"2\" time=\"7.0\"/>\n";
  EXPECT_EQ(faults_of(document(std::string(kBefore) + one)), (Counts{{"unbalanced", 1}}));
  EXPECT_EQ(faults_of(document(std::string(kBefore) + exit + one)), Counts());
  EXPECT_EQ(faults_of(document(std::string(kBefore) + exit + one + two)), (Counts{{"unbalanced", 1}}));
}

// What a thread does while the trace is paused is not recorded.
TEST(Gaps, APauseEndsCallsToo) {
  const std::string paused = std::string(kBefore) +
                             "<option key=\"jtrace.paused\" value=\"true\"/>\n"
                             "<option key=\"jtrace.paused\" value=\"false\"/>\n"
                             "<methodEntry threadIdRef=\"1\" time=\"4.000000000\" methodIdRef=\"3\" ticket=\"3\"/>\n"
                             "<methodExit threadIdRef=\"1\" methodIdRef=\"3\" ticket=\"3\" time=\"5.000000000\"/>\n"
                             "<threadEnd threadIdRef=\"1\" time=\"7.0\"/>\n";
  EXPECT_EQ(faults_of(document(paused)), Counts());
  EXPECT_THAT(converted(document(paused), [](ByteSink& bytes) { return make_collapsed_writer(bytes, Weight::kWall); }),
              HasSubstr("one;(callers not known);A.later 1000000000\n"));
}

// A thread may end while the callouts are removed, before traceEnd.
TEST(Gaps, TheEndOfTheCalloutsEndsCallsToo) {
  const std::string ended =
      std::string(kBefore) + "<option key=\"jtrace.callsEnd\" value=\"2.600000000\"/>\n" +
      "<threadEnd threadIdRef=\"1\" time=\"7.0\"/>\n<threadEnd threadIdRef=\"2\" time=\"7.0\"/>\n";
  EXPECT_EQ(faults_of(document(ended)), Counts());
}

TEST(Gaps, GoThroughOtherFormats) {
  const std::string counts =
      lossy().insert(lossy().find("<traceEnd"),
                     "<methodCount count=\"3\" methodIdRef=\"1\"/>\n<methodCount count=\"5\" methodIdRef=\"2\"/>\n");
  const auto jsonl = converted(counts, [](ByteSink& bytes) { return make_jsonl_writer(bytes); });
  EXPECT_EQ(faults_of(jsonl), Counts());
  EXPECT_THAT(jsonl, HasSubstr("thread=1,from=2.500000000,to=4.000000000,lost=17"));
  const auto sddf = converted(counts, [](ByteSink& bytes) { return make_sddf_writer(bytes); });
  EXPECT_EQ(faults_of(sddf), Counts());
  MemorySink bytes;
  XmlWriter back(bytes, {.form = XmlForm::kFragments});
  FaultLog faults;
  ASSERT_TRUE(feed(sddf, back, faults));
  EXPECT_THAT(bytes.text(), HasSubstr("value=\"thread=1,from=2.500000000,to=4.000000000,lost=17\""));
  EXPECT_THAT(bytes.text(), HasSubstr("<methodDef name=\"inner\""));
  EXPECT_THAT(bytes.text(), Not(HasSubstr("<methodDef name=\"later\"")));
}

}  // namespace
}  // namespace jtrace::trace::io
