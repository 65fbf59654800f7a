// The writer's output, checked by the JDK's parser; and the check itself, with documents that it must refuse.
#include "tests/testlib/xml_oracle.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "tests/testlib/jdk_matrix.h"
#include "tests/testlib/require.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_document.h"
#include "tests/unit/trace/full_events.h"
#include "trace/file_sink.h"
#include "trace/xml_writer.h"

namespace jtrace::trace {
namespace {

using jtrace::test::judge_document;
using jtrace::test::judge_fragments;
using jtrace::test::XmlVerdict;
using testing::HasSubstr;

class XmlOracle : public testing::Test {
 protected:
  void SetUp() override {
    if (!jtrace::test::any_jdk()) JTRACE_SKIP("live", "no JDK on this machine to judge XML with");
  }

  std::string file_of(std::string_view text) {
    const std::string path = scratch_.file("judged" + std::to_string(++files_) + ".xml");
    const UniqueFd fd = *open_file(path, O_WRONLY | O_CREAT, 0600);
    EXPECT_TRUE(write_whole(fd.get(), text, path));
    return path;
  }
  std::string file_of(const std::vector<Event>& events, const XmlWriterOptions& options) {
    const std::string path = scratch_.file("written" + std::to_string(++files_) + ".xml");
    const std::unique_ptr<FileSink> bytes = *FileSink::create(path);
    XmlWriter writer(*bytes, options);
    for (const Event& event : events) EXPECT_TRUE(writer.write(event));
    EXPECT_TRUE(writer.finish());
    return path;
  }
  static void expect_valid(const Result<XmlVerdict>& verdict) {
    ASSERT_TRUE(verdict) << verdict.error().message();
    EXPECT_TRUE(verdict->valid) << testing::PrintToString(verdict->faults);
  }
  static void expect_invalid(const Result<XmlVerdict>& verdict, const std::string& word) {
    ASSERT_TRUE(verdict) << verdict.error().message();
    EXPECT_FALSE(verdict->valid);
    EXPECT_THAT(verdict->faults, testing::Contains(HasSubstr(word)));
  }

