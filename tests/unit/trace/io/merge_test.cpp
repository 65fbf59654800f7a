// Merging: streams that overlap, have gaps and are out of order become one document.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/io/merger.h"
#include "trace/io/open_source.h"
#include "trace/io/validator.h"
#include "trace/xml_writer.h"

namespace jtrace::trace::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Merged {
  Result<MergeSummary> summary{MergeSummary{}};
  std::string xml;
};

Merged merge(const std::vector<std::string>& inputs, bool renumber = false) {
  Merged merged;
  Merger merger({.spool_folder = ::testing::TempDir(), .renumber = renumber});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "in" + std::to_string(i + 1);
    FaultLog faults;
    auto source = make_event_source(std::move(*memory_byte_source(inputs[i])), name, faults);
    EXPECT_TRUE(source);
    EXPECT_TRUE(merger.add(**source, name));
  }
  MemorySink bytes;
  XmlWriter writer(bytes, {.single_trace = merger.trace_count() == 1});
  merged.summary = merger.write(writer);
  EXPECT_TRUE(writer.finish());
  merged.xml = bytes.text();
  return merged;
}

std::uint64_t faults_of(const std::string& xml) {
  FaultLog faults(
      {.repeats = FaultLog::Repeats::kAll, .print = [](const std::string& text) { ADD_FAILURE() << text; }});
  Validator validator("merged", faults);
  auto source = make_event_source(std::move(*memory_byte_source(xml)), "merged", faults);
  validator.set_source(source->get());
  EXPECT_TRUE((*source)->read(validator));
  EXPECT_TRUE(validator.finish());
  return faults.total();
}

const std::string kDeclaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n";
std::string head(const std::string& node, const std::string& process, const std::string& agent,
                 const std::string& host) {
  return "<node nodeId=\"" + node + "\" hostname=\"" + host + "\" ipaddress=\"\"/>\n<processCreate processId=\"" +
         process + "\" pid=\"1\" nodeIdRef=\"" + node + "\" time=\"1.000000000\"/>\n<agentCreate agentId=\"" + agent +
         "\" processIdRef=\"" + process + "\" agentName=\"jtrace\" time=\"1.000000000\"/>\n";
}
std::string start(const std::string& trace, const std::string& agent, const std::string& time) {
  return "<traceStart traceId=\"" + trace + "\" agentIdRef=\"" + agent + "\" time=\"" + time +
         "\" collationValue=\"1\"/>\n";
}
std::string line(const std::string& trace, int collation, const std::string& time) {
  return "<threadStart threadId=\"" + std::to_string(collation) + "\" time=\"" + time + "\" collationValue=\"" +
         std::to_string(collation) + "\" traceIdRef=\"" + trace + "\"/>\n";
}
std::string end(const std::string& trace, const std::string& agent, const std::string& time) {
  return "<traceEnd traceIdRef=\"" + trace + "\" time=\"" + time + "\"/>\n<agentDestroy agentIdRef=\"" + agent +
         "\" time=\"" + time + "\"/>\n";
}
std::string option(const std::string& trace, const std::string& key, const std::string& value) {
  return "<option key=\"" + key + "\" value=\"" + value + "\" traceIdRef=\"" + trace + "\"/>\n";
}

// The values of an attribute, in the order of the document.
std::vector<std::string> all(const std::string& xml, const std::string& attribute) {
  std::vector<std::string> found;
  const std::string key = " " + attribute + "=\"";
  for (std::size_t at = xml.find(key); at != std::string::npos; at = xml.find(key, at + 1))
    found.push_back(xml.substr(at + key.size(), xml.find('"', at + key.size()) - at - key.size()));
  return found;
}

TEST(Merge, OneDocumentComesBackByteByByte) {
  const std::string text = kDeclaration + head("n", "p", "a", "h") + start("t", "a", "1.000000000") +
                           "<threadStart threadId=\"1\" time=\"1.500000000\" threadName=\"x\" collationValue=\"2\"/>\n"
                           "<option key=\"k\" value=\"v\"/>\n<gcStart time=\"2.000000000\" collationValue=\"3\"/>\n"
                           "<gcFinish time=\"2.100000000\" collationValue=\"4\"/>\n" +
                           end("t", "a", "3.000000000") + "</TRACE>\n";
  const Merged merged = merge({text});
  ASSERT_TRUE(merged.summary) << merged.summary.error().message();
  EXPECT_EQ(merged.xml, text);
  EXPECT_EQ(merged.summary->elements, 10u);
}

