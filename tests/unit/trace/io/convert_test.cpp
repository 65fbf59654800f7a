// Converting: each format has the contents of the trace, and what it cannot represent is counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/testlib/must.h"
#include "tests/unit/trace/full_events.h"
#include "trace/io/call_tree.h"
#include "trace/io/converter.h"
#include "trace/io/open_source.h"
#include "trace/io/sddf_format.h"
#include "trace/io/sddf_reader.h"
#include "trace/io/sqlite_writer.h"
#include "trace/io/stack_profile.h"
#include "trace/io/trace_id_sink.h"
#include "trace/xml_writer.h"

namespace jtrace::trace::io {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr std::string_view kHead =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n"
    "<node nodeId=\"n\" hostname=\"h\" ipaddress=\"\" time=\"0.500000000\"/>\n"
    "<processCreate processId=\"p\" pid=\"42\" nodeIdRef=\"n\" time=\"1.000000000\" name=\"my app\"/>\n"
    "<agentCreate agentId=\"a\" processIdRef=\"p\" agentName=\"jtrace\" time=\"1.0\"/>\n"
    "<traceStart traceId=\"t\" agentIdRef=\"a\" time=\"1.0\"/>\n"
    "<threadStart threadId=\"7\" time=\"1.0\" threadName=\"main thread\"/>\n"
    "<threadStart threadId=\"1000000000017\" time=\"1.0\" threadName=\"GC\"/>\n"
    "<classDef name=\"x/A\" classId=\"1\"/>\n<methodDef name=\"outer\" methodId=\"1\" classIdRef=\"1\"/>\n"
    "<methodDef name=\"inner\" methodId=\"2\" classIdRef=\"1\"/>\n";
constexpr std::string_view kCalls =
    "<methodEntry threadIdRef=\"7\" time=\"2.000000000\" methodIdRef=\"1\" ticket=\"1\"/>\n"
    "<methodEntry threadIdRef=\"7\" time=\"2.000001000\" methodIdRef=\"2\" ticket=\"2\"/>\n"
    "<objAlloc threadIdRef=\"7\" time=\"2.0000015\" objId=\"9\" size=\"24\" classIdRef=\"1\"/>\n"
    "<methodExit threadIdRef=\"7\" methodIdRef=\"2\" ticket=\"2\" time=\"2.000003000\"/>\n"
    "<methodEntry threadIdRef=\"7\" time=\"2.000004000\" methodIdRef=\"2\" ticket=\"3\"/>\n";
constexpr std::string_view kEvents =
    "<gcStart time=\"3.000000000\"/>\n"
    "<gcFinish time=\"3.250000000\" totalObjectSpace=\"5000000000\" usedObjectSpace=\"4294967296\"/>\n"
    "<monContendedEnter threadIdRef=\"7\" time=\"4.000000000\" objIdRef=\"9\" threadOwner=\"1\"/>\n"
    "<monContendedEntered threadIdRef=\"7\" time=\"4.500000000\" objIdRef=\"9\"/>\n"
    "<monWait threadIdRef=\"1000000000017\" time=\"5.000000000\" objIdRef=\"-1\"/>\n"
    "<monWaited threadIdRef=\"1000000000017\" time=\"5.500000000\" objIdRef=\"-1\"/>\n"
    "<methodCount count=\"12\" methodIdRef=\"1\"/>\n<methodCount count=\"5000000000\" methodIdRef=\"2\"/>\n"
    "<threadEnd threadIdRef=\"7\" time=\"6.000000000\"/>\n";
constexpr std::string_view kTail =
    "<traceEnd traceIdRef=\"t\" time=\"7.0\"/>\n<agentDestroy agentIdRef=\"a\" time=\"7.0\"/>\n</TRACE>\n";

std::string document(std::string_view events) { return std::string(kHead).append(events).append(kTail); }
void feed(std::string_view text, EventSink& sink) {
  FaultLog faults;
  auto source = make_event_source(std::move(*memory_byte_source(text)), "in", faults);
  ASSERT_TRUE(source);
  jtrace::test::must((*source)->read(sink));
  ASSERT_TRUE(sink.finish());
}
struct Output {
  MemorySink bytes;
  std::map<std::string, std::uint64_t> lost;
};
template <class Make>
void convert(Output& output, std::string_view text, Make make) {
  auto converter = make(output.bytes);
  feed(text, *converter);
  output.lost = converter->lost();
}

TEST(JsonLines, OneObjectALineWithEverything) {
  Output output;
  convert(output, document(kCalls), make_jsonl_writer);
  std::istringstream lines(output.bytes.text());
  std::string line;
  std::vector<json> all;
  while (std::getline(lines, line)) all.push_back(json::parse(line));
  ASSERT_EQ(all.size(), 16u);
  EXPECT_EQ(all[9]["element"], "methodEntry");
  EXPECT_EQ(all[9]["time"], "2.000000000");
  EXPECT_TRUE(output.lost.empty());
}

TEST(JsonLines, ComeBackByteByByte) {
  MemorySink whole;
  XmlWriter writer(whole);
#define JTRACE_ELEMENT(Struct, name, content, description)                      \
  {                                                                             \
    Struct element = test::element_with<Struct>(test::kAll);                    \
    test::add_children(element);                                                \
    ASSERT_TRUE(writer.write(element));                                         \
    ASSERT_TRUE(writer.write(test::element_with<Struct>(test::kRequiredOnly))); \
  }
#include "trace/elements.def"
  ASSERT_TRUE(writer.write(Tag{.name = "\"\\\b\f\t\n\xc3\xa9\xf0\x9f\x98\x80/<>&"}));
  ASSERT_TRUE(writer.finish());
  Output lines;
  convert(lines, whole.text(), make_jsonl_writer);
  MemorySink again;
  XmlWriter back(again);
  feed(lines.bytes.text(), back);
  EXPECT_EQ(again.text(), whole.text());
}

TEST(JsonLines, FaultsHaveTheirPlace) {
  const auto told = [](std::string_view text) {
    FaultLog faults;
    NullSink sink;
    auto source = make_event_source(std::move(*memory_byte_source(text)), "in", faults);
    if (!source) return source.error().message();
    const auto summary = (*source)->read(sink);
    if (!summary) return summary.error().message();
    std::string all = std::to_string(summary->elements) + (summary->truncated ? " truncated" : "");
    for (const auto& [kind, count] : faults.counts()) all += ", " + std::to_string(count) + " " + kind;
    return all;
  };
  const std::string good = "{\"element\":\"gcStart\",\"time\":\"1.0\"}\n";
  EXPECT_EQ(told(good + "\n" + good), "2");
  EXPECT_EQ(told(good + good.substr(0, 20)), "1 truncated");
  EXPECT_EQ(told(good + good.substr(0, good.size() - 1)), "2");
  EXPECT_EQ(
      told(good + "{\"element\":\"foo\",\"a\":{\"b\":[1,\"x\"]}}\n{\"element\":\"gcStart\",\"foo\":1,\"time\":true}\n"),
      "2, 1 bad value, 1 unknown attribute, 1 unknown element");
  EXPECT_EQ(told(good + "{\"element\":\"node\"}\n"), "1, 1 missing attribute");
  EXPECT_THAT(told(good + "{\"time\":1}\n"), HasSubstr("in:2:9: an object does not begin with its \"element\""));
  EXPECT_THAT(told(good + "{\"element\":\"tag\",\"name\":\"a\n"), HasSubstr("in:2:27: a string has no end"));
  EXPECT_THAT(told(good + good.substr(0, good.size() - 1) + "x\n"), HasSubstr("there is text after the object"));
  EXPECT_THAT(told(good + "{\"element\":\"tag\",\"name\":nul}\n"), HasSubstr("expected a value"));
  std::string deep = "{\"element\":\"foo\",\"a\":";
  for (int i = 0; i < 100; ++i) deep += "[";
  EXPECT_THAT(told(good + deep + "\n"), HasSubstr("nested too deep"));
}

TEST(Chrome, CallsAreNamedAndClosed) {
  Output output;
  convert(output, document(std::string(kCalls).append(kEvents)), make_chrome_writer);
  const json all = json::parse(output.bytes.text());
  std::map<std::string, int> phases;
  for (const json& event : all["traceEvents"]) {
    ++phases[event["ph"]];
    EXPECT_FALSE(event["name"].get<std::string>().empty());
    if (event["ph"] == "X" && event["name"] == "GC pause") {
      EXPECT_DOUBLE_EQ(event["ts"], 2'000'000.0);
      EXPECT_DOUBLE_EQ(event["dur"], 250'000.0);
    }
  }
  EXPECT_EQ(phases["B"], 3);
  EXPECT_EQ(phases["E"], 3);
  EXPECT_EQ(phases["X"], 3);
  EXPECT_EQ(phases["M"], 3);  // two threads, their process
  EXPECT_EQ(phases["i"], 1);
  EXPECT_EQ(output.lost["methodCount"], 2u);
  EXPECT_EQ(output.lost.count("objAlloc"), 0u);  // an instant event
  EXPECT_EQ(output.lost["methodEntry@ticket"], 3u);
}

TEST(Speedscope, ProfilesAreBalanced) {
  Output output;
  convert(output, document(std::string(kCalls).append(kEvents)),
          [](ByteSink& bytes) { return make_speedscope_writer(bytes, "in"); });
  const json all = json::parse(output.bytes.text());
  ASSERT_EQ(all["profiles"].size(), 1u);
  const json& profile = all["profiles"][0];
  EXPECT_EQ(profile["name"], "main thread");
  std::vector<int> stack;
  for (const json& event : profile["events"]) {
    if (event["type"] == "O") {
      stack.push_back(event["frame"]);
      continue;
    }
    ASSERT_FALSE(stack.empty());
    EXPECT_EQ(event["frame"], stack.back());
    stack.pop_back();
  }
  EXPECT_TRUE(stack.empty());
  EXPECT_EQ(all["shared"]["frames"][1]["name"], "x.A.inner");
}

TEST(Collapsed, MergesStacksByWeight) {
  const std::string text = document(
      std::string(kCalls) + "<methodExit threadIdRef=\"7\" methodIdRef=\"1\" ticket=\"1\" time=\"2.000009000\"/>\n");
  Output wall, alloc;
  convert(wall, text, [](ByteSink& bytes) { return make_collapsed_writer(bytes, Weight::kWall); });
  EXPECT_EQ(wall.bytes.text(), "main thread;x.A.outer 2000\nmain thread;x.A.outer;x.A.inner 7000\n");
  convert(alloc, text, [](ByteSink& bytes) { return make_collapsed_writer(bytes, Weight::kAllocation); });
  EXPECT_EQ(alloc.bytes.text(), "main thread;x.A.outer;x.A.inner;x.A 24\n");
}

// As in the tables: the caller of a synchronized method does not wait for its monitor.
TEST(Formats, ChargeTheWaitForAMonitorToTheMethodThatTakesIt) {
  const std::string text = document(
      "<classDef classId=\"9\" name=\"x/B\" time=\"1.0\"/>\n"
      "<methodDef methodId=\"8\" classIdRef=\"9\" name=\"calls\" signature=\"()V\"/>\n"
      "<methodDef methodId=\"9\" classIdRef=\"9\" name=\"takes\" signature=\"()V\" isSynchronized=\"true\"/>\n"
      "<methodEntry threadIdRef=\"7\" time=\"3.000001000\" methodIdRef=\"8\" ticket=\"11\"/>\n"
      "<monContendedEnter threadIdRef=\"7\" time=\"3.000002000\" objIdRef=\"99\"/>\n"
      "<monContendedEntered threadIdRef=\"7\" time=\"3.000007000\" objIdRef=\"99\"/>\n"
      "<methodEntry threadIdRef=\"7\" time=\"3.000008000\" methodIdRef=\"9\" ticket=\"12\"/>\n"
      "<methodExit threadIdRef=\"7\" time=\"3.000009000\" methodIdRef=\"9\" ticket=\"12\"/>\n"
      "<methodExit threadIdRef=\"7\" time=\"3.000009000\" methodIdRef=\"8\" ticket=\"11\"/>\n");
  Output wall, chrome;
  convert(wall, text, [](ByteSink& bytes) { return make_collapsed_writer(bytes, Weight::kWall); });
  EXPECT_EQ(wall.bytes.text(), "main thread;x.B.calls 1000\nmain thread;x.B.calls;x.B.takes 7000\n");
  convert(chrome, text, make_chrome_writer);
  // A viewer closes slices in the order of their begins: the call's comes first.
  double of_call = 0, of_wait = 0;
  const json all = json::parse(chrome.bytes.text());
  for (const json& each : all["traceEvents"]) {
    if (each["name"] == "x.B.takes" && each["ph"] == "B") of_call = each["ts"];
    if (each["ph"] == "X") of_wait = each["ts"];
  }
  EXPECT_LT(of_call, of_wait);
  EXPECT_NEAR(of_call, of_wait, 0.0011);
}

// Two methods that call each other 4,000 deep, and what the innermost one calls: 1 us each, by itself.
TEST(Collapsed, FoldsDeepRecursion) {
  MemorySink bytes;
  const auto writer = make_collapsed_writer(bytes, Weight::kWall);
  const auto write = [&](const Event& event) { EXPECT_TRUE(writer->write(event)); };
  constexpr std::uint64_t kDeep = 4000;
  write(AgentCreate{.agentId = "a", .processIdRef = "p", .agentName = "jtrace", .time = Time(1)});
  write(TraceStart{.traceId = "t", .agentIdRef = "a", .time = Time(1)});
  for (const auto& [id, name] : {std::pair(1, "odd"), std::pair(2, "even"), std::pair(3, "leaf")})
    write(MethodDef{.name = name, .methodId = MethodId(static_cast<std::uint64_t>(id))});
  const auto method = [](std::uint64_t i) { return MethodId(i == kDeep ? 3 : 1 + i % 2); };
  std::uint64_t now = 1000;
  for (std::uint64_t i = 0; i <= kDeep; ++i)
    write(MethodEntry{.threadIdRef = ThreadId(1), .time = Time(now += 500), .methodIdRef = method(i)});
  for (std::uint64_t i = kDeep + 1; i-- > 0;)
    write(MethodExit{.threadIdRef = ThreadId(1), .time = Time(now += 500), .methodIdRef = method(i)});
  ASSERT_TRUE(writer->finish());
  const auto profile = read_collapsed(bytes.text());
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->total(), (2 * kDeep + 1) * 500.0);
  const FrameWeights weights = weights_of(*profile);
  EXPECT_EQ(weights.self.at("leaf"), 500);
  EXPECT_EQ(weights.self.at("odd"), 1000.0 * kDeep / 2);
  EXPECT_EQ(weights.self.at("even"), 1000.0 * kDeep / 2);
  EXPECT_EQ(weights.self.count(std::string(kFoldedCalls)), 0u);
  EXPECT_LT(bytes.text().size(), 2'000'000u) << "each stack whole: 40 MB";
  EXPECT_THAT(bytes.text(), HasSubstr(";(deeper calls, each method once);"));
  EXPECT_THAT(writer->notes(), ::testing::Contains(HasSubstr("stacks are folded from 512 frames on")));
}

TEST(Fragments, GetTheTraceTheyBelongTo) {
  MemorySink bytes;
  XmlWriter writer(bytes, {.form = XmlForm::kFragments});
  TraceIdSink sink(writer);
  feed(document(kEvents), sink);
  EXPECT_THAT(bytes.text(), HasSubstr("<gcStart time=\"3.000000000\" traceIdRef=\"t\"/>\n"));
}

// The first column of the first row, as text.
std::string ask(const std::string& path, const char* question) {
  sqlite3* db = nullptr;
  sqlite3_stmt* statement = nullptr;
  std::string answer = "no answer";
  if (sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
      sqlite3_prepare_v2(db, question, -1, &statement, nullptr) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
    answer = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
  sqlite3_finalize(statement);
  sqlite3_close(db);
  return answer;
}

TEST(Sqlite, AnswersQuestions) {
  const std::string path = ::testing::TempDir() + "jtrace_sqlite_test." + std::to_string(::getpid());
  auto writer = make_sqlite_writer(path);
  ASSERT_TRUE(writer);
  feed(document(std::string(kCalls).append(kEvents)), **writer);
  EXPECT_EQ(ask(path, "PRAGMA integrity_check"), "ok");
  EXPECT_EQ(ask(path, "SELECT count(*) FROM event WHERE element='methodEntry'"), "3");
  EXPECT_EQ(ask(path, "SELECT ended - started FROM gc"), "250000000");
  EXPECT_EQ(ask(path, "SELECT sum(ended - started) FROM wait WHERE kind='blocked'"), "500000000");
  EXPECT_EQ(ask(path, "SELECT name FROM thread WHERE id = 1000000000017"), "GC");
  EXPECT_EQ(ask(path, "SELECT sum(count) FROM counter"), "5000000012");
  ::unlink(path.c_str());
}

std::string from_sddf(std::string_view sddf) {
  MemorySink bytes;
  XmlWriter writer(bytes);
  feed(sddf, writer);
  return bytes.text();
}

TEST(Sddf, ThereAndBackKeepsThreadsBlockingGcAndCounters) {
  Output sddf;
  convert(sddf, document(std::string(kCalls).append(kEvents)), make_sddf_writer);
  EXPECT_EQ(sddf.lost, (std::map<std::string, std::uint64_t>{{"methodEntry", 3},
                                                             {"methodExit", 1},
                                                             {"monContendedEntered@objIdRef", 1},
                                                             {"monWaited@objIdRef", 1},
                                                             {"node@ipaddress", 1},
                                                             {"objAlloc", 1}}));
  const std::string xml = from_sddf(sddf.bytes.text());
  for (const char* kept :
       {"<node nodeId=\"n\" hostname=\"h\" ipaddress=\"\" time=\"0.500000000\"/>",
        "<processCreate processId=\"p\" pid=\"42\" nodeIdRef=\"n\" time=\"1.000000000\" name=\"my app\"/>",
        "<threadStart threadId=\"7\" time=\"1.000000000\" threadName=\"main thread\"",
        "<threadStart threadId=\"1000000000017\" time=\"1.000000000\" threadName=\"GC\"",
        "<gcStart time=\"3.000000000\"",
        "<gcFinish time=\"3.250000000\" totalObjectSpace=\"5000000000\" usedObjectSpace=\"4294967296\"",
        "<monContendedEnter threadIdRef=\"7\" time=\"4.000000000\" objIdRef=\"9\" threadOwner=\"1\"",
        "<monContendedEntered threadIdRef=\"7\" time=\"4.500000000\" objIdRef=\"9\"",
        "<monWait threadIdRef=\"1000000000017\" time=\"5.000000000\" objIdRef=\"-1\"",
        "<monWaited threadIdRef=\"1000000000017\" time=\"5.500000000\" objIdRef=\"-1\"",
        "<methodCount count=\"12\" methodIdRef=\"1\"", "<methodCount count=\"5000000000\" methodIdRef=\"2\"",
        "<threadEnd threadIdRef=\"7\" time=\"6.000000000\""})
    EXPECT_THAT(xml, HasSubstr(kept));
}

TEST(Sddf, SeveralProducersAndWhatOnlyTextCarries) {
  const std::string text = document(
      "<monWait threadIdRef=\"7\" time=\"2.0\" objIdRef=\"9\" timeout=\"50\"/>\n<monWaited threadIdRef=\"7\" "
      "time=\"2.1\" "
      "objIdRef=\"9\" timeout=\"99\"/>\n<processSuspend time=\"3.0\"/>\n<processResume time=\"3.5\"/>\n"
      "<agentCreate agentId=\"h\" processIdRef=\"p\" agentName=\"hsperf\" time=\"4.0\"/>\n"
      "<traceStart traceId=\"u\" agentIdRef=\"h\" time=\"4.0\"/>\n<option key=\"jtrace.kind\" value=\"snapshot\" "
      "traceIdRef=\"u\"/>\n"
      "<value name=\"a.b\" value=\"&quot;x&quot; y\" traceIdRef=\"u\"/>\n"
      "<threadEnd threadIdRef=\"7\" time=\"5.0\" traceIdRef=\"t\"/>\n<traceEnd traceIdRef=\"u\" time=\"6.0\"/>\n"
      "<agentDestroy agentIdRef=\"h\" time=\"6.0\"/>\n");
  Output sddf;
  convert(sddf, text, make_sddf_writer);
  const std::string xml = from_sddf(sddf.bytes.text());
  for (const char* kept :
       {"<agentCreate agentId=\"a\" processIdRef=\"p\" agentName=\"jtrace\"",
        "<traceStart traceId=\"t\" agentIdRef=\"a\"",
        "<monWait threadIdRef=\"7\" time=\"2.000000000\" objIdRef=\"9\" timeout=\"50\" traceIdRef=\"t\"/>",
        "<monWaited threadIdRef=\"7\" time=\"2.100000000\" objIdRef=\"9\" timeout=\"99\" traceIdRef=\"t\"/>",
        "<processSuspend time=\"3.000000000\" traceIdRef=\"t\"/>",
        "<processResume time=\"3.500000000\" traceIdRef=\"t\"/>",
        "<option key=\"jtrace.kind\" value=\"snapshot\" traceIdRef=\"u\"/>",
        "<value name=\"a.b\" value=\"&quot;x&quot; y\" traceIdRef=\"u\"/>",
        "<threadEnd threadIdRef=\"7\" time=\"5.000000000\" traceIdRef=\"t\"/>",
        "<traceEnd traceIdRef=\"u\" time=\"6.000000000\"/>", "<agentDestroy agentIdRef=\"h\" time=\"6.000000000\"/>",
        "<agentDestroy agentIdRef=\"a\" time=\"7.000000000\"/>"})
    EXPECT_THAT(xml, HasSubstr(kept));
  // Two suspended threads.
  EXPECT_THAT(sddf.bytes.text(),
              HasSubstr("\"Suspend Thread\" { [2] { 3, 0 }, 2.500000000, 193, 1, 1, 7 };;\n"
                        "\"Suspend Thread\" { [2] { 3, 0 }, 2.500000000, 193, 1, 1, 1000000000 };;"));
  // Converted to SDDF and back once more, nothing changes any more.
  Output again;
  convert(again, xml, make_sddf_writer);
  EXPECT_EQ(from_sddf(again.bytes.text()), xml);
}

// What was recorded and SDDF has no records for is not 0 in the document that comes back.
TEST(Sddf, WhatItDoesNotCarryIsNamedOnce) {
  const std::string line = "methods, calls, lines, exceptions, objects, allocations: an SDDF file does not have them";
  const auto times = [&](const std::string& xml) {
    std::size_t found = 0;
    for (std::size_t at = xml.find(line); at != std::string::npos; at = xml.find(line, at + 1)) ++found;
    return found;
  };
  const auto through = [](const std::string& xml) {
    Output sddf;
    convert(sddf, xml, make_sddf_writer);
    return from_sddf(sddf.bytes.text());
  };
  const std::string once = through(document("<option key=\"events\" value=\"methodEntry,methodExit,gcStart\"/>\n"));
  EXPECT_EQ(times(once), 1u) << once;
  EXPECT_EQ(through(once), once);
  EXPECT_EQ(times(through(document("<option key=\"events\" value=\"gcStart,gcFinish\"/>\n"))), 0u);
}

TEST(Sddf, ACallFromAnotherProcessIsAMessage) {
  const std::string context =
      "<InvocationContext nodeIdRef=\"n\" processIdRef=\"p\" agentIdRef=\"a\" threadIdRef=\"7\" ticket=\"4\"/>";
  const std::string text = document(
      "<methodCall threadIdRef=\"7\" time=\"2.0\" ticket=\"4\"/>\n"
      "<node nodeId=\"m\" hostname=\"i\" ipaddress=\"\"/>\n<processCreate processId=\"q\" pid=\"1\" "
      "nodeIdRef=\"m\" time=\"1.0\"/>\n<agentCreate agentId=\"b\" processIdRef=\"q\" agentName=\"x\" "
      "time=\"1.0\"/>\n<traceStart traceId=\"u\" agentIdRef=\"b\" time=\"1.0\"/>\n<methodEntry "
      "threadIdRef=\"3\" time=\"3.0\" ticket=\"9\" traceIdRef=\"u\">" +
      context + "</methodEntry>\n");
  Output sddf;
  convert(sddf, text, make_sddf_writer);
  EXPECT_THAT(sddf.bytes.text(),
              HasSubstr("\"Send Message\" { [2] { 2, 0 }, 1.500000000, 217, 1, 1, 4, 2, 2, 9, 87 };;"));
  EXPECT_THAT(sddf.bytes.text(),
              HasSubstr("\"Receive Message\" { [2] { 3, 0 }, 2.500000000, 225, 2, 2, 9, 1, 1, 4, 87, 0 };;"));
}

std::string sddf_error(const std::string& records) {
  FaultLog faults;
  NullSink sink;
  auto source = make_event_source(std::move(*memory_byte_source(records)), "in", faults);
  const auto summary = (*source)->read(sink);
  return summary ? "no error" : summary.error().message();
}

TEST(Sddf, RefusesWhatIsNotSound) {
  const std::string head = sddf_head();
  const std::string start = "\"Start Machine\" { [2] { 1, 2 }, 0.5, 137, 1 };;\n";
  EXPECT_EQ(sddf_error(head + start), "no error");
  EXPECT_EQ(sddf_error("SDDFB...."), "in:1:1: binary SDDF is not supported");
  EXPECT_THAT(sddf_error("SDDFA\n" + start), HasSubstr("comes before its descriptor"));
  EXPECT_THAT(sddf_error(head + "\"Start Machine\" { [2] { 1, 2 }, 0.5, 137 };;"), HasSubstr("has 3 of 4 fields"));
  EXPECT_THAT(sddf_error(head + "\"Start Machine\" { [2] { 1, 2 }, 0.5, 137, 1, 1 };;"),
              HasSubstr("more than 4 fields"));
  EXPECT_THAT(sddf_error(head + "\"Start Machine\" { [3] { 1, 2 }, 0.5, 137, 1 };;"), HasSubstr("an array of 3 has 2"));
  EXPECT_THAT(sddf_error(head + "\"Start Machine\" { [2] { 1, 2 }, 0.5, 137, 4294967296 };;"),
              HasSubstr("field \"Machine Number\": 4294967296 does not fit an int"));
  EXPECT_THAT(sddf_error(head + "\"Start Machine\" { [2] { 1, 2 }, 0.5, 137, 1 }"), HasSubstr("expected ';;'"));
  EXPECT_THAT(sddf_error("SDDFA\n#1:\n\"X\" { quad \"y\"; };;"), HasSubstr("unknown type 'quad'"));
}

}  // namespace
}  // namespace jtrace::trace::io
