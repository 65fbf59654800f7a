// Reading: written documents come back byte by byte; for bad inputs the message has the fault and its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/trace/full_events.h"
#include "trace/io/compress_sink.h"
#include "trace/io/open_source.h"
#include "trace/io/statistics.h"
#include "trace/io/statistics_rows.h"
#include "trace/io/validator.h"
#include "trace/io/xml_source.h"
#include "trace/xml_writer.h"

namespace jtrace::trace::io {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  Result<ReadSummary> summary{ReadSummary{}};
  std::string xml;  // written again
  std::vector<std::string> said;
  FaultLog faults;
};

Outcome read(std::string_view text, XmlForm form = XmlForm::kDocument, OpenOptions options = {}) {
  Outcome outcome;
  auto said = std::make_shared<std::vector<std::string>>();
  FaultLog faults({.strict = options.strict, .print = [said](const std::string& line) { said->push_back(line); }});
  MemorySink bytes;
  XmlWriter writer(bytes, {.form = form});
  auto source = make_event_source(std::move(*memory_byte_source(text)), "in", faults, options);
  if (!source) {
    outcome.summary = fail(source.error());
    return outcome;
  }
  outcome.summary = (*source)->read(writer);
  EXPECT_TRUE(writer.finish());
  outcome.xml = bytes.text();
  outcome.said = *said;
  outcome.faults = faults;
  return outcome;
}

std::string error_of(std::string_view text, OpenOptions options = {}) {
  const Outcome outcome = read(text, XmlForm::kDocument, options);
  if (outcome.summary) return "no error";
  EXPECT_EQ(exit_status(outcome.summary.error()), ExitStatus::kMalformed);
  return outcome.summary.error().message();
}

std::string document(std::string_view elements) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n" + std::string(elements) + "</TRACE>\n";
}

template <class Element>
void write_full(XmlWriter& writer) {
  Element element = test::element_with<Element>(test::kAll);
  test::add_children(element);
  ASSERT_TRUE(writer.write(element));
  ASSERT_TRUE(writer.write(test::element_with<Element>(test::kRequiredOnly)));
}
std::string every_element(XmlForm form) {
  MemorySink bytes;
  XmlWriter writer(bytes, {.form = form});
#define JTRACE_ELEMENT(Struct, name, content, description) write_full<Struct>(writer);
#include "trace/elements.def"
  EXPECT_TRUE(writer.finish());
  return bytes.text();
}

TEST(Read, EveryElementComesBackByteByByte) {
  const std::string text = every_element(XmlForm::kDocument);
  const Outcome outcome = read(text);
  ASSERT_TRUE(outcome.summary) << outcome.summary.error().message();
  EXPECT_EQ(outcome.xml, text);
}

TEST(Read, FragmentsAreRecognised) {
  const std::string text = every_element(XmlForm::kFragments);
  const Outcome outcome = read(text, XmlForm::kFragments);
  ASSERT_TRUE(outcome.summary) << outcome.summary.error().message();
  EXPECT_TRUE(outcome.summary->fragments);
  EXPECT_FALSE(outcome.summary->truncated);
  EXPECT_EQ(outcome.xml, text);
}