TEST(Merge, PiecesOfOneTraceInAnyOrderAndTwice) {
  const std::string whole = head("n", "p", "a", "h") + start("t", "a", "1.0") + option("t", "k", "v") +
                            line("t", 2, "2.0") + line("t", 3, "3.0") + line("t", 4, "4.0") + end("t", "a", "5.0");
  const std::string first = line("t", 4, "4.0") + line("t", 2, "2.0");
  const std::string second = head("n", "p", "a", "h") + start("t", "a", "1.0") + option("t", "k", "v") +
                             line("t", 3, "3.0") + line("t", 2, "2.0") + end("t", "a", "5.0");
  const Merged merged = merge({first, second, second});
  ASSERT_TRUE(merged.summary) << merged.summary.error().message();
  EXPECT_EQ(merged.xml, merge({whole}).xml);
  EXPECT_EQ(merged.summary->duplicates, 6u);  // 2 twice; 1, the option, 3 and traceEnd once
  EXPECT_TRUE(merged.summary->gaps.empty());
  EXPECT_EQ(faults_of(merged.xml), 0u);
}

TEST(Merge, DuplicatesThatDifferAreRefused) {
  const std::string text = head("n", "p", "a", "h") + start("t", "a", "1.0");
  const Merged merged = merge({text + line("t", 2, "2.0"), line("t", 2, "2.5")});
  ASSERT_FALSE(merged.summary);
  EXPECT_EQ(exit_status(merged.summary.error()), ExitStatus::kMalformed);
  EXPECT_THAT(merged.summary.error().message(), HasSubstr("collationValue 2 of trace t"));
  EXPECT_THAT(merged.summary.error().message(), HasSubstr("in2:1: "));
  EXPECT_THAT(merged.summary.error().message(), HasSubstr("in1:5: "));
}

TEST(Merge, GapsAreReportedAndMarked) {
  const Merged merged = merge({head("n", "p", "a", "h") + start("t", "a", "1.0") + line("t", 5, "2.0") +
                               line("t", 6, "3.0") + line("t", 9, "4.0") + end("t", "a", "5.0")});
  ASSERT_TRUE(merged.summary);
  ASSERT_EQ(merged.summary->gaps.size(), 2u);
  EXPECT_EQ(merged.summary->gaps[0].first, 2u);
  EXPECT_EQ(merged.summary->gaps[0].last, 4u);
  EXPECT_EQ(merged.summary->gaps[1].first, 7u);
  EXPECT_THAT(merged.xml, HasSubstr("<option key=\"jtrace.dropped\" value=\"3\"/>\n<threadStart threadId=\"5\""));
  // If the result is merged again, the marks are not doubled.
  EXPECT_EQ(merge({merged.xml}).xml, merged.xml);
}

TEST(Merge, TracesOfOneNodeByTheMonotonicClockOthersByTheWall) {
  // The clock was set back by 100 s between the starts of a and b; c is of another node.
  const auto clock = [](const std::string& trace, const std::string& monotonic, const std::string& realtime) {
    return option(trace, "jtrace.clock",
                  "monotonic=" + monotonic + ",realtime=" + realtime + ",resolution=0.000000001");
  };
  const std::string a = head("n", "p", "a", "h") + start("ta", "a", "1000.0") + clock("ta", "50.0", "1000.0") +
                        line("ta", 2, "1001.0") + line("ta", 3, "1005.0");
  const std::string b =
      head("n", "p", "b", "h") + start("tb", "b", "902.0") + clock("tb", "52.0", "902.0") + line("tb", 2, "903.0");
  const std::string c = head("m", "q", "c", "i") + start("tc", "c", "1001.5") + line("tc", 2, "1004.0");
  const Merged merged = merge({a, b, c});
  ASSERT_TRUE(merged.summary);
  EXPECT_THAT(all(merged.xml.substr(merged.xml.find("<traceStart")), "time"),
              ElementsAre("1000.000000000", "1001.000000000", "1001.500000000", "902.000000000", "903.000000000",
                          "1004.000000000", "1005.000000000"));
  EXPECT_EQ(all(merged.xml, "nodeId").size(), 2u);
  EXPECT_EQ(all(merged.xml, "processId").size(), 2u);
  EXPECT_EQ(all(merged.xml, "agentId").size(), 3u);
}

