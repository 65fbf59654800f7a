// Two recordings compared: what is read of profiles, and that the figures and their scale are right.
#include "trace/io/trace_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "trace/option_keys.h"

namespace jtrace::trace::io {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

StackProfile collapsed(std::string_view text) {
  auto made = read_collapsed(text);
  EXPECT_TRUE(made);
  return made ? std::move(*made) : StackProfile();
}

json rows_of(const Difference& difference, const std::string& title) {
  const json all = json::parse(diff_json(difference, 1000));
  for (const json& table : all["data"])
    if (table["table"] == title) return table["rows"];
  return nullptr;
}

double value_of(const json& rows, const std::string& name, const char* key) {
  for (const json& row : rows)
    if (row["name"] == name) return row[key];
  ADD_FAILURE() << name << " is not in " << rows;
  return 0;
}

TEST(StackProfile, KnowsItsFormats) {
  EXPECT_EQ(profile_format("main;a b;c 12\nx 1\n"), ProfileFormat::kCollapsed);
  EXPECT_EQ(profile_format("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\""),
            ProfileFormat::kSpeedscope);
  EXPECT_EQ(profile_format("<?xml version=\"1.0\"?>"), ProfileFormat::kNone);
  EXPECT_EQ(profile_format("{\"view\":\"histogram\"}"), ProfileFormat::kNone);
  EXPECT_EQ(profile_format(""), ProfileFormat::kNone);
  EXPECT_EQ(profile_format("hello world\n"), ProfileFormat::kNone);
}

TEST(StackProfile, ReadsCollapsedStacks) {
  const StackProfile made = collapsed("main;a b;c 12\r\nmain;a b 3\n\nmain;a b;c 1");
  EXPECT_EQ(made.stacks, (std::map<std::string, double>{{"main;a b;c", 13}, {"main;a b", 3}}));
  EXPECT_EQ(made.total(), 16);
  const auto broken = read_collapsed("main 1\nmain\n");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message(), HasSubstr("line 2"));
}

TEST(Difference, LambdasOfTwoRunsMeet) {
  const Recording before = recording_of(collapsed("main;App$$Lambda$14/0x0000000800c03000.run;work 10\n"), "before");
  const Recording after = recording_of(collapsed("main;App$$Lambda$9/0x0000000801c04000.run;work 30\n"), "after");
  ASSERT_FALSE(after.tables.empty());
  EXPECT_EQ(before.stacks.stacks.begin()->first, after.stacks.stacks.begin()->first);
  for (const FigureTable& table : after.tables)
    for (const auto& [name, figure] : table.rows) EXPECT_EQ(name.find("0x"), std::string::npos) << name;
}

TEST(StackProfile, ReadsSpeedscopeOfBothTypes) {
  const auto made = read_speedscope(R"({"shared":{"frames":[{"name":"a"},{"name":"b"}]},"profiles":[
    {"type":"sampled","unit":"milliseconds","samples":[[0],[0,1]],"weights":[1,2]},
    {"type":"evented","unit":"seconds","startValue":0,"events":[{"type":"O","frame":0,"at":0},
     {"type":"O","frame":1,"at":1},{"type":"C","frame":1,"at":3},{"type":"C","frame":0,"at":4}]}]})");
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->unit, "ns");
  EXPECT_EQ(made->stacks, (std::map<std::string, double>{{"a", 2e9 + 1e6}, {"a;b", 2e9 + 2e6}}));
  EXPECT_FALSE(read_speedscope("{}"));
  const auto threads = read_speedscope(R"({"shared":{"frames":[{"name":"a;b"}]},"profiles":[
    {"type":"sampled","name":"one","unit":"none","samples":[[0]],"weights":[1]},
    {"type":"sampled","name":"two","unit":"none","samples":[[0],[]],"weights":[2,3]}]})");
  ASSERT_TRUE(threads) << threads.error().message();
  EXPECT_EQ(threads->stacks, (std::map<std::string, double>{{"one;a,b", 1}, {"two;a,b", 2}}));
  EXPECT_FALSE(read_speedscope(R"({"shared":{"frames":[]},"profiles":[{"samples":[[7]],"weights":[1]}]})"));
}