TEST(Read, PackedInputsAndTheirCutTails) {
  // Of several blocks; the contents of a truncated one are lost.
  std::string lines;
  for (std::uint64_t i = 0; i < 20'000; ++i)
    lines += "<tag name=\"" + std::to_string(i * 0x9e3779b97f4a7c15u) + "\" value=\"v\"/>\n";
  const std::string text = document(lines);
  for (const Compression compression : {Compression::kZstd, Compression::kGzip}) {
    struct Into final : ByteSink {
      explicit Into(std::string& to) : out(to) {}
      Result<> drain(std::string_view records) override {
        out += records;
        return {};
      }
      std::uint64_t held() const override { return out.size(); }
      std::string& out;
    };
    std::string packed;
    auto sink = compressing(std::make_unique<Into>(packed), compression);
    ASSERT_TRUE(sink);
    ASSERT_TRUE((*sink)->write(text));
    ASSERT_TRUE((*sink)->finish());
    EXPECT_LT(packed.size(), text.size() / 2);
    const Outcome whole = read(packed);
    ASSERT_TRUE(whole.summary);
    EXPECT_EQ(whole.xml, text);
    EXPECT_FALSE(whole.summary->truncated);
    const Outcome cut = read(std::string_view(packed).substr(0, packed.size() - 20));
    ASSERT_TRUE(cut.summary);
    EXPECT_TRUE(cut.summary->truncated);
    // Of the first block nothing is left: that is not an empty input.
    EXPECT_THAT(error_of(packed.substr(0, 12)), HasSubstr("is cut off"));
  }
}

TEST(Read, BothSpellings) {
  const Outcome outcome = read(document(
      "<methodDef name=\"-init-\" signatureNotation=\"n\" transientClassIdRef=\"7\"/>\n<line threadIdRef=\"3\"/>\n"
      "<methodExit threadIdRef=\"1\"><VALUE name=\"x\"/></methodExit>\n"));
  ASSERT_TRUE(outcome.summary);
  EXPECT_EQ(outcome.xml,
            document("<methodDef name=\"&lt;init&gt;\" signitureNotation=\"n\" transcientClassIdRef=\"7\"/>\n"
                     "<line threadId=\"3\"/>\n<methodExit threadIdRef=\"1\"><value name=\"x\"/></methodExit>\n"));
  EXPECT_TRUE(outcome.said.empty());
}

TEST(Read, CutTailsGiveWhatComesBefore) {
  const std::string whole = document("<gcStart time=\"1.000000000\"/>\n<gcFinish time=\"2.000000000\"/>\n");
  const std::size_t second = whole.find("<gcFinish");
  for (std::size_t size = second; size < whole.find("</TRACE>") + 7; ++size) {
    const Outcome outcome = read(whole.substr(0, size));
    ASSERT_TRUE(outcome.summary) << size;
    EXPECT_TRUE(outcome.summary->truncated) << size;
    EXPECT_EQ(outcome.summary->elements, size >= whole.find("/>", second) + 2 ? 2u : 1u) << size;
  }
  EXPECT_THAT(error_of(whole.substr(0, second + 4), {.strict = true}), HasSubstr("truncated after 1 element"));
}

TEST(Read, BadInputsAreRefusedWithTheirPlace) {
  EXPECT_EQ(error_of("<html>\n</html>"), "in:1:1: root element is <html>, expected <TRACE>");
  EXPECT_THAT(error_of("no xml"), HasSubstr("is not XML"));
  EXPECT_THAT(error_of(""), HasSubstr("is empty"));
  EXPECT_THAT(error_of("<!DOCTYPE TRACE [<!ENTITY a \"aa\">]>\n<TRACE>&a;</TRACE>"),
              HasSubstr("entity expansion refused"));
  EXPECT_THAT(error_of("<!DOCTYPE TRACE [<!ENTITY a SYSTEM \"file:///x\">]>\n<TRACE/>"),
              HasSubstr("external entities are not allowed"));
  EXPECT_THAT(error_of(document("<gcStart time=\"1.0\" time=\"2.0\"/>")),
              HasSubstr("in:3:21: duplicate attribute time"));
  EXPECT_THAT(error_of(document("<tag name=\"\x01\"/>")), HasSubstr("byte 0x01"));
  EXPECT_THAT(error_of(document("<tag name=\"<init>\"/>")), HasSubstr("-init-"));
  EXPECT_THAT(error_of(document("<tag name=\"" + std::string(kMaxToken + 100, 'x') + "\"/>")),
              HasSubstr("longer than 1048576 bytes"));
  std::string deep;
  for (int i = 0; i < 30; ++i) deep += "<value>";
  EXPECT_THAT(error_of(document(deep)), HasSubstr("nested deeper than 16 levels"));
  EXPECT_THAT(error_of("<TRACE></TRACE><TRACE></TRACE>"), HasSubstr("several documents in one file"));
}

// The messages and the events, from both parsers.
std::string told(std::string_view text, bool expat_only, bool strict) {
  const Outcome outcome = read(text, XmlForm::kDocument, {.strict = strict, .expat_only = expat_only});
  std::string all = outcome.summary ? std::to_string(outcome.summary->elements) + " elements" +
                                          (outcome.summary->truncated ? ", truncated" : "")
                                    : outcome.summary.error().message();
  for (const std::string& line : outcome.said) all += "\n" + line;
  return all + "\n" + outcome.xml;
}

TEST(Read, TheFastParserGivesTheMessagesOfExpat) {
  const std::string every = every_element(XmlForm::kDocument);
  std::vector<std::string> texts = {every, every_element(XmlForm::kFragments), "<TRACE></TRACE>", "<TRACE>",
                                    "<TRACE/>"};
  for (const char* body : {"<tag name='a\"b' value=\"it's\"/>",
                           "<tag name=\"\xc3\xa9 \xe2\x82\xac &lt;&#10;&amp;x\"/>",
                           "<tag name=\"&#233;&#x41;\"/>",
                           "<tag name=\"a\tb\nc\"/>",
                           "<!-- a comment --><tag/>",
                           "<![CDATA[ ]]><tag/>",
                           "<?pi?><tag/>",
                           "<tag  name = \"a\" />",
                           "<tag\n  name=\"a\"\n  foo=\"b\"\n/><gcStart time=\"x\"/>",
                           "<tag name=\"a\"name=\"b\"/>",
                           "<tag name=\"a\" name=\"b\"/>",
                           "<tag name=\"a<b\"/>",
                           "<tag name=\"a&b\"/>",
                           "<tag name=\"a",
                           "<tag name=\"\xff\"/>",
                           "<tag name=\"\xef\xbf\xbe\"/>",
                           "<tag name=\"\x7f\"/>",
                           "<t\xc3\xa9g/>",
                           "<tag></tga>",
                           "<tag></tag >",
                           "<tag>text</tag>",
                           "text",
                           "<value>one\ntwo &amp; ]]&gt;</value>",
                           "<value>]]></value>",
                           "<value>a\r\nb</value>",
                           "<methodEntry threadIdRef=\"1\">\n  <InvocationContext ticket=\"1,1\"/>\n\t<value "
                           "foo=\"1\"/>\n</methodEntry><foo/>",
                           "<methodExit><value><value/></value></methodExit><tag/>",
                           "<foo><bar name=\"x\">y</bar></foo><tag name=\"z\"/>",
                           "\xc3\xa9<foo/>",
                           "   <foo/>\xe2\x82\xac",
                           "<tag name=\"\xe2\x82\xac\"/><foo/><gcStart time=\"\xc3\xa9\"/><foo2/>",
                           "<tag name=\"\x01\"/>",
                           "</TRACE><tag/>",
                           "<tag/",
                           "<",
                           "</tag>",
                           "<methodBody><code/><value>x</value></methodBody><oh/>"}) {
    texts.push_back(document(body));
    texts.push_back(document("<tag name=\"first\"/>\n" + std::string(body) + "<tag name=\"next\"/>\n"));
    texts.push_back("<TRACE>" + std::string(body));
    texts.push_back(body);
  }
  for (const std::string& text : texts)
    for (const bool strict : {false, true}) EXPECT_EQ(told(text, false, strict), told(text, true, strict)) << text;
  // Truncated at every place.
  const std::string some = document(
      "<tag name=\"&lt;\xc3\xa9\"/>\n<methodExit threadIdRef=\"1\"><value name=\"a\">b</value></methodExit>\n");
  for (std::size_t size = 1; size < some.size(); ++size)
    EXPECT_EQ(told(some.substr(0, size), false, false), told(some.substr(0, size), true, false)) << size;
}

TEST(Read, FaultsAreCountedAndStrictRefusesThem) {
  const std::string text = document(
      "<foo/>\n<foo/>\n<gcStart bar=\"1\"/>\n<gcStart time=\"soon\" collationValue=\"1,2,3\"/>\n<node "
      "nodeId=\"n\"/>\n");
  const Outcome outcome = read(text);
  ASSERT_TRUE(outcome.summary);
  EXPECT_EQ(outcome.summary->elements, 2u);
  EXPECT_EQ(outcome.faults.count("unknown element"), 2u);
  EXPECT_EQ(outcome.faults.count("unknown attribute"), 1u);
  EXPECT_EQ(outcome.faults.count("bad value"), 2u);
  EXPECT_EQ(outcome.faults.count("missing attribute"), 1u);
  EXPECT_EQ(outcome.said.size(), 5u);  // once for each name
  EXPECT_EQ(outcome.said.at(0), "in:3:1: unknown element <foo>");
  EXPECT_EQ(error_of(text, {.strict = true}), "in:3:1: unknown element <foo>");
}

TEST(Read, ModifiedUtf8IsMendedOnRequest) {
  const std::string text = document("<tag name=\"a\xc0\x80z\" value=\"\xed\xa0\xbd\xed\xb8\x80\"/>\n");
  EXPECT_THAT(error_of(text), HasSubstr("--repair-utf8"));
  const Outcome outcome = read(text, XmlForm::kDocument, {.repair_utf8 = true});
  ASSERT_TRUE(outcome.summary);
  EXPECT_EQ(outcome.xml, document("<tag name=\"a\xef\xbf\xbdz\" value=\"\xf0\x9f\x98\x80\"/>\n"));
  EXPECT_EQ(outcome.faults.count("repaired UTF-8"), 2u);
}

TEST(Values, TimesAndWords) {
  EXPECT_EQ(parse_time("1763650001.200012345"), 1'763'650'001'200'012'345u);
  EXPECT_EQ(parse_time("7"), 7'000'000'000u);
  EXPECT_EQ(parse_time("0.5"), 500'000'000u);
  EXPECT_EQ(parse_time("1."), std::nullopt);
  EXPECT_EQ(parse_time("-1.0"), std::nullopt);
  EXPECT_EQ(parse_time("99999999999999999999"), std::nullopt);
  EXPECT_EQ(parse_words("5,1"), 4'294'967'301u);
  EXPECT_EQ(parse_words("4294967301"), 4'294'967'301u);
  EXPECT_EQ(parse_words("1,2,3"), std::nullopt);
  EXPECT_EQ(parse_words("4294967296,1"), std::nullopt);
}

// A small valid trace that contains `more`.
std::string sound(std::string_view more) {
  return document(
      "<node nodeId=\"n\" hostname=\"h\" ipaddress=\"\"/>\n"
      "<processCreate processId=\"p\" pid=\"1\" nodeIdRef=\"n\" time=\"1.0\"/>\n"
      "<agentCreate agentId=\"a\" processIdRef=\"p\" agentName=\"jtrace\" time=\"1.0\"/>\n"
      "<traceStart traceId=\"t\" agentIdRef=\"a\" time=\"1.0\" collationValue=\"1\"/>\n"
      "<threadStart threadId=\"1\" time=\"1.0\" threadName=\"main\" collationValue=\"2\"/>\n"
      "<classDef name=\"A\" classId=\"1\" collationValue=\"3\"/>\n"
      "<methodDef name=\"m\" methodId=\"1\" classIdRef=\"1\" collationValue=\"4\"/>\n" +
      std::string(more) + "<traceEnd traceIdRef=\"t\" time=\"9.0\"/>\n<agentDestroy agentIdRef=\"a\" time=\"9.0\"/>\n");
}

std::map<std::string, std::uint64_t> faults_of(const std::string& text,
                                               Validator::Ending ending = Validator::Ending::kWhole) {
  FaultLog faults({.repeats = FaultLog::Repeats::kAll, .print = [](const std::string&) {}});
  Validator validator("in", faults);
  auto source = make_event_source(std::move(*memory_byte_source(text)), "in", faults);
  validator.set_source(source->get());
  EXPECT_TRUE((*source)->read(validator));
  EXPECT_TRUE(validator.finish_after(ending));
  return faults.counts();
}
using Counts = std::map<std::string, std::uint64_t>;

TEST(Validate, WhatIsCutOffNeedsNoEnd) {
  const std::string whole = sound("<gcStart time=\"4.0\"/>\n<gcFinish time=\"5.0\"/>\n");
  const std::string cut = whole.substr(0, whole.find("<gcFinish") + 4);
  EXPECT_EQ(faults_of(cut), (Counts{{"unbalanced", 1}}));
  EXPECT_EQ(faults_of(cut, Validator::Ending::kCut), Counts());
}

TEST(Validate, SoundTracesHaveNoFaults) {
  EXPECT_EQ(faults_of(sound("<methodEntry threadIdRef=\"1\" time=\"2.0\" methodIdRef=\"1\" ticket=\"1\"/>\n"
                            "<methodCall threadIdRef=\"1\" time=\"2.0\" methodIdRef=\"1\" ticket=\"2\"/>\n"
                            "<methodReturn threadIdRef=\"1\" time=\"3.0\" methodIdRef=\"1\" ticket=\"2\"/>\n"
                            "<methodExit threadIdRef=\"1\" methodIdRef=\"1\" ticket=\"1\" time=\"3.0\"/>\n"
                            "<gcStart time=\"4.0\"/>\n<gcFinish time=\"5.0\"/>\n")),
            Counts());
}

TEST(Validate, FindsWhatIsWrong) {
  EXPECT_EQ(faults_of(sound("<gcFinish time=\"5.0\"/>\n")), (Counts{{"unbalanced", 1}}));
  // In a later part of a rotated trace a call may have begun in the part before; once.
  const std::string further = "<option key=\"jtrace.continues\" value=\"t0\"/>\n<gcFinish time=\"5.0\"/>\n";
  EXPECT_EQ(faults_of(sound(further)), Counts());
  EXPECT_EQ(faults_of(sound(further + "<gcFinish time=\"6.0\"/>\n")), (Counts{{"unbalanced", 1}}));
  EXPECT_EQ(faults_of(sound("<gcStart time=\"5.0\"/>\n<gcStart time=\"6.0\"/>\n")), (Counts{{"unbalanced", 1}}));
  EXPECT_EQ(faults_of(sound("<methodExit threadIdRef=\"1\" methodIdRef=\"1\"/>\n")), (Counts{{"unbalanced", 1}}));
  EXPECT_EQ(faults_of(sound("<methodReturn threadIdRef=\"1\" methodIdRef=\"1\"/>\n")), (Counts{{"unbalanced", 1}}));
  EXPECT_EQ(faults_of(sound("<methodEntry threadIdRef=\"1\" methodIdRef=\"1\" ticket=\"1\"/>\n"
                            "<methodCall threadIdRef=\"1\" methodIdRef=\"1\" ticket=\"2\"/>\n"
                            "<methodExit threadIdRef=\"1\" methodIdRef=\"1\" ticket=\"1\"/>\n")),
            (Counts{{"unbalanced", 1}}));
  EXPECT_EQ(faults_of(sound("<methodEntry threadIdRef=\"2\" methodIdRef=\"9\" classIdRef=\"8\"/>\n")),
            (Counts{{"undefined reference", 3}}));
  EXPECT_EQ(faults_of(sound("<classDef name=\"B\" classId=\"1\"/>\n")), (Counts{{"duplicate definition", 1}}));
  EXPECT_EQ(faults_of(sound("<gcStart time=\"5.0\" collationValue=\"3\"/>\n<gcFinish time=\"5.0\"/>\n")),
            (Counts{{"duplicate collationValue", 1}}));
  EXPECT_EQ(faults_of(sound("<gcStart time=\"5.0\" collationValue=\"7\"/>\n<gcFinish time=\"5.0\"/>\n")),
            (Counts{{"collation gap", 1}}));
  EXPECT_EQ(faults_of(sound("<line threadId=\"1\" time=\"5.0\"/>\n<line threadId=\"1\" time=\"4.0\"/>\n")),
            (Counts{{"time goes back", 1}}));
  EXPECT_EQ(faults_of(sound("<line traceIdRef=\"u\"/>\n")), (Counts{{"undefined reference", 1}}));
}

// --slower-than: the entry is written when the call has turned out to be slow, after its own events.
TEST(Validate, ALateEntryComesAfterItsOwnEvents) {
  const std::string late =
      "<line threadId=\"1\" time=\"2.0\"/>\n"
      "<methodEntry threadIdRef=\"1\" time=\"1.0\" methodIdRef=\"1\" ticket=\"1\"/>\n"
      "<methodExit threadIdRef=\"1\" methodIdRef=\"1\" ticket=\"1\" time=\"3.0\"/>\n";
  const std::string option = "<option key=\"slower-than\" value=\"0.5\"/>\n";
  EXPECT_EQ(faults_of(sound(late)), (Counts{{"time goes back", 1}}));
  EXPECT_EQ(faults_of(sound(option + late)), Counts());
  EXPECT_EQ(faults_of(sound(option + late +
                            "<methodEntry threadIdRef=\"1\" time=\"2.0\" methodIdRef=\"1\" ticket=\"2\"/>\n"
                            "<methodExit threadIdRef=\"1\" methodIdRef=\"1\" ticket=\"2\" time=\"4.0\"/>\n")),
            (Counts{{"time goes back", 1}}));
}

TEST(Validate, AClassDefHasTheTimeOfItsDefinition) {
  EXPECT_EQ(faults_of(sound("<line threadId=\"1\" time=\"5.0\"/>\n"
                            "<classDef threadIdRef=\"1\" name=\"B\" classId=\"2\" time=\"3.0\"/>\n"
                            "<line threadId=\"1\" time=\"5.0\"/>\n")),
            Counts());
}

TEST(Validate, ThreadsThatHaveEndedDifferFromUnknownOnes) {
  EXPECT_EQ(
      faults_of(sound("<threadEnd threadIdRef=\"1\" time=\"2.0\"/>\n<monWait threadIdRef=\"1\" time=\"3.0\"/>\n")),
      (Counts{{"reference after the end", 1}}));
}

TEST(Read, FormatsThatAreNotReadAreNamed) {
  EXPECT_THAT(error_of("{\"traceEvents\":[]}"), HasSubstr("JSON, but not JSON lines of jtrace"));
  EXPECT_THAT(error_of("SQLite format 3"), HasSubstr("database"));
}

TEST(Validate, MarkedGapsAndSnapshotsNeedNoBalance) {
  EXPECT_EQ(faults_of(sound(
                "<option key=\"jtrace.dropped\" value=\"5\"/>\n<methodExit threadIdRef=\"1\" methodIdRef=\"1\"/>\n")),
            Counts());
  EXPECT_EQ(faults_of(sound("<option key=\"jtrace.kind\" value=\"snapshot\"/>\n<gcFinish time=\"5.0\"/>\n")), Counts());
}

TEST(Statistics, AddsUpPausesWaitsAndCalls) {
  const std::string text = sound(
      "<threadStart threadId=\"2\" time=\"1.0\" threadName=\"other\"/>\n<objDef objId=\"5\" classIdRef=\"1\"/>\n"
      "<methodEntry threadIdRef=\"1\" time=\"2.0\" methodIdRef=\"1\" ticket=\"1\"/>\n"
      "<methodEntry threadIdRef=\"1\" time=\"2.5\" methodIdRef=\"2\" ticket=\"2\"/>\n"
      "<methodExit threadIdRef=\"1\" methodIdRef=\"1\" ticket=\"1\" time=\"4.0\"/>\n"
      "<gcStart time=\"4.0\"/>\n<gcFinish time=\"4.25\" usedObjectSpace=\"100\"/>\n"
      "<monContendedEnter threadIdRef=\"2\" time=\"5.0\" objIdRef=\"5\" threadOwner=\"1\"/>\n"
      "<monContendedEntered threadIdRef=\"2\" time=\"5.5\" objIdRef=\"5\"/>\n"
      "<monWait threadIdRef=\"2\" time=\"6.0\" objIdRef=\"-1\"/>\n<monWaited threadIdRef=\"2\" time=\"7.0\" "
      "objIdRef=\"-1\"/>\n"
      "<objAlloc threadIdRef=\"1\" objId=\"6\" size=\"24\" classIdRef=\"1\"/>\n");
  FaultLog faults;
  Statistics statistics;
  auto source = make_event_source(std::move(*memory_byte_source(text)), "in", faults);
  ASSERT_TRUE((*source)->read(statistics));
  ASSERT_TRUE(statistics.finish());
  ASSERT_EQ(statistics.by_scope().size(), 1u);
  const ScopeStatistics& all = statistics.by_scope()[0];
  EXPECT_EQ(all.gc.count, 1u);
  EXPECT_EQ(all.gc.total, 250'000'000u);
  EXPECT_EQ(all.contention.at("A").total, 500'000'000u);
  EXPECT_EQ(all.waited_for.at({2, 1}).count, 1u);
  EXPECT_EQ(all.threads.at(2).sleeping.total, 1'000'000'000u);
  EXPECT_EQ(all.methods.at(1).total, 2'000'000'000u);
  EXPECT_EQ(all.methods.at(1).self, 500'000'000u);
  EXPECT_EQ(all.methods.at(2).self, 1'500'000'000u);
  EXPECT_EQ(statistics.calls().closed_by_others(), 1u);
  EXPECT_EQ(all.allocations.at("A").bytes, 24u);
  EXPECT_THAT(statistics_text(statistics, 5), HasSubstr("other for main"));
  EXPECT_THAT(statistics_json(statistics, "in", 5), HasSubstr("\"view\":\"stats\""));
}

// LockSupport.park for a lock of java.util.concurrent; 0: no thread had it.
TEST(Statistics, AParkForALockNamesItsOwner) {
  const std::string text = sound(
      "<threadStart threadId=\"2\" time=\"1.0\" threadName=\"other\"/>\n<objDef objId=\"5\" classIdRef=\"1\"/>\n"
      "<monWait threadIdRef=\"2\" time=\"2.0\" objIdRef=\"5\" threadOwner=\"1\"/>\n"
      "<monWaited threadIdRef=\"2\" time=\"2.5\" objIdRef=\"5\"/>\n"
      "<monWait threadIdRef=\"2\" time=\"3.0\" objIdRef=\"5\" threadOwner=\"0\"/>\n"
      "<monWaited threadIdRef=\"2\" time=\"4.0\" objIdRef=\"5\"/>\n");
  FaultLog faults;
  Statistics statistics;
  auto source = make_event_source(std::move(*memory_byte_source(text)), "in", faults);
  ASSERT_TRUE((*source)->read(statistics));
  ASSERT_TRUE(statistics.finish());
  const ScopeStatistics& all = statistics.by_scope()[0];
  ASSERT_EQ(all.waited_for.size(), 1u);
  EXPECT_EQ(all.waited_for.at({2, 1}).total, 500'000'000u);
  EXPECT_EQ(all.threads.at(2).waiting.total, 1'500'000'000u);
  // By class: the lock that a thread had, and what else was waited on.
  EXPECT_EQ(all.contention.at("A").total, 500'000'000u);
  EXPECT_EQ(all.waits.at("A").total, 1'000'000'000u);
  EXPECT_THAT(statistics_text(statistics, 5),
              HasSubstr("CLASS OF THE MONITOR OR LOCK\n           1     0.500000     0.500000  A\n"));
  EXPECT_THAT(statistics_text(statistics, 5),
              HasSubstr("CLASS WAITED ON (Object.wait, parks for no lock that a thread had)\n"
                        "           1     1.000000     1.000000  A\n"));
  EXPECT_THAT(statistics_json(statistics, "in", 5), HasSubstr("\"contention\":[{\"class\":\"A\",\"times\":1,"));
  EXPECT_THAT(statistics_text(statistics, 5), HasSubstr("0.500000  other for main\n"));
  EXPECT_THAT(statistics_text(statistics, 5), HasSubstr("WAITING THREAD for OWNER when the wait began\n"));
  EXPECT_THAT(statistics_text(statistics, 5), ::testing::Not(HasSubstr("OWNER when the wait began, all that")));
  EXPECT_THAT(statistics_json(statistics, "in", 5), HasSubstr("\"owners\":[{\"owner\":\"main\",\"times\":1,"));
}

TEST(Statistics, WaitsAreSummedUpByTheirOwnerToo) {
  ScopeStatistics statistics;
  statistics.waited_for[{1, 9}] = {.count = 2, .total = 300, .longest = 200};
  statistics.waited_for[{2, 9}] = {.count = 1, .total = 150, .longest = 150};
  statistics.waited_for[{1, 8}] = {.count = 5, .total = 50, .longest = 10};
  statistics.waited_for[{3, 0}] = {.count = 1, .total = 900, .longest = 900};
  const auto owners = owner_rows(statistics, 10);
  ASSERT_EQ(owners.shown.size(), 2u);
  EXPECT_EQ(owners.shown[0].key, 9u);
  EXPECT_EQ(owners.shown[0].value.count, 3u);
  EXPECT_EQ(owners.shown[0].value.total, 450u);
  EXPECT_EQ(owners.shown[0].value.longest, 200u);
}

}  // namespace
}  // namespace jtrace::trace::io
