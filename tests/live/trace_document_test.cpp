// The checks must be able to fail.
#include "tests/testlib/trace_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A trace of these events inside one traceStart...traceEnd; {N} is the next collationValue.
std::vector<std::string> faults_of(std::string events) {
  std::string text =
      R"(<TRACE><node nodeId="n" hostname="h" ipaddress="" /><processCreate processId="p" pid="1" nodeIdRef="n" time="1.0" />)"
      R"(<agentCreate agentId="a" processIdRef="p" agentName="x" time="1.0" />)"
      R"(<traceStart traceId="t" agentIdRef="a" time="1.0" {N} />)" +
      events + R"(<traceEnd traceIdRef="t" time="9.0" {N} /><agentDestroy agentIdRef="a" time="9.0" /></TRACE>)";
  int number = 0;
  for (std::size_t at; (at = text.find("{N}")) != std::string::npos;)
    text.replace(at, 3, "collationValue=\"" + std::to_string(++number) + "\"");
  auto document = TraceDocument::parse(text);
  return document ? document->faults() : std::vector<std::string>{document.error().message()};
}

constexpr const char* kThread = R"(<threadStart threadId="7" {N}/>)";

TEST(TraceDocument, FindsNothingInASoundTrace) {
  EXPECT_THAT(faults_of(""), IsEmpty());
  EXPECT_THAT(faults_of(std::string(kThread) +
                        R"(<objDef objId="1" {N}/><monWait threadIdRef="7" objIdRef="1" time="2.0" {N}/>)"
                        R"(<monWaited threadIdRef="7" objIdRef="1" time="2.5" {N}/>)"),
              IsEmpty());
}

TEST(TraceDocument, FindsIdsUsedBeforeTheyAreDefined) {
  EXPECT_THAT(faults_of(R"(<threadEnd threadIdRef="7" {N}/>)" + std::string(kThread)),
              ElementsAre(HasSubstr("threadIdRef 7 is not defined before")));
  EXPECT_THAT(faults_of(std::string(kThread) + kThread), ElementsAre(HasSubstr("defined a second time")));
}

TEST(TraceDocument, FindsGapsInTheCollation) {
  EXPECT_THAT(faults_of(R"(<threadStart threadId="7" collationValue="3"/>)").size(), 2u);
  EXPECT_THAT(faults_of(R"(<threadStart threadId="7"/>)").size(), 2u);
}

TEST(TraceDocument, FindsWhatIsNotBalanced) {
  EXPECT_THAT(faults_of(R"(<gcStart time="2.0" {N}/><gcStart time="2.1" {N}/><gcFinish time="2.2" {N}/>)"),
              ElementsAre(HasSubstr("starts while it is open")));
  EXPECT_THAT(faults_of(R"(<gcFinish time="2.0" {N}/><gcFinish time="2.1" {N}/>)"),
              ElementsAre(HasSubstr("had not started")));
  EXPECT_THAT(faults_of(std::string(kThread) + R"(<threadEnd threadIdRef="7" {N}/><threadEnd threadIdRef="7" {N}/>)"),
              ElementsAre(HasSubstr("ends a second time")));
}

TEST(TraceDocument, FindsTimeThatGoesBack) {
  EXPECT_THAT(faults_of(R"(<gcStart time="2.000000001" {N}/><gcFinish time="2.000000000" {N}/>)"),
              ElementsAre(HasSubstr("earlier")));
}

TEST(TraceDocument, FindsCutAndCrossedTags) {
  EXPECT_FALSE(TraceDocument::parse("<TRACE><node nodeId=\"1\""));
  EXPECT_FALSE(TraceDocument::parse("<TRACE><a></TRACE></a>"));
  EXPECT_FALSE(TraceDocument::parse("<TRACE><node/>"));
}

TEST(TraceDocument, TakesEscapesChildrenAndFragments) {
  auto document = TraceDocument::parse(
      "<?xml version=\"1.0\"?><!-- <x> --><option key=\"a&lt;&#233;\" value=\"b\"/>\n"
      "<methodEntry><InvocationContext/></methodEntry>\n");
  ASSERT_TRUE(document) << document.error().message();
  ASSERT_EQ(document->events().size(), 2u);
  EXPECT_EQ(document->option("a<\xC3\xA9"), "b");
  EXPECT_EQ(document->events()[1].children.size(), 1u);
}

}  // namespace
}  // namespace jtrace::test