TEST(Merge, ACoreJoinsTheLiveProcessOfItsVm) {
  const std::string vm = "pid=7,createVmBeginTime=1763650001200";
  const std::string live =
      head("n", "p", "a", "h") + start("ta", "a", "1.0") + option("ta", "jtrace.vm", vm) + end("ta", "a", "9.0");
  const std::string core = head("cn", "cp", "c", "") + start("tc", "c", "8.0") +
                           option("tc", "jtrace.kind", "snapshot") + option("tc", "jtrace.vm", vm) +
                           end("tc", "c", "8.0");
  const std::string other =
      head("on", "op", "o", "") + start("to", "o", "8.5") + option("to", "jtrace.vm", "pid=7") + end("to", "o", "8.5");
  const Merged merged = merge({core, live, other});
  ASSERT_TRUE(merged.summary);
  EXPECT_EQ(merged.summary->joined_processes, 1u);
  EXPECT_THAT(all(merged.xml, "processId"), ElementsAre("p", "op"));
  EXPECT_THAT(all(merged.xml, "nodeId"), ElementsAre("n", "on"));
  EXPECT_THAT(all(merged.xml, "processIdRef"), ElementsAre("p", "p", "op"));
  EXPECT_EQ(faults_of(merged.xml), 0u);
}

TEST(Merge, ARemoteCalleeComesAfterItsCaller) {
  const auto entry = [](const std::string& trace, int collation, const std::string& time, const std::string& child) {
    return "<methodEntry threadIdRef=\"7\" time=\"" + time + "\" ticket=\"" + std::to_string(collation) +
           "\" collationValue=\"" + std::to_string(collation) + "\" traceIdRef=\"" + trace + "\">" + child +
           "</methodEntry>\n";
  };
  const auto caller = [](const std::string& agent, int ticket) {
    return "<InvocationContext agentIdRef=\"" + agent + "\" threadIdRef=\"7\" ticket=\"" + std::to_string(ticket) +
           "\"/>";
  };
  // The callee's clock is ahead: without the context it would come first.
  const std::string callee = head("m", "q", "b", "i") + start("tb", "b", "1.0") +
                             entry("tb", 2, "2.0", caller("a", 3)) + entry("tb", 3, "2.5", caller("x", 1)) +
                             end("tb", "b", "2.6");
  const std::string from = head("n", "p", "a", "h") + start("ta", "a", "3.0") + entry("ta", 2, "3.5", "") +
                           entry("ta", 3, "4.0", "") + entry("ta", 4, "5.0", "") + end("ta", "a", "6.0");
  const Merged merged = merge({callee, from});
  ASSERT_TRUE(merged.summary);
  EXPECT_EQ(merged.summary->remote_calls, 1u);
  EXPECT_EQ(merged.summary->remote_unknown, 1u);
  const std::size_t called = merged.xml.find("ticket=\"2\" collationValue=\"2\" traceIdRef=\"tb\"");
  const std::size_t calling = merged.xml.find("ticket=\"3\" collationValue=\"3\" traceIdRef=\"ta\"");
  const std::size_t next = merged.xml.find("ticket=\"4\" collationValue=\"4\" traceIdRef=\"ta\"");
  ASSERT_NE(called, std::string::npos) << merged.xml;
  EXPECT_LT(calling, called);
  EXPECT_LT(called, next);
  // Two calls that wait for each other are written anyway.
  const Merged circle =
      merge({head("m", "q", "b", "i") + start("tb", "b", "1.0") + entry("tb", 2, "2.0", caller("a", 2)),
             head("n", "p", "a", "h") + start("ta", "a", "1.0") + entry("ta", 2, "2.0", caller("b", 2))});
  ASSERT_TRUE(circle.summary);
  EXPECT_EQ(circle.summary->remote_circular, 1u);
  EXPECT_EQ(all(circle.xml, "ticket").size(), 4u);
}

