// The parts of a rotated trace, in any order, are one trace again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/testlib/must.h"
#include "trace/io/merger.h"
#include "trace/io/open_source.h"
#include "trace/io/statistics.h"
#include "trace/io/trace_parts.h"
#include "trace/io/validator.h"
#include "trace/xml_writer.h"

namespace jtrace::trace::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A document: `body` is its events and definitions, with {c} for the next collationValue.
std::string document(const std::string& trace, const std::string& second, const std::string& head,
                     const std::string& body, const std::string& tail = {}) {
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n<node nodeId=\"n\" hostname=\"h\" ipaddress=\"\"/>\n"
      "<processCreate processId=\"p\" pid=\"4\" nodeIdRef=\"n\" time=\"1.000000000\" name=\"app\"/>\n"
      "<agentCreate agentId=\"a\" processIdRef=\"p\" agentName=\"jtrace\" time=\"" +
      second + ".000000000\"/>\n<traceStart traceId=\"" + trace + "\" agentIdRef=\"a\" time=\"" + second +
      ".000000000\" collationValue=\"{c}\"/>\n<option key=\"events\" value=\"methodEntry\"/>\n"
      "<filter pattern=\"x\" mode=\"include\" genericPattern=\"none\"/>\n" +
      head + body + tail;
  if (!tail.empty()) text += "</TRACE>\n";
  int collation = 0;
  for (std::size_t at = text.find("{c}"); at != std::string::npos; at = text.find("{c}"))
    text.replace(at, 3, std::to_string(++collation));
  return text;
}
std::string end(const std::string& trace, const std::string& second) {
  return "<traceEnd traceIdRef=\"" + trace + "\" time=\"" + second +
         ".000000000\" collationValue=\"{c}\"/>\n"
         "<agentDestroy agentIdRef=\"a\" time=\"" +
         second + ".000000000\"/>\n";
}
std::string continues(const std::string& trace) {
  return "<option key=\"jtrace.continues\" value=\"" + trace + "\"/>\n";
}
const std::string kThread =
    "<threadStart threadId=\"7\" time=\"1.000000000\" threadName=\"main\" collationValue=\"{c}\"/>\n";
const std::string kMethod =
    "<classDef name=\"x/A\" classId=\"1\" collationValue=\"{c}\"/>\n"
    "<methodDef name=\"run\" methodId=\"2\" classIdRef=\"1\" collationValue=\"{c}\"/>\n";
std::string entry(int ticket, const std::string& time) {
  return "<methodEntry threadIdRef=\"7\" time=\"" + time + ".000000000\" methodIdRef=\"2\" ticket=\"" +
         std::to_string(ticket) + "\" collationValue=\"{c}\"/>\n";
}
std::string exit(int ticket, const std::string& time) {
  return "<methodExit threadIdRef=\"7\" methodIdRef=\"2\" ticket=\"" + std::to_string(ticket) + "\" time=\"" + time +
         ".000000000\" collationValue=\"{c}\"/>\n";
}
std::string count(int calls) {
  return "<methodCount count=\"" + std::to_string(calls) + "\" methodIdRef=\"2\" collationValue=\"{c}\"/>\n";
}

// Two calls that continue over the parts; the counts of each part count from the beginning.
const std::string kFirst = document("t1", "1", "", kThread + kMethod + entry(1, "2"), count(1) + end("t1", "3"));
const std::string kSecond =
    document("t2", "3", continues("t1"), kThread + kMethod + entry(2, "4"), count(2) + end("t2", "5"));
const std::string kThird =
    document("t3", "5", continues("t2"), kThread + kMethod + exit(2, "6") + exit(1, "7"), count(2) + end("t3", "8"));
const std::string kWhole =
    document("t1", "1", "", kThread + kMethod + entry(1, "2") + entry(2, "4") + exit(2, "6") + exit(1, "7"),
             count(2) + end("t1", "8"));

using Inputs = std::map<std::string, std::string>;  // name, text

Result<std::vector<AgentParts>> order(const Inputs& inputs, bool overlaps = false) {
  std::vector<TracePart> heads;
  for (const auto& [name, text] : inputs) {
    FaultLog faults;
    auto source = make_event_source(std::move(*memory_byte_source(text)), name, faults);
    heads.push_back(*read_part_head(**source, name));
  }
  return order_parts(std::move(heads), overlaps);
}
Result<ReadSummary> read(const Inputs& inputs, EventSink& sink, FaultLog& faults) {
  auto agents = order(inputs);
  if (!agents) return fail(agents.error());
  EXPECT_EQ(agents->size(), 1u);
  PartsSource source(std::move(agents->front()), [&](const std::string& name) {
    return make_event_source(std::move(*memory_byte_source(inputs.at(name))), name, faults);
  });
  auto* validator = dynamic_cast<Validator*>(&sink);
  if (validator != nullptr) validator->set_source(&source);
  return source.read(sink);
}