TEST(StackProfile, ARecursiveFrameCountsOnce) {
  const FrameWeights weights = weights_of(collapsed("m;f;f;g 5\nm;f 1\n"));
  EXPECT_EQ(weights.total, (std::map<std::string, double>{{"m", 6}, {"f", 6}, {"g", 5}}));
  EXPECT_EQ(weights.self, (std::map<std::string, double>{{"g", 5}, {"f", 1}}));
}

// Twice as long, and g twice its share: a has not changed.
TEST(TraceDiff, ProfilesAreScaledToTheSameNumberOfSamples) {
  const Recording before = recording_of(collapsed("m;f 40\nm;g 10\nm;a 50\n"), "b");
  const Recording after = recording_of(collapsed("m;f 60\nm;g 40\nm;a 100\n"), "a");
  const Difference scaled = compare(before, after, false);
  EXPECT_EQ(scaled.scale, 0.5);
  EXPECT_THAT(scaled.scaled_note, HasSubstr("shares are compared"));
  EXPECT_THAT(scaled.scaled_note, HasSubstr("200 samples"));
  const json rows = rows_of(scaled, "frames: by themselves");
  ASSERT_EQ(rows.size(), 2u) << rows;
  EXPECT_EQ(value_of(rows, "g", "change"), 10);
  EXPECT_EQ(value_of(rows, "f", "change"), -10);
  const Difference as_is = compare(before, after, true);
  EXPECT_EQ(as_is.scaled_note, "");
  EXPECT_EQ(value_of(rows_of(as_is, "frames: by themselves"), "a", "change"), 50);
}

TEST(TraceDiff, NamesTheCallersOfWhatHasChanged) {
  const Recording before = recording_of(collapsed("m;one;f 10\nm;two;f;f 20\nf 1\nm 69\n"), "b");
  const Recording after = recording_of(collapsed("m;one;f 50\nm;two;f 20\nf 1\nm 69\n"), "a");
  const Difference difference = compare(before, after, true);
  const std::string text = diff_text(difference, 10);
  EXPECT_THAT(text, HasSubstr("  f\n    called by one 10 -> 50, two 20 -> 20, 1 more\n"));
  EXPECT_THAT(diff_text(compare(after, before, true), 10), HasSubstr("called by one 50 -> 10, "));
  for (const json& row : rows_of(difference, "frames: by themselves")) {
    if (row["name"] != "f") continue;
    EXPECT_EQ(row["callers"][0], json::parse(R"({"name":"one","before":10.0,"after":50.0})"));
    EXPECT_EQ(row["callers"].size(), 3u);
    EXPECT_EQ(row["callers"][1]["before"], 20);
  }
  // The amounts of the caller are scaled as those of the row.
  const Recording longer = recording_of(collapsed("m;one;f 180\nm 20\n"), "l");
  EXPECT_THAT(diff_text(compare(before, longer, false), 10), HasSubstr("called by one 10 -> 90, two 20 -> 0, "));
}

// More was done in the same time.
TEST(TraceDiff, ProfilesThatKnowTheirTimeAreScaledByIt) {
  Recording before = recording_of(collapsed("m;f 40\n"), "b"),
            after = recording_of(collapsed("m;f 40\nm;g 400\n"), "a");
  before.seconds = 10;
  after.seconds = 10.1;
  const Difference alike = compare(before, after, false);
  EXPECT_EQ(alike.scale, 1);
  EXPECT_EQ(alike.scaled_note, "");
  after.seconds = 20;
  const Difference scaled = compare(before, after, false);
  EXPECT_EQ(scaled.scale, 0.5);
  EXPECT_THAT(scaled.scaled_note, HasSubstr("took 20.000 s"));
}

