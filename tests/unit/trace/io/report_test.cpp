// The report: its data agree with the trace, and stay small for any trace.
#include "trace/io/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "trace/io/report_page.h"

namespace jtrace::trace::io {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kSecond = 1'000'000'000;

void head(EventSink& sink) {
  EXPECT_TRUE(
      sink.write(AgentCreate{.agentId = "a", .processIdRef = "p", .agentName = "jtrace", .time = Time(kSecond)}));
  EXPECT_TRUE(sink.write(TraceStart{.traceId = "t", .agentIdRef = "a", .time = Time(kSecond)}));
}

TEST(Report, TreeOfCallsWithTheirOwnTimeAndAllocations) {
  ReportCollector report;
  head(report);
  EXPECT_TRUE(report.write(MethodDef{.name = "outer", .methodId = MethodId(1)}));
  EXPECT_TRUE(report.write(MethodDef{.name = "inner", .methodId = MethodId(2)}));
  for (std::uint64_t i = 0; i < 2; ++i) {
    const std::uint64_t at = (2 + i) * kSecond;
    EXPECT_TRUE(report.write(MethodEntry{.threadIdRef = ThreadId(1),
                                         .time = Time(at),
                                         .methodIdRef = MethodId(1),
                                         .ticket = 2 * i + 1,
                                         .threadCpuTime = 100}));
    EXPECT_TRUE(report.write(MethodEntry{.threadIdRef = ThreadId(1),
                                         .time = Time(at + 10),
                                         .methodIdRef = MethodId(2),
                                         .ticket = 2 * i + 2,
                                         .threadCpuTime = 110}));
    EXPECT_TRUE(report.write(ObjAlloc{.threadIdRef = ThreadId(1), .size = 16}));
    EXPECT_TRUE(report.write(MethodExit{.threadIdRef = ThreadId(1),
                                        .time = Time(at + 40),
                                        .ticket = 2 * i + 2,
                                        .threadCpuTime = 115,
                                        .methodIdRef = MethodId(2)}));
    EXPECT_TRUE(report.write(MethodExit{.threadIdRef = ThreadId(1),
                                        .time = Time(at + 100),
                                        .ticket = 2 * i + 1,
                                        .threadCpuTime = 150,
                                        .methodIdRef = MethodId(1)}));
  }
  EXPECT_TRUE(report.write(ObjAlloc{.threadIdRef = ThreadId(1), .size = 8, .contextData = "x/A.leaf:7;x/A.root:3"}));
  ASSERT_TRUE(report.finish());
  const json all = json::parse(report_json(report, {.title = "</script>"}, 1));
  EXPECT_EQ(all["title"], "</script>");
  const json& flame = all["processes"][0]["flame"];
  EXPECT_EQ(flame["names"], json({"all", "outer", "inner", "x.A.root", "x.A.leaf"}));
  // parent, name, calls, wall, cpu, bytes, samples
  EXPECT_EQ(flame["nodes"], json({0,  0,  0, 200, 100, 40, 0, 0, 1, 2, 200, 100, 32, 0, 1, 2, 2, 60,
                                  10, 32, 0, 0,   3,   0,  0, 0, 8, 0, 3,   4,   0,  0, 0, 8, 0}));
  EXPECT_THAT(report_json(report, {.title = "</script>"}, 1), Not(HasSubstr("</script>")));
}

// 60 long calls of one method, and 3 shorter ones of another.
TEST(Report, TheCallsOfOneMethodDoNotHideTheOthers) {
  ReportCollector report;
  head(report);
  EXPECT_TRUE(report.write(MethodDef{.name = "naps", .methodId = MethodId(1)}));
  EXPECT_TRUE(report.write(MethodDef{.name = "works", .methodId = MethodId(2)}));
  for (std::uint64_t i = 0; i < 63; ++i) {
    const std::uint64_t at = (2 + i) * kSecond, method = i < 60 ? 1 : 2;
    EXPECT_TRUE(report.write(
        MethodEntry{.threadIdRef = ThreadId(1), .time = Time(at), .methodIdRef = MethodId(method), .ticket = i + 1}));
    EXPECT_TRUE(report.write(MethodExit{.threadIdRef = ThreadId(1),
                                        .time = Time(at + kSecond / (method + 1)),
                                        .ticket = i + 1,
                                        .methodIdRef = MethodId(method)}));
  }
  ASSERT_TRUE(report.finish());
  const json calls = json::parse(report_json(report, {.title = ""}, 1))["processes"][0]["calls"];
  EXPECT_EQ(calls["slowCalls"].size(), 63u);
  ASSERT_EQ(calls["slowCallsFirst"].size(), 20u);
  std::size_t works = 0;
  for (const json& place : calls["slowCallsFirst"])
    works += calls["slowCalls"][place.get<std::size_t>()]["method"] == "works";
  EXPECT_EQ(works, 3u);
}

TEST(Report, TheHeapOfAPollSaysWhatItLacks) {
  ReportCollector report;
  head(report);
  EXPECT_TRUE(report.write(Option{.key = "hsperf.gcInterval", .value = "10000000", .traceIdRef = "t"}));
  EXPECT_TRUE(report.write(GcStart{.time = Time(2 * kSecond)}));
  EXPECT_TRUE(report.write(GcFinish{.time = Time(3 * kSecond), .usedObjectSpace = 7}));
  ASSERT_TRUE(report.finish());
  const json gc = json::parse(report_json(report, {.title = ""}, 1))["processes"][0]["gc"];
  EXPECT_THAT(gc["heapNote"], HasSubstr("the heap after a pause was read up to 10 ms after it"));
}

TEST(Report, LanesAreThinnedOutWithoutLosingTime) {
  Lane lane;
  std::uint64_t blocked = 0, waiting = 0;
  for (std::uint64_t i = 0; i < 1001; ++i) {
    lane.bars.push_back(
        {.start = i * 100, .end = i * 100 + 50, .blocked = i % 2 == 0 ? 50u : 0u, .waiting = i % 2 == 0 ? 0u : 50u});
    (i % 2 == 0 ? blocked : waiting) += 50;
  }
  lane.thin_out(100);
  EXPECT_LE(lane.bars.size(), 100u);
  for (const LaneBar& bar : lane.bars) {
    blocked -= bar.blocked;
    waiting -= bar.waiting;
    EXPECT_LE(bar.blocked + bar.waiting, bar.end - bar.start);
  }
  EXPECT_EQ(blocked, 0u);
  EXPECT_EQ(waiting, 0u);
  EXPECT_EQ(lane.bars.front().start, 0u);
  EXPECT_EQ(lane.bars.back().end, 100'050u);
}

TEST(Report, ALaneSaysWhereEventsOfItsThreadWereLost) {
  ReportCollector report;
  head(report);
  const auto lose = [&](const Gap& gap) {
    EXPECT_TRUE(report.write(Option{.key = std::string(kGapKey), .value = gap_text(gap), .traceIdRef = "t"}));
  };
  EXPECT_TRUE(report.write(ThreadStart{.threadId = ThreadId(7), .time = Time(2 * kSecond), .threadName = "worker"}));
  lose({.thread = 7, .from = 3 * kSecond, .to = 4 * kSecond, .lost = 17});
  lose({.thread = 7, .lost = 5});  // when, is not known
  lose({.from = 5 * kSecond});     // the end of the document
  EXPECT_TRUE(report.write(ThreadEnd{.threadIdRef = ThreadId(7), .time = Time(6 * kSecond)}));
  EXPECT_TRUE(report.finish());
  const json threads = json::parse(report_json(report, {}, 1))["processes"][0]["threads"];
  const std::uint64_t start =
      std::stoull(json::parse(report_json(report, {}, 1))["processes"][0]["start"].get<std::string>());
  const auto at = [&](std::uint64_t time) { return (time - start) / 1000; };
  EXPECT_EQ(threads["rows"][0]["lost"], json({at(3 * kSecond), at(4 * kSecond)}));
  EXPECT_EQ(threads["lost"], json({at(5 * kSecond), at(6 * kSecond)})) << "until the end";
}

TEST(Report, LossesThatOverlapAreOne) {
  Lane lane;
  lane.lost = {{200, 500}, {100, 900}, {2000, kNoEnd}, {1000, 1100}, {3000, 3100}};
  lane.join_losses(10);
  ASSERT_EQ(lane.lost.size(), 3u);
  EXPECT_EQ(lane.lost[0].from, 100u);
  EXPECT_EQ(lane.lost[0].to, 900u);
  EXPECT_EQ(lane.lost[2].from, 2000u);
  EXPECT_EQ(lane.lost[2].to, kNoEnd);
}

TEST(Report, OfTooManyLossesTheNearestAreJoined) {
  Lane lane;
  for (std::uint64_t i = 0; i < 100; ++i) lane.lost.push_back({i * 100, i * 100 + 50});
  lane.lost.push_back({50'000, 50'010});
  lane.join_losses(2);
  ASSERT_EQ(lane.lost.size(), 2u);
  EXPECT_EQ(lane.lost[0].to, 9'950u);
  EXPECT_EQ(lane.lost[1].from, 50'000u);
}

TEST(Report, ThePageStaysSmall) {
  ReportCollector report;
  head(report);
  const std::string name(200, 'n');
  for (std::uint64_t id = 1; id <= 20'000; ++id)
    EXPECT_TRUE(report.write(MethodDef{.name = name + std::to_string(id), .methodId = MethodId(id)}));
  std::uint64_t time = 2 * kSecond;
  for (std::uint64_t thread = 1; thread <= 300; ++thread) {
    EXPECT_TRUE(report.write(ThreadStart{.threadId = ThreadId(thread), .time = Time(time), .threadName = name}));
    for (std::uint64_t i = 0; i < 200; ++i) {
      EXPECT_TRUE(report.write(MethodEntry{.threadIdRef = ThreadId(thread),
                                           .time = Time(++time),
                                           .methodIdRef = MethodId(1 + (thread * 200 + i) % 20'000)}));
      EXPECT_TRUE(report.write(
          MonWait{.threadIdRef = ThreadId(thread), .time = Time(time += 1'000'003), .objIdRef = ObjectId::sleep()}));
      EXPECT_TRUE(report.write(
          MonWaited{.threadIdRef = ThreadId(thread), .time = Time(time += 2'000'003), .objIdRef = ObjectId::sleep()}));
    }
  }
  EXPECT_TRUE(report.write(TraceEnd{.traceIdRef = "t", .time = Time(time)}));
  ASSERT_TRUE(report.finish());
  MemorySink bytes;
  ASSERT_TRUE(report.write(bytes, {.title = "large"}));
  ASSERT_TRUE(bytes.flush());
  EXPECT_LE(bytes.text().size(), kMaxPage);
  EXPECT_GT(bytes.text().size(), kMaxPage / 4);
  EXPECT_THAT(bytes.text(), Not(HasSubstr(std::string(kReportDataMark))));
  const std::size_t from = bytes.text().find("id=\"data\">") + 10;
  const json all = json::parse(bytes.text().substr(from, bytes.text().find("</script>", from) - from));
  EXPECT_EQ(all["processes"][0]["threads"]["all"], 300);
}

TEST(Report, DeadlocksOfASnapshotAndItsSamples) {
  ReportCollector report;
  head(report);
  EXPECT_TRUE(report.write(Option{.key = "jtrace.kind", .value = "snapshot"}));
  for (std::uint64_t id = 1; id <= 4; ++id) {
    EXPECT_TRUE(report.write(ThreadStart{.threadId = ThreadId(id), .threadName = "t" + std::to_string(id)}));
    EXPECT_TRUE(report.write(MethodEntry{.threadIdRef = ThreadId(id), .methodIdRef = MethodId(7)}));
  }
  // 1 -> 2 -> 3 -> 2: only 2 and 3 are in the cycle; 4 waits for no thread.
  for (const auto& [thread, owner] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1, 2}, {2, 3}, {3, 2}})
    EXPECT_TRUE(report.write(
        MonContendedEnter{.threadIdRef = ThreadId(thread), .objIdRef = ObjectId(1), .threadOwner = ThreadId(owner)}));
  EXPECT_TRUE(report.write(TraceEnd{.traceIdRef = "t", .time = Time(2 * kSecond)}));
  ASSERT_TRUE(report.finish());
  const json process = json::parse(report_json(report, {}, 1))["processes"][0];
  EXPECT_EQ(process["stacks"]["deadlocks"], json::array({json({"t2", "t3"})}));
  EXPECT_EQ(process["flame"]["nodes"].size(), 14u);
  EXPECT_EQ(process["flame"]["nodes"][13], 4);  // samples
  EXPECT_FALSE(process.contains("monitors"));
}

TEST(Report, CutStacksOfASnapshotHaveARootThatSaysSo) {
  ReportCollector report;
  head(report);
  EXPECT_TRUE(report.write(Option{.key = "jtrace.kind", .value = "snapshot"}));
  EXPECT_TRUE(report.write(MethodEntry{.threadIdRef = ThreadId(1), .methodIdRef = MethodId(7)}));
  EXPECT_TRUE(report.write(Option{.key = "jtrace.cutStack", .value = "2"}));
  EXPECT_TRUE(report.write(MethodEntry{.threadIdRef = ThreadId(2), .methodIdRef = MethodId(7)}));
  EXPECT_TRUE(report.write(TraceEnd{.traceIdRef = "t", .time = Time(2 * kSecond)}));
  ASSERT_TRUE(report.finish());
  const json process = json::parse(report_json(report, {}, 1))["processes"][0];
  EXPECT_EQ(process["flame"]["nodes"].size(), 4 * 7u) << "the root, the method, the cut, the method in it";
  EXPECT_THAT(process["flame"].dump(), HasSubstr("[cut stack]"));
}

}  // namespace
}  // namespace jtrace::trace::io