TEST(Parts, InAnyOrderAreTheDocumentThatWasNotCut) {
  for (const Inputs& inputs :
       {Inputs{{"a", kFirst}, {"b", kSecond}, {"c", kThird}}, Inputs{{"a", kThird}, {"b", kFirst}, {"c", kSecond}}}) {
    FaultLog faults;
    MemorySink bytes;
    XmlWriter writer(bytes);
    test::must(read(inputs, writer, faults));
    ASSERT_TRUE(writer.finish());
    EXPECT_EQ(bytes.text(), kWhole);
    EXPECT_EQ(faults.total(), 0u);
  }
}

TEST(Parts, HaveTheStatisticsOfTheWhole) {
  FaultLog faults;
  Statistics parts, whole;
  ASSERT_TRUE(read({{"a", kThird}, {"b", kFirst}, {"c", kSecond}}, parts, faults));
  ASSERT_TRUE(read({{"a", kWhole}}, whole, faults));
  ASSERT_TRUE(parts.finish() && whole.finish());
  EXPECT_EQ(statistics_text(parts, 20), statistics_text(whole, 20));
  EXPECT_EQ(parts.by_scope()[0].methods.at(2).calls, 2u);
}

TEST(Parts, ACallThatGoesOnIsSound) {
  FaultLog faults(
      {.repeats = FaultLog::Repeats::kAll, .print = [](const std::string& text) { ADD_FAILURE() << text; }});
  Validator validator("parts", faults);
  ASSERT_TRUE(read({{"a", kThird}, {"b", kFirst}, {"c", kSecond}}, validator, faults));
  ASSERT_TRUE(validator.finish());
}

TEST(Parts, OneThatIsMissingIsNamedAndIsAGap) {
  const Inputs inputs{{"a.xml", kFirst}, {"b.xml", kThird}};
  const auto agents = order(inputs);
  ASSERT_TRUE(agents);
  EXPECT_THAT(agents->front().missing, ElementsAre("between a.xml and b.xml a part of the trace is missing: b.xml "
                                                   "continues t2, which no input has"));
  FaultLog faults;
  Statistics statistics;
  ASSERT_TRUE(read(inputs, statistics, faults));
  ASSERT_TRUE(statistics.finish());
  // Calls that were open before the gap do not continue after it.
  EXPECT_EQ(statistics.calls().unmatched_exits(), 2u);
  EXPECT_EQ(statistics.by_scope()[0].methods.at(2).total, 0u);
  // That the oldest parts are missing is normal with --rotate.
  EXPECT_TRUE(order({{"b", kSecond}, {"c", kThird}})->front().missing.empty());
}

TEST(Parts, OneThatIsGivenTwiceIsRefused) {
  const auto twice = order({{"a.xml", kFirst}, {"b.xml", kSecond}, {"copy.xml", kSecond}}, true);
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message(), HasSubstr("b.xml and copy.xml are the same part of a trace (traceId t2)"));
  EXPECT_FALSE(order({{"a", kWhole}, {"b", kWhole}}, false));
  EXPECT_TRUE(order({{"a", kWhole}, {"b", kWhole}}, true));  // merge accepts overlapping pieces
}

TEST(Parts, OfOtherAgentsStayApart) {
  std::string other = kFirst;
  for (std::size_t at = other.find("=\"a\""); at != std::string::npos; at = other.find("=\"a\""))
    other.replace(at, 4, "=\"b\"");
  const auto agents = order({{"a", kFirst}, {"b", kSecond}, {"c", other}});
  ASSERT_TRUE(agents);
  ASSERT_EQ(agents->size(), 2u);
  EXPECT_EQ(agents->front().traces.front().size(), 2u);
}

TEST(Parts, TracesOfOneAgentMergeAlthoughEachHasItsTime) {
  const std::string later = document("t9", "20", "", kThread, end("t9", "21"));
  Merger merger({.spool_folder = ::testing::TempDir()});
  for (const std::string* text : {&later, &kWhole}) {
    FaultLog faults;
    auto source = make_event_source(std::move(*memory_byte_source(*text)), "in", faults);
    test::must(merger.add(**source, "in"));
  }
  MemorySink bytes;
  XmlWriter writer(bytes);
  ASSERT_TRUE(merger.write(writer));
  ASSERT_TRUE(writer.finish());
  EXPECT_THAT(bytes.text(), HasSubstr("agentName=\"jtrace\" time=\"1.000000000\""));
  EXPECT_THAT(bytes.text(), HasSubstr("<agentDestroy agentIdRef=\"a\" time=\"21.000000000\"/>"));
}

}  // namespace
}  // namespace jtrace::trace::io