  const jtrace::test::ScratchDir scratch_;
  int files_ = 0;
};

std::vector<Event> both_kinds_of_events() {
  std::vector<Event> events = test::full_events();
  for (const Event& event : test::smallest_events()) events.push_back(event);
  return events;
}

TEST_F(XmlOracle, EveryElementInADocument) {
  expect_valid(judge_document(file_of(both_kinds_of_events(), {})));
  expect_valid(judge_document(file_of(both_kinds_of_events(), {.doctype = "jtrace.dtd"})));
  expect_valid(judge_document(file_of(both_kinds_of_events(), {.names = XmlNames::kClassic, .single_trace = true})));
  expect_valid(judge_document(file_of({}, {})));
}

TEST_F(XmlOracle, EveryElementAsAStrictFragment) {
  const std::string path = file_of(both_kinds_of_events(), {.form = XmlForm::kStrictFragments});
  expect_valid(judge_fragments(path));
  expect_valid(judge_fragments(path, jtrace::test::shared_file("trace.dtd")));
}

TEST_F(XmlOracle, EveryElementAsAFragmentWithExtensions) {
  const std::string path = file_of(both_kinds_of_events(), {.form = XmlForm::kFragments});
  expect_valid(judge_fragments(path, jtrace::test::shared_file("jtrace.dtd")));
  // Not against the original DTD: it lacks the extensions.
  expect_invalid(judge_fragments(path), "collationValue");
}

TEST_F(XmlOracle, DocumentsAreNotValidByTheOriginal) {
  const std::string path =
      file_of({test::element_with<Node>(test::kAll), test::element_with<ProcessCreate>(test::kAll)}, {});
  expect_valid(judge_document(path));
  expect_invalid(judge_document(path, jtrace::test::original_declarations(), "-"), "TRACE");
}

TEST_F(XmlOracle, TextComesBackAsItWas) {
  std::string text;
  for (char c = ' '; c < 0x7f; ++c) text += c;
  text += "\t\n\r\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
  const std::string path = file_of({Option{.key = "k", .value = text}}, {});
  expect_valid(judge_document(path));
  Result<jtrace::test::TraceDocument> document = jtrace::test::TraceDocument::read(path);
  ASSERT_TRUE(document) << document.error().message();
  EXPECT_EQ(document->option("k"), text);
}

TEST_F(XmlOracle, BytesThatAreNotTextAreReplacedSoThatItStaysXml) {
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  bytes += "\xed\xa0\x80\xef\xbf\xbe\xc0\x80";
  expect_valid(judge_document(file_of({Option{.key = "k", .value = bytes}}, {})));
}

TEST_F(XmlOracle, ManyEscapedNamesAreNoProblemForIt) {
  const std::vector<Event> events(70'000, MethodDef{.name = "<init>", .signature = "()V"});
  expect_valid(judge_document(file_of(events, {})));
}

// Negative controls: the check finds the faults for which it exists.
TEST_F(XmlOracle, RefusesWhatIsNotDeclared) {
  const auto document = [&](const std::string& element) {
    return judge_document(file_of("<TRACE>\n" + element + "\n</TRACE>\n"));
  };
  expect_valid(document("<gcStart time=\"1.000000000\"/>"));
  expect_invalid(document("<gcStart thread=\"1\"/>"), "thread");
  expect_invalid(document("<gcBegin/>"), "gcBegin");
  expect_invalid(document("<node nodeId=\"0b7ad4bc-5a0c-4b0f-9f0a-0f5e0d3c2b1a\"/>"), "hostname");
  expect_invalid(document("<gcStart><gcFinish/></gcStart>"), "gcStart");
  expect_invalid(document("<methodEntry><value/><InvocationContext/></methodEntry>"), "methodEntry");
  expect_invalid(document("text"), "TRACE");
  expect_invalid(document("<gcStart>"), "gcStart");
  expect_invalid(judge_document(file_of("<gcStart/>")), "DOCTYPE");
}

TEST_F(XmlOracle, TheSchemaRefusesValuesOfAnotherType) {
  const auto document = [&](const std::string& element) {
    return judge_document(file_of("<TRACE>\n" + element + "\n</TRACE>\n"));
  };
  expect_invalid(document("<gcStart time=\"1.5\"/>"), "time");
  expect_invalid(document("<gcStart collationValue=\"1;2\"/>"), "collationValue");
  expect_invalid(document("<throw objIdRef=\"-2\"/>"), "objIdRef");
  expect_invalid(document("<gcFinish usedObjects=\"-1\"/>"), "usedObjects");
  expect_invalid(document("<methodDef isNative=\"yes\"/>"), "isNative");
  expect_invalid(document("<gcStart traceIdRef=\"7\"/>"), "traceIdRef");
  expect_valid(document("<throw objIdRef=\"-Unavailable-\" ticket=\"0,1\"/>"));
}

TEST_F(XmlOracle, RefusesFragmentsThatTheOriginalDoesNotHave) {
  expect_valid(judge_fragments(file_of("<gcStart/>\n<methodExit/>\n")));
  expect_invalid(judge_fragments(file_of("<gcStart/>\n<methodEntry/>\n")), ":2: ");
  expect_invalid(judge_fragments(file_of("<methodExit><value/></methodExit>\n")), "VALUE");
  expect_invalid(judge_fragments(file_of("<monWait traceIdRef=\"t\"/>\n")), "traceIdRef");
  expect_invalid(judge_fragments(file_of("<gcStart/><gcStart/>\n")), "root element");
  expect_invalid(judge_fragments(file_of("<gcStart/>\n<gcStart time=\"&x\"/>\n")), ":2: ");
}

}  // namespace
}  // namespace jtrace::trace
