#include "trace/xml_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "tests/testlib/effort.h"
#include "tests/unit/trace/full_events.h"
#include "trace/event_sink.h"

namespace jtrace::trace {
namespace {

const XmlWriterOptions kFragments{.form = XmlForm::kFragments};

std::string written(const std::vector<Event>& events, const XmlWriterOptions& options = kFragments) {
  MemorySink bytes;
  XmlWriter writer(bytes, options);
  for (const Event& event : events) {
    Result<> result = writer.write(event);
    EXPECT_TRUE(result) << (result ? "" : result.error().message());
  }
  EXPECT_TRUE(writer.finish());
  return bytes.text();
}

// Names of the attributes of the first element of a line, in order.
std::vector<std::string> attribute_names(std::string_view line) {
  std::vector<std::string> names;
  const std::size_t end = line.find('>');
  for (std::size_t at = line.find(' '); at != std::string_view::npos && at < end;) {
    const std::size_t equals = line.find("=\"", at);
    if (equals > end) break;
    names.emplace_back(line.substr(at + 1, equals - at - 1));
    at = line.find('"', equals + 2);
    if (at == std::string_view::npos) break;
    at = line.find(' ', at);
  }
  return names;
}

TEST(XmlWriter, ADocumentWithNothingInIt) {
  EXPECT_EQ(written({}, {}), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n</TRACE>\n");
  EXPECT_EQ(written({}, {.doctype = "jtrace.dtd"}),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE TRACE SYSTEM \"jtrace.dtd\">\n<TRACE>\n</TRACE>\n");
  EXPECT_EQ(written({}), "");
}

TEST(XmlWriter, TheHeadIsOutBeforeTheFirstEvent) {
  MemorySink bytes;
  XmlWriter writer(bytes);
  ASSERT_TRUE(writer.begin());
  EXPECT_EQ(bytes.text(), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n");
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(bytes.text(), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n</TRACE>\n");
}

TEST(XmlWriter, GoesOnAfterAHeadAndEndsTheDocument) {
  MemorySink bytes;
  XmlWriter writer(bytes);
  writer.go_on();
  ASSERT_TRUE(writer.write(ThreadStart{}));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(bytes.text(), "<threadStart/>\n</TRACE>\n");
}

TEST(XmlWriter, AbsentIsLeftOutAndEmptyIsNot) {
  EXPECT_EQ(written({ClassDef{.sourceName = "", .name = "java/lang/String"}}),
            "<classDef name=\"java/lang/String\" sourceName=\"\"/>\n");
  EXPECT_EQ(written({ThreadStart{}}), "<threadStart/>\n");
}

TEST(XmlWriter, ValuesOfEveryType) {
  EXPECT_EQ(
      written({MonWait{.threadIdRef = ThreadId(3), .time = Time(5), .objIdRef = ObjectId::sleep(), .timeout = 0}}),
      "<monWait threadIdRef=\"3\" time=\"0.000000005\" objIdRef=\"-1\" timeout=\"0\"/>\n");
  EXPECT_EQ(written({Throw{.objIdRef = ObjectId::unavailable(), .ticket = 4'294'967'296}}),
            "<throw objIdRef=\"-Unavailable-\" ticket=\"0,1\"/>\n");
  EXPECT_EQ(written({MethodDef{.isNative = true, .isAbstract = false}}),
            "<methodDef isNative=\"true\" isAbstract=\"false\"/>\n");
  EXPECT_EQ(written({GcFinish{.totalObjectSpace = 5'000'000'000}}), "<gcFinish totalObjectSpace=\"5000000000\"/>\n");
  EXPECT_EQ(written({ObjAlloc{.objId = ObjectId::none()}}), "<objAlloc objId=\"0\"/>\n");
}

TEST(XmlWriter, TextIsEscapedAndStaysOnItsLine) {
  EXPECT_EQ(written({Option{.key = "k", .value = "<a> & \"b\" 'c'\n\x01\xc3\xa9\xff"}}),
            "<option key=\"k\" value=\"&lt;a&gt; &amp; &quot;b&quot; 'c'&#10;\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\"/>\n");
}

TEST(XmlWriter, NamesOfConstructors) {
  const std::vector<Event> events = {MethodDef{.name = "<init>"}, MethodDef{.name = "<clinit>"},
                                     MethodDef{.name = "<other>"}, ClassDef{.name = "<init>"}};
  EXPECT_EQ(
      written(events),
      "<methodDef name=\"&lt;init&gt;\"/>\n<methodDef name=\"&lt;clinit&gt;\"/>\n<methodDef name=\"&lt;other&gt;\"/>\n"
      "<classDef name=\"&lt;init&gt;\"/>\n");
  EXPECT_EQ(written(events, {.form = XmlForm::kFragments, .names = XmlNames::kClassic}),
            "<methodDef name=\"-init-\"/>\n<methodDef name=\"-clinit-\"/>\n<methodDef name=\"&lt;other&gt;\"/>\n"
            "<classDef name=\"&lt;init&gt;\"/>\n");
}

// The positions that public line-based readers use (reference: they split a line at blanks).
TEST(XmlWriter, PositionalReadersFindWhatTheyLookFor) {
  using testing::ElementsAre;
  const auto first = [](const Event& event, std::size_t count) {
    std::vector<std::string> names = attribute_names(written({event}));
    names.resize(count);
    return names;
  };
  EXPECT_THAT(first(test::element_with<ClassDef>(test::kAll), 3), ElementsAre("name", "sourceName", "classId"));
  EXPECT_THAT(first(test::element_with<MethodDef>(test::kAll), 6),
              ElementsAre("name", "signature", "startLineNumber", "endLineNumber", "methodId", "classIdRef"));
  EXPECT_THAT(first(test::element_with<MethodEntry>(test::kAll), 6),
              ElementsAre("threadIdRef", "time", "methodIdRef", "classIdRef", "ticket", "stackDepth"));
  EXPECT_THAT(first(test::element_with<MethodExit>(test::kAll), 5),
              ElementsAre("threadIdRef", "methodIdRef", "classIdRef", "ticket", "time"));
}

TEST(XmlWriter, ThenTheDeclaredOrderAndExtensionsLast) {
  for (const Event& event : test::full_events()) {
    const ElementInfo& element = element_info(element_kind(event));
    std::vector<std::string> expected(element.attributes.size());
    std::size_t at = 0;
    for (const AttributeInfo& info : element.attributes)
      if (info.rank != 0) expected[info.rank - 1] = info.name, ++at;
    for (const AttributeInfo& info : element.attributes)
      if (info.rank == 0 && info.presence != Presence::kExtension) expected[at++] = info.name;
    for (const AttributeInfo& info : element.attributes)
      if (info.presence == Presence::kExtension) expected[at++] = info.name;
    EXPECT_EQ(attribute_names(written({event})), expected) << element.name;
  }
}

TEST(XmlWriter, TraceIdRefIsLeftOutOfASingleTraceWhereItMay) {
  const XmlWriterOptions single{.form = XmlForm::kFragments, .single_trace = true};
  EXPECT_EQ(written({ThreadEnd{.threadIdRef = ThreadId(1), .traceIdRef = "t"}}, single),
            "<threadEnd threadIdRef=\"1\"/>\n");
  EXPECT_EQ(written({MonWait{.traceIdRef = "t"}}, single), "<monWait/>\n");
  EXPECT_EQ(written({TraceEnd{.traceIdRef = "t", .time = Time(0)}}, single),
            "<traceEnd traceIdRef=\"t\" time=\"0.000000000\"/>\n");
}

TEST(XmlWriter, ChildrenStandOnTheLineOfTheirParent) {
  const InvocationContext caller{.ticket = 9};
  const std::vector<Value> values = {{.type = "INT", .value = "5"}, {.text = "a<b"}};
  EXPECT_EQ(written({MethodEntry{.invocationContext = &caller, .values = values}}),
            "<methodEntry><InvocationContext ticket=\"9\"/><value type=\"INT\" value=\"5\"/><value>a&lt;b</value>"
            "</methodEntry>\n");
  EXPECT_EQ(written({MethodExit{.values = values}}),
            "<methodExit><value type=\"INT\" value=\"5\"/><value>a&lt;b</value></methodExit>\n");
  const std::vector<MethodBodyItem> items = {{MethodCall{.ticket = 1, .values = values}}, {Code{.type = "Java"}}};
  EXPECT_EQ(written({MethodBody{.name = "m", .items = items}}),
            "<methodBody name=\"m\"><methodCall ticket=\"1\"><value type=\"INT\" value=\"5\"/><value>a&lt;b</value>"
            "</methodCall><code type=\"Java\"/></methodBody>\n");
}

TEST(XmlWriter, StrictFragmentsKeepToTheOriginal) {
  const XmlWriterOptions strict{.form = XmlForm::kStrictFragments};
  const std::vector<Value> values = {{.type = "INT", .value = "5"}, {.type = "INT", .traceIdRef = "other"}};
  EXPECT_EQ(written({MethodEntry{.ticket = 1}}, strict),
            "<methodEntry ticket=\"1\"><InvocationContext/></methodEntry>\n");
  EXPECT_EQ(written({MethodExit{.ticket = 1, .traceIdRef = "t", .values = values}}, strict),
            "<methodExit ticket=\"1\" traceIdRef=\"t\"/>\n<value type=\"INT\" value=\"5\" traceIdRef=\"t\"/>\n"
            "<value type=\"INT\" traceIdRef=\"other\"/>\n");
  EXPECT_EQ(written({MonWait{.timeout = 1, .collationValue = 2, .traceIdRef = "t"}}, strict),
            "<monWait timeout=\"1\"/>\n");
  EXPECT_EQ(
      written({Filter{.pattern = "a*", .genericPattern = "suffix", .mode = "include", .methodPattern = "b"}}, strict),
      "<filter pattern=\"a*\" mode=\"include\" genericPattern=\"suffix\"/>\n");
}

TEST(XmlWriter, AMissingRequiredAttributeIsAFaultAndWritesNothing) {
  MemorySink bytes;
  XmlWriter writer(bytes, kFragments);
  Result<> result = writer.write(ProcessCreate{.processId = "p", .pid = 1, .nodeIdRef = "n"});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message(), testing::HasSubstr("processCreate"));
  EXPECT_THAT(result.error().message(), testing::HasSubstr("time"));
  ASSERT_TRUE(writer.write(GcStart{}));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(bytes.text(), "<gcStart/>\n");
}

// No room for the head of a document.
struct FullSink final : ByteSink {
  Result<> drain(std::string_view records) override {
    if (std::exchange(is_full, false)) return fail(ErrorCategory::kPartial, "full");
    text += records;
    return {};
  }
  std::uint64_t held() const override { return text.size(); }
  std::string text;
  bool is_full = true;  // at first
};

TEST(XmlWriter, WhatHasNoHeadGetsNoEnd) {
  FullSink full;
  XmlWriter writer(full);
  EXPECT_FALSE(writer.write(GcStart{}));
  EXPECT_TRUE(writer.finish());  // there is room again, for the end of what was begun
  EXPECT_EQ(full.text, "");
}

TEST(XmlWriter, SameEventsSameBytesWhateverTheBuffer) {
  const std::vector<Event> events = test::full_events();
  MemorySink tiny(1);
  XmlWriter writer(tiny);
  for (const Event& event : events) ASSERT_TRUE(writer.write(event));
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(tiny.text(), written(events, {}));
}

// Entries and exits of a plain trace have a writer of their own (call_lines.h); those with an object do not.
TEST(XmlWriter, LinesOfCallsAreWhatEveryElementsLineIs) {
  constexpr std::uint64_t kNumbers[] = {0,          1,          7,           65,        999,
                                        1000,       4096 + 7,   999'999,     1'000'000, 0x7fffffff,
                                        0x80000000, 0xffffffff, 0x100000000, ~0ull - 1, ~0ull};
  std::minstd_rand random(7);
  const auto any = [&] { return kNumbers[random() % (random() % 8 == 0 ? std::size(kNumbers) : 10)]; };
  std::uint64_t next = 0;
  std::vector<Event> plain, with_object;
  for (int i = 0; i < jtrace::test::effort(20'000, 4'000); ++i) {
    const auto fill = [&](auto element) {
      element.threadIdRef = ThreadId(any());
      element.methodIdRef = MethodId(any());
      element.classIdRef = ClassId(any());
      element.ticket = any();
      element.collationValue = random() % 50 == 0 ? any() : ++next;
      if (random() % 50 != 0) element.time = Time(1'763'650'001'999'990'000 + next / 3);
      if (random() % 3 == 0) element.traceIdRef = "a<b";
      if constexpr (requires { element.stackDepth; }) element.stackDepth = any();
      plain.emplace_back(element);
      element.objIdRef = ObjectId(5);
      with_object.emplace_back(element);
    };
    if (i % 2 == 0) fill(MethodEntry{});
    else fill(MethodExit{});
  }
  for (const bool single_trace : {false, true}) {
    const XmlWriterOptions options{.form = XmlForm::kFragments, .single_trace = single_trace};
    const std::string lines = written(plain, options);
    EXPECT_TRUE(lines == std::regex_replace(written(with_object, options), std::regex(" objIdRef=\"5\""), ""));
  }
}

TEST(XmlWriter, OneLinePerElement) {
  const std::string text = written(test::full_events());
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), kElementCount);
}

}  // namespace
}  // namespace jtrace::trace