TEST(Merge, RenumberMakesIdsUniqueInTheDocument) {
  const auto trace = [](const std::string& agent, const std::string& extra) {
    const std::string t = "t" + agent;
    return head("n", "p", agent, "h") + start(t, agent, "1.0") + "<threadStart threadId=\"5\" traceIdRef=\"" + t +
           "\"/>\n<classDef name=\"A\" classId=\"2\" transientClassId=\"2\" objIdRef=\"0\" traceIdRef=\"" + t +
           "\"/>\n<methodDef name=\"m\" methodId=\"3\" classIdRef=\"2\" traceIdRef=\"" + t +
           "\"/>\n<objAlloc threadIdRef=\"5\" objId=\"9\" classIdRef=\"2\" traceIdRef=\"" + t +
           "\"/>\n<monWait threadIdRef=\"5\" objIdRef=\"-1\" traceIdRef=\"" + t + "\"/>\n" + extra +
           end(t, agent, "9.0");
  };
  const Merged merged =
      merge({trace("a", ""),
             trace("b",
                   "<methodEntry threadIdRef=\"5\" methodIdRef=\"3\" traceIdRef=\"tb\"><InvocationContext "
                   "agentIdRef=\"a\" threadIdRef=\"5\"/><value name=\"x\" objIdRef=\"9\"/></methodEntry>\n"
                   "<value name=\"A\" serializationFormat=\"histogram instances=4 classId=2\" traceIdRef=\"tb\"/>\n")},
            true);
  ASSERT_TRUE(merged.summary) << merged.summary.error().message();
  EXPECT_THAT(all(merged.xml, "threadId"), ElementsAre("5", "10"));
  EXPECT_THAT(all(merged.xml, "classId"), ElementsAre("2", "4"));
  EXPECT_THAT(all(merged.xml, "transientClassId"), ElementsAre("2", "4"));
  EXPECT_THAT(all(merged.xml, "methodId"), ElementsAre("3", "6"));
  EXPECT_THAT(all(merged.xml, "objId"), ElementsAre("9", "18"));
  EXPECT_THAT(merged.xml, HasSubstr("objIdRef=\"-1\""));
  EXPECT_THAT(merged.xml, HasSubstr("objIdRef=\"0\""));
  EXPECT_THAT(merged.xml, HasSubstr("<methodEntry threadIdRef=\"10\" methodIdRef=\"6\" traceIdRef=\"tb\">"
                                    "<InvocationContext agentIdRef=\"a\" threadIdRef=\"5\"/><value name=\"x\" "
                                    "objIdRef=\"18\"/></methodEntry>"));
  EXPECT_THAT(merged.xml, HasSubstr("histogram instances=4 classId=4"));
  EXPECT_EQ(faults_of(merged.xml), 0u);
}

TEST(Merge, RenumberChangesTheIdsWithinOptionsToo) {
  const auto trace = [](const std::string& agent) {
    const std::string t = "t" + agent;
    return head("n", "p", agent, "h") + start(t, agent, "1.0") + "<threadStart threadId=\"5\" traceIdRef=\"" + t +
           "\"/>\n<objDef objId=\"9\" traceIdRef=\"" + t + "\"/>\n" + option(t, "jtrace.threadState", "5 native") +
           option(t, "jtrace.exit", "5") + option(t, "jtrace.cutStack", "5") +
           option(t, "jtrace.stack", "hotspot:gc__begin 5 a;b 5") + option(t, "jtrace.suppressed", "9 by 9") +
           option(t, "jtrace.gap", "thread=5,from=1.000000000,lost=5") + option(t, "other", "5 by 9") +
           end(t, agent, "9.0");
  };
  const std::string merged = merge({trace("a"), trace("b")}, true).xml;
  for (const char* value :
       {"10 native", "10", "hotspot:gc__begin 10 a;b 5", "18 by 18", "thread=10,from=1.000000000,lost=5", "5 by 9"})
    EXPECT_THAT(merged, HasSubstr("value=\"" + std::string(value) + "\" traceIdRef=\"tb\"")) << merged;
  EXPECT_THAT(merged, HasSubstr("value=\"5 native\" traceIdRef=\"ta\""));
}

TEST(Merge, AgentsThatDifferAreRefusedNodesAreCompleted) {
  const std::string text = head("n", "p", "a", "h");
  std::string other = text;
  other.replace(other.find("agentName=\"jtrace\""), 18, "agentName=\"hsperf\"");
  const Merged merged = merge({text, text});
  ASSERT_TRUE(merged.summary);
  EXPECT_EQ(merged.summary->elements, 3u);
  Merger merger({.spool_folder = ::testing::TempDir()});
  FaultLog faults;
  for (const auto* each : {&text, static_cast<const std::string*>(&other)}) {
    auto source = make_event_source(std::move(*memory_byte_source(*each)), "in", faults);
    const auto read = merger.add(**source, "in");
    if (each == &text) {
      EXPECT_TRUE(read);
    } else {
      ASSERT_FALSE(read);
      EXPECT_THAT(read.error().message(), HasSubstr("the agent a is defined in another way"));
    }
  }
  const Merged completed = merge({"<node nodeId=\"n\" hostname=\"h\" ipaddress=\"\"/>\n",
                                  "<node nodeId=\"n\" hostname=\"g\" ipaddress=\"\" time=\"7.0\"/>\n"});
  EXPECT_THAT(completed.xml, HasSubstr("<node nodeId=\"n\" hostname=\"h\" ipaddress=\"\" time=\"7.000000000\"/>"));
  ASSERT_TRUE(completed.summary);
  EXPECT_EQ(completed.summary->differences.size(), 1u);
}

}  // namespace
}  // namespace jtrace::trace::io