// In seconds after the begin: the last of two samples, and the end of the profile (0: it was cut off).
Recording samples_of(std::uint64_t seconds, std::uint64_t ended_after) {
  const auto collector = make_report_collector();
  const auto write = [&](const Event& event) { EXPECT_TRUE(collector->write(event)); };
  write(AgentCreate{.agentId = "a", .processIdRef = "p", .agentName = "jtrace", .time = Time(1)});
  for (std::uint64_t i = 0; i < 2; ++i) {
    const std::string trace = "t" + std::to_string(i);
    const Time at(1 + i * seconds * 1'000'000'000);
    write(TraceStart{.traceId = trace, .agentIdRef = "a", .time = at});
    write(Option{.key = "jtrace.kind", .value = "snapshot", .traceIdRef = trace});
    write(MethodDef{.name = "f", .methodId = MethodId(1), .traceIdRef = trace});
    write(MethodEntry{.threadIdRef = ThreadId(1), .time = at, .methodIdRef = MethodId(1), .traceIdRef = trace});
    write(TraceEnd{.traceIdRef = trace, .time = at});
  }
  if (ended_after != 0) write(AgentDestroy{.agentIdRef = "a", .time = Time(1 + ended_after * 1'000'000'000)});
  EXPECT_TRUE(collector->finish());
  return recording_of(*collector, "p.xml");
}

TEST(TraceDiff, AProfileWithoutSamplesIsOne) {
  const auto collector = make_report_collector();
  EXPECT_TRUE(collector->write(AgentCreate{.agentId = "a",
                                           .processIdRef = "p",
                                           .agentName = "jtrace inspect",
                                           .time = Time(1),
                                           .agentParameters = "profile hz=99 cpu"}));
  EXPECT_TRUE(collector->write(AgentDestroy{.agentIdRef = "a", .time = Time(1 + 3'000'000'000)}));
  EXPECT_TRUE(collector->finish());
  const Recording made = recording_of(*collector, "p.xml");
  EXPECT_EQ(made.kind, "profile");
  EXPECT_EQ(made.seconds, 3);
  EXPECT_TRUE(made.stacks.stacks.empty());
}

TEST(TraceDiff, ADocumentOfSamplesKnowsItsTime) {
  const Recording made = samples_of(3, 20);
  EXPECT_EQ(made.kind, "profile");
  EXPECT_EQ(made.seconds, 20) << "an idle program has no samples";
  EXPECT_EQ(samples_of(3, 0).seconds, 0);
}

// Both methods are called all the time; only the first call of f, when the callouts were new, took long.
Recording settling_of(std::uint64_t first_ms, std::uint64_t seconds) {
  constexpr std::uint64_t kMs = 1'000'000;
  const auto collector = make_report_collector();
  const auto at = [](std::uint64_t ms) { return Time(1'000'000 * kMs + ms * kMs); };
  const auto write = [&](const Event& event) { EXPECT_TRUE(collector->write(event)); };
  write(AgentCreate{.agentId = "a", .processIdRef = "p", .agentName = "jtrace", .time = at(0)});
  write(TraceStart{.traceId = "t", .agentIdRef = "a", .time = at(0)});
  write(Option{.key = kRewrittenKey, .value = "classes=1,methods=2", .traceIdRef = "t"});
  write(MethodDef{.name = "f", .methodId = MethodId(1)});
  for (std::uint64_t ms = 0; ms < seconds * 1000; ms += 2000) {
    write(MethodEntry{.threadIdRef = ThreadId(1), .time = at(ms), .methodIdRef = MethodId(1)});
    write(
        MethodExit{.threadIdRef = ThreadId(1), .time = at(ms + (ms == 0 ? first_ms : 70)), .methodIdRef = MethodId(1)});
  }
  write(TraceEnd{.time = at(seconds * 1000)});
  EXPECT_TRUE(collector->finish());
  return recording_of(*collector, "t.xml");
}

TEST(TraceDiff, TheLongestCallIsNoneOfTheTimeWhenCalloutsWereNew) {
  const Recording before = settling_of(75, 20), after = settling_of(1500, 20), brief = settling_of(1500, 8);
  const Difference long_ones = compare(before, after, false);
  EXPECT_EQ(rows_of(long_ones, "methods: the longest call"), json::array());
  EXPECT_THAT(diff_text(long_ones, 10),
              HasSubstr("note: t.xml: the longest calls are without those that began in the first 10 s"));
  const Difference short_one = compare(before, brief, true);
  EXPECT_EQ(value_of(rows_of(short_one, "methods: the longest call"), "f", "after"), 1.5e9);
  EXPECT_THAT(diff_text(short_one, 10), HasSubstr("may be long because of jtrace: all began in the first 10 s"));
}

Recording work_of(double seconds, double calls, double ns) {
  Recording made{.name = "t", .kind = "trace", .seconds = seconds};
  made.tables.push_back({.title = "methods: self time", .unit = "ns", .rows = {{"A.f", {ns, calls}}}});
  return made;
}

TEST(TraceDiff, TimesHaveUnitsAndNoneBecomesZero) {
  const Recording before = work_of(2, 5, 412), after = work_of(2, 5, 41'230);
  EXPECT_THAT(diff_text(compare(before, after, false), 10),
              ContainsRegex(" 412 ns +41.23 us +\\+40.82 us +x 100 +5 -> 5  A.f"));
  EXPECT_THAT(diff_text(compare(after, work_of(2, 5, 3.0614e9), false), 10), ContainsRegex(" 41.23 us +3.061 s "));
}

// A batch job that has become slower makes its calls in more time: scaled, it would be as fast as before.
TEST(TraceDiff, TracesOfTheSameWorkAreNotScaled) {
  const Recording before = work_of(2, 1000, 1e9), slower = work_of(4, 1000, 2e9), longer = work_of(4, 2000, 2e9);
  const Difference same_work = compare(before, slower, false);
  EXPECT_EQ(same_work.scale, 1);
  EXPECT_THAT(same_work.scaled_note, HasSubstr("as many calls (1000 and 1000)"));
  EXPECT_EQ(value_of(rows_of(same_work, "methods: self time"), "A.f", "change"), 1e9);
  EXPECT_EQ(compare(before, longer, false).scale, 0.5);
}

TEST(TraceDiff, ARowIsNewOrGoneOnlyIfTheOtherHasNoneOfIt) {
  Recording before = work_of(2, 5, 0), after = work_of(2, 5, 3e6);
  before.tables.front().rows["A.old"] = {1e6, 1};
  after.tables.front().rows["A.fresh"] = {2e6, 1};
  const std::string text = diff_text(compare(before, after, false), 10);
  EXPECT_THAT(text, ContainsRegex("\\+3 ms +from 0 +5 -> 5  A.f"));
  EXPECT_THAT(text, ContainsRegex("gone +1 -> 0  A.old"));
  EXPECT_THAT(text, ContainsRegex("new +0 -> 1  A.fresh"));
  EXPECT_THAT(diff_text(compare(after, before, false), 10), ContainsRegex("to 0 +5 -> 5  A.f"));
}

// Of inspect ... histogram --rows N, or --class.
TEST(TraceDiff, ClassesThatAHistogramLacksAreNotNew) {
  const auto histogram = [](std::string_view text) { return *recording_of(*JsonValue::parse(text), "h.json"); };
  const Recording cut =
      histogram(R"({"view":"histogram","heap":{"objects":9},"data":[{"class":"A","instances":2,"bytes":64}]})");
  const Recording whole = histogram(
      R"({"view":"histogram","heap":{"objects":5},"data":[{"class":"A","instances":4,"bytes":128},{"class":"B","instances":1,"bytes":24}]})");
  for (const auto& [before, after] : {std::pair(&cut, &whole), std::pair(&whole, &cut)}) {
    const Difference difference = compare(*before, *after, true);
    EXPECT_EQ(rows_of(difference, "heap, by class").size(), 1u);
    EXPECT_THAT(diff_text(difference, 10),
                HasSubstr("note: h.json: it has 1 class alone, 2 of 9 objects (--rows, --class); others are not"));
  }
}

TEST(TraceDiff, HistogramsAreComparedAsTheyAre) {
  const auto histogram = [](std::string_view text) { return *recording_of(*JsonValue::parse(text), "h.json"); };
  const Recording before = histogram(
      R"({"view":"histogram","complete":true,"data":[{"class":"A","instances":2,"bytes":64},{"class":"B","instances":1,"bytes":16},{"class":"Same","instances":1,"bytes":8}]})");
  const Recording after = histogram(
      R"({"view":"histogram","complete":false,"missing":["a page"],"data":[{"class":"A","instances":4,"bytes":128},{"class":"C","instances":1,"bytes":24},{"class":"Same","instances":1,"bytes":8}]})");
  const Difference difference = compare(before, after, false);
  const json rows = rows_of(difference, "heap, by class");
  ASSERT_EQ(rows.size(), 3u) << rows;
  EXPECT_EQ(rows[0]["name"], "A");
  EXPECT_EQ(rows[0]["change"], 64);
  EXPECT_EQ(rows[0]["timesAfter"], 4);
  EXPECT_EQ(value_of(rows, "B", "change"), -16);
  EXPECT_EQ(value_of(rows, "C", "change"), 24);
  const json all = json::parse(diff_json(difference, 10));
  EXPECT_EQ(all["complete"], false);
  EXPECT_THAT(all["missing"][0].get<std::string>(), HasSubstr("a page"));
  const std::string text = diff_text(difference, 10);
  EXPECT_THAT(text, HasSubstr("gone"));
  EXPECT_THAT(text, HasSubstr("new"));
  EXPECT_THAT(text, HasSubstr("2 -> 4"));
  EXPECT_THAT(text, HasSubstr("note: h.json: garbage counts too; histogram --reachable"));
  EXPECT_TRUE(histogram(R"({"view":"histogram","classObjects":1,"data":[]})").notes.empty());
  EXPECT_FALSE(recording_of(*JsonValue::parse(R"({"view":"flags","data":[]})"), "x"));
}

// A call of 10 ms each 100 ms; the second trace is twice as long and its calls take 20 ms.
Recording trace_of(std::uint64_t seconds, std::uint64_t call_ms, std::uint64_t every_ms, const char* lost = nullptr) {
  constexpr std::uint64_t kMs = 1'000'000;
  const auto collector = make_report_collector();
  const auto at = [](std::uint64_t ms) { return Time(1'000'000 * kMs + ms * kMs); };
  const auto write = [&](const Event& event) { EXPECT_TRUE(collector->write(event)); };
  write(AgentCreate{.agentId = "a", .processIdRef = "p", .agentName = "jtrace", .time = at(0)});
  write(TraceStart{.traceId = "t", .agentIdRef = "a", .time = at(0)});
  write(MethodDef{.name = "f", .methodId = MethodId(1)});
  for (std::uint64_t ms = 0; ms < seconds * 1000; ms += every_ms) {
    write(MethodEntry{.threadIdRef = ThreadId(1), .time = at(ms), .methodIdRef = MethodId(1)});
    write(MethodExit{.threadIdRef = ThreadId(1), .time = at(ms + call_ms), .methodIdRef = MethodId(1)});
  }
  if (lost != nullptr) write(Option{.key = "jtrace.dropped", .value = lost, .traceIdRef = "t"});
  write(TraceEnd{.time = at(seconds * 1000)});
  EXPECT_TRUE(collector->finish());
  return recording_of(*collector, "t.xml");
}

TEST(TraceDiff, TracesOfDifferentLengthsAreScaled) {
  const Recording before = trace_of(10, 10, 100), after = trace_of(20, 20, 100);
  const Difference difference = compare(before, after, false);
  EXPECT_EQ(difference.scale, 0.5);
  const json self = rows_of(difference, "methods: self time");
  EXPECT_EQ(value_of(self, "f", "before"), 1e9);
  EXPECT_EQ(value_of(self, "f", "after"), 2e9);
  EXPECT_EQ(value_of(self, "f", "timesAfter"), 100);
  const json longest = rows_of(difference, "methods: the longest call");  // does not grow with time
  EXPECT_EQ(value_of(longest, "f", "before"), 10e6);
  EXPECT_EQ(value_of(longest, "f", "after"), 20e6);
}

TEST(TraceDiff, BeginsWithWhatStandsOut) {
  const Recording before = trace_of(10, 10, 100), longer = trace_of(10, 20, 100), more = trace_of(10, 10, 50);
  EXPECT_THAT(diff_text(compare(before, longer, false), 10),
              HasSubstr("\nlonger by itself: f, 10 ms -> 20 ms a call, 1 s -> 2 s in all\n\nmethods: self time\n"));
  EXPECT_THAT(diff_text(compare(longer, before, false), 10), HasSubstr("\nshorter by itself: f, 20 ms -> 10 ms"));
  const Difference often = compare(before, more, false);
  const std::string line = "called more often: f, 100 -> 200 times, 1 s -> 2 s with what it calls";
  EXPECT_THAT(diff_text(often, 10), HasSubstr("\n" + line + "\n\nmethods"));
  EXPECT_EQ(json::parse(diff_json(often, 10))["summary"], json::array({line}));
  EXPECT_THAT(diff_page(often), HasSubstr(" Called more often: f, "));
  EXPECT_EQ(json::parse(diff_json(compare(before, before, false), 10))["summary"], json::array());
}

TEST(TraceDiff, ATraceOfSlowCallsAloneIsSaidToBeOne) {
  const auto collector = make_report_collector();
  const auto write = [&](const Event& event) { EXPECT_TRUE(collector->write(event)); };
  write(AgentCreate{.agentId = "a", .processIdRef = "p", .agentName = "jtrace", .time = Time(1)});
  write(TraceStart{.traceId = "t", .agentIdRef = "a", .time = Time(1)});
  write(Option{.key = "slower-than", .value = "0.01", .traceIdRef = "t"});
  write(TraceEnd{.time = Time(2'000'000'000)});
  EXPECT_TRUE(collector->finish());
  const Recording slow = recording_of(*collector, "slow.xml");
  const std::string text = diff_text(compare(slow, trace_of(10, 10, 100), false), 10);
  EXPECT_THAT(text, HasSubstr("note: slow.xml: only calls of 0.01 s and longer were recorded"));
}

// Half of the events of the second trace are lost: f does not take half as long.
TEST(TraceDiff, WhereEventsWereLostItSaysSoBesideTheFiguresAndComparesShares) {
  const Recording before = trace_of(10, 10, 100), after = trace_of(10, 10, 200, "100");
  const Difference difference = compare(before, after, false);
  EXPECT_FALSE(difference.is_comparable);
  const std::string text = diff_text(difference, 10);
  EXPECT_THAT(text, HasSubstr("not all is here: t.xml: 100 events lost while tracing\n"));
  EXPECT_THAT(text, HasSubstr("methods: self time\n  not directly comparable: of before's events none were lost, "
                              "of after's 49 %, so there was more (>=); compare shares and means"));
  EXPECT_THAT(text, HasSubstr("        BEFORE       >= AFTER             SHARE                      MEAN"));
  EXPECT_THAT(text, HasSubstr("100.0 -> 100.0 %            10 ms -> 10 ms             100 -> 50  f\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("RATIO")));
  const json all = json::parse(diff_json(difference, 10));
  EXPECT_EQ(all["data"][0]["comparable"], false);
  EXPECT_GT(all["data"][0]["lostAfter"], 0.4);
  EXPECT_EQ(all["data"][0]["rows"][0]["shareAfter"], 1);
  EXPECT_THAT(diff_page(difference), HasSubstr("not directly comparable"));
  EXPECT_TRUE(compare(before, before, false).is_comparable);
  EXPECT_THAT(diff_text(compare(before, trace_of(10, 20, 100), false), 10), HasSubstr("RATIO"));
}

TEST(TraceDiff, TheSameIsNoDifference) {
  const Recording before = trace_of(10, 10, 100);
  const Difference difference = compare(before, before, false);
  EXPECT_EQ(difference.scale, 1);
  EXPECT_THAT(diff_text(difference, 10), HasSubstr("no difference in 1 row"));
}

TEST(TraceDiff, ThePageHasTheFlameOfBoth) {
  const Recording before = recording_of(collapsed("m;f 40\nm;</script> 10\n"), "b");
  const Recording after = recording_of(collapsed("m;f 40\nm;new 10\n"), "a");
  const std::string page = diff_page(compare(before, after, false));
  EXPECT_THAT(page, HasSubstr("\"diff\":\"samples\""));
  EXPECT_THAT(page, ::testing::Not(HasSubstr("m;</script>")));
  EXPECT_THAT(page, HasSubstr("\\u003c/script>"));
}

struct Method {
  const char* name;
  double calls, mean;  // ns
};
Recording methods_of(const std::vector<Method>& methods) {
  Recording made{.name = "t", .kind = "trace", .seconds = 10};
  FigureTable table{.title = "methods: self time", .unit = "ns", .rows = {}};
  for (const Method& each : methods) table.rows[each.name] = {each.mean * each.calls, each.calls};
  made.tables.push_back(std::move(table));
  return made;
}
// Besides eight others with short calls, each of which takes so long as before. A made-up trace of fewer methods says
// nothing of what is usual.
Recording with_others(std::vector<Method> methods, double ratio, double calls = 1000) {
  constexpr const char* kOthers[] = {"X.a", "X.b", "X.c", "X.d", "X.e", "X.f", "X.g", "X.h"};
  for (const char* name : kOthers) methods.push_back({name, calls, 10 * ratio});
  return methods_of(methods);
}
std::vector<std::string> differing(const json& rows) {
  std::vector<std::string> names;
  for (const json& row : rows)
    if (row["differs"]) names.push_back(row["name"]);
  return names;
}

// All calls take x 1.4, and B.g x 5.6: A.f has the greatest change, but none that is its own.
TEST(TraceDiff, WhatAllMethodsHaveInCommonIsNoChange) {
  const Recording before =
      with_others({{"A.f", 1000, 9000}, {"B.g", 1000, 1000}, {"C.h", 500, 2000}, {"D.i", 500, 100}}, 1);
  const Recording after =
      with_others({{"A.f", 1000, 12600}, {"B.g", 1000, 5600}, {"C.h", 500, 2800}, {"D.i", 500, 140}}, 1.4);
  const Difference made = compare(before, after, false);
  const json rows = rows_of(made, "methods: self time");
  EXPECT_EQ(rows[0]["name"], "B.g");
  EXPECT_EQ(differing(rows), std::vector<std::string>{"B.g"});
  EXPECT_EQ(value_of(rows, "A.f", "after"), 12.6e6) << "the figures stay as they are";
  const std::string text = diff_text(made, 10);
  EXPECT_THAT(
      text,
      HasSubstr("most methods took x 1.4 as long themselves, callees left out (the median of 12 methods with 100 calls "
                "and more in both)"));
  EXPECT_THAT(text, ContainsRegex("x 5.6 +1000 -> 1000 \\*B.g\n"));
  EXPECT_THAT(text, ContainsRegex("x 1.4 +1000 -> 1000  A.f\n"));
  const json all = json::parse(diff_json(made, 10));
  EXPECT_NEAR(all["data"][0]["usual"]["ratio"], 1.4, 1e-9);
  EXPECT_EQ(all["data"][0]["usual"]["alike"], 11);
  EXPECT_THAT(diff_page(made), HasSubstr("Self time: most methods took x 1.4"));
}

TEST(TraceDiff, MethodsThatAreAsFastAsBeforeNeedNoNote) {
  const Recording before = with_others({{"A.f", 1000, 9000}, {"B.g", 1000, 1000}, {"C.h", 500, 2000}}, 1);
  const Recording after = with_others({{"A.f", 1000, 9100}, {"B.g", 1000, 5600}, {"C.h", 500, 1950}}, 1);
  const Difference made = compare(before, after, false);
  EXPECT_EQ(made.usual_note, "");
  EXPECT_EQ(diff_text(made, 10).find('*'), std::string::npos);
}

// One change of the program may lengthen most of a few methods; and such with few calls are no measure of a machine.
TEST(TraceDiff, FewMethodsSayNothingOfTheMachine) {
  const Recording few = methods_of({{"A.f", 1000, 900}, {"B.g", 1000, 100}, {"C.h", 1000, 100}});
  EXPECT_EQ(compare(few, methods_of({{"A.f", 1000, 1800}, {"B.g", 1000, 200}, {"C.h", 1000, 100}}), false).usual_note,
            "");
  const Recording rare = with_others({{"A.f", 50, 900}, {"B.g", 50, 100}}, 1, 50);
  EXPECT_EQ(compare(rare, with_others({{"A.f", 50, 1800}, {"B.g", 50, 200}}, 2, 50), false).usual_note, "");
}

// A method of which all calls together take hardly any time may have any ratio.
TEST(TraceDiff, WhatDoesNotMatterIsNotMarked) {
  const Recording before =
      with_others({{"A.f", 1000, 9000}, {"B.g", 1000, 1000}, {"C.h", 500, 2000}, {"D.i", 500, 10}}, 1);
  const Recording after =
      with_others({{"A.f", 1000, 12600}, {"B.g", 1000, 1400}, {"C.h", 500, 2800}, {"D.i", 500, 80}}, 1.4);
  const Difference made = compare(before, after, false);
  EXPECT_THAT(made.usual_note, HasSubstr("most methods took x 1.4"));
  EXPECT_EQ(differing(rows_of(made, "methods: self time")), std::vector<std::string>{});
}

// A busier machine: each call x 1.5, and so fewer calls. What is called much more often differs though its calls do
// not.
TEST(TraceDiff, NumbersOfCallsAreComparedWithTheUsualOneToo) {
  const Recording before =
      with_others({{"A.f", 3000, 900}, {"B.g", 3000, 300}, {"C.h", 3000, 600}, {"D.i", 300, 100}}, 1, 3000);
  const Recording after =
      with_others({{"A.f", 2000, 1350}, {"B.g", 2000, 450}, {"C.h", 2000, 900}, {"D.i", 2000, 150}}, 1.5, 2000);
  const Difference made = compare(before, after, true);
  EXPECT_EQ(differing(rows_of(made, "methods: self time")), std::vector<std::string>{"D.i"});
}

TEST(TraceDiff, MethodsThatDifferMuchHaveNothingUsual) {
  std::vector<Method> before, after;
  constexpr const char* kNames[] = {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"};
  double ratio = 0.2;
  for (const char* name : kNames) {
    before.push_back({name, 1000, 100});
    after.push_back({name, 1000, 100 * ratio});
    ratio *= 1.4;
  }
  const Recording one = methods_of(before), other = methods_of(after);
  const Difference made = compare(one, other, false);
  EXPECT_EQ(made.usual_note, "");
  EXPECT_EQ(diff_text(made, 20).find('*'), std::string::npos);
}

}  // namespace
}  // namespace jtrace::trace::io
