#include "attach/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace::attach {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

constexpr ProtocolSupport kOld{.version = 1, .streaming_option = false};
constexpr ProtocolSupport kNew{.version = 2, .streaming_option = true};

TEST(AttachRequest, Version1HasThreeArgumentsAlways) {
  EXPECT_EQ(encode_request({.operation = "properties"}, kOld).value(), "1\0properties\0\0\0\0"s);
  EXPECT_EQ(encode_request({.operation = "load", .arguments = {"/a.so", "true", "o=1"}}, kOld).value(),
            "1\0load\0/a.so\0true\0o=1\0"s);
}

TEST(AttachRequest, Version1ServesNewJvmsWhereItIsEnough) {
  EXPECT_EQ(encode_request({.operation = "printflag", .arguments = {"UseG1GC"}}, kNew).value(),
            "1\0printflag\0UseG1GC\0\0\0"s);
}

TEST(AttachRequest, Version2CarriesOptionsAndSize) {
  const Request request{.operation = "threaddump", .arguments = {"-l"}, .streaming = false};
  EXPECT_EQ(encode_request(request, kNew).value(), "2\0"s + "26\0"s + "threaddump streaming=0\0-l\0"s);
}

TEST(AttachRequest, TheOptionIsLeftOutWhereItIsNotKnown) {
  const Request request{.operation = "threaddump", .arguments = {}, .streaming = false};
  EXPECT_EQ(encode_request(request, kOld).value(), "1\0threaddump\0\0\0\0"s);
  EXPECT_EQ(encode_request(request, {.version = 2, .streaming_option = false}).value(), "1\0threaddump\0\0\0\0"s);
}

TEST(AttachRequest, LongArgumentsGoByVersion2OrAreRefused) {
  const Request fits{.operation = "jcmd", .arguments = {std::string(1024, 'x')}};
  const Request longer{.operation = "jcmd", .arguments = {std::string(1025, 'x')}};
  EXPECT_TRUE(encode_request(fits, kOld));
  const auto refused = encode_request(longer, kOld);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().category, ErrorCategory::kUsage);
  EXPECT_THAT(refused.error().message(), testing::AllOf(HasSubstr("argument 1"), HasSubstr("1025"), HasSubstr("1024")));
  const auto carried = encode_request(longer, kNew);
  ASSERT_TRUE(carried);
  EXPECT_EQ(*carried, "2\0"s + "1031\0"s + "jcmd\0"s + std::string(1025, 'x') + "\0"s);
}

TEST(AttachRequest, Version2HasItsLimitToo) {
  const std::size_t room = kRequestLimitV2 - 6;  // "jcmd\0" and the argument's NUL
  EXPECT_TRUE(encode_request({.operation = "jcmd", .arguments = {std::string(room, 'x')}}, kNew));
  const auto refused = encode_request({.operation = "jcmd", .arguments = {std::string(room + 1, 'x')}}, kNew);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("262144"));
}

TEST(AttachRequest, MoreThanThreeArgumentsNeedVersion2) {
  const Request request{.operation = "x", .arguments = {"a", "b", "c", "d"}};
  EXPECT_FALSE(encode_request(request, kOld));
  EXPECT_EQ(encode_request(request, kNew).value(), "2\0"s + "10\0"s + "x\0a\0b\0c\0d\0"s);
}

TEST(AttachRequest, WordsThatWouldChangeTheRequestAreRefused) {
  for (const Request& request :
       {Request{.operation = ""}, Request{.operation = "a b"}, Request{.operation = "a\0b"s},
        Request{.operation = std::string(17, 'x')}, Request{.operation = "jcmd", .arguments = {"a\0b"s}},
        Request{.operation = "jcmd", .arguments = {"", "VM.version\nVM.uptime"}}}) {
    const auto refused = encode_request(request, kNew);
    ASSERT_FALSE(refused) << request.operation;
    EXPECT_EQ(refused.error().category, ErrorCategory::kUsage);
  }
}

TEST(AttachRequest, WhatMayRunAtASafepointIsBuffered) {
  EXPECT_TRUE(wants_buffered_reply({.operation = "threaddump"}));
  EXPECT_TRUE(wants_buffered_reply({.operation = "inspectheap"}));
  EXPECT_TRUE(wants_buffered_reply({.operation = "dumpheap"}));
  EXPECT_TRUE(wants_buffered_reply({.operation = "jcmd", .arguments = {"Thread.print -l"}}));
  EXPECT_TRUE(wants_buffered_reply({.operation = "something.new"}));
  EXPECT_FALSE(wants_buffered_reply({.operation = "jcmd", .arguments = {"VM.version"}}));
  EXPECT_FALSE(wants_buffered_reply({.operation = "load", .arguments = {"/a.so", "true", ""}}));
}

TEST(AttachVersion, OfEachGeneration) {
  EXPECT_EQ(support_of_reply(-1, "Operation getversion not recognized!").version, 1);
  const auto recent = support_of_reply(0, "2 streaming");
  EXPECT_EQ(recent.version, 2);
  EXPECT_TRUE(recent.streaming_option);
  const auto without = support_of_reply(0, "2\n");
  EXPECT_EQ(without.version, 2);
  EXPECT_FALSE(without.streaming_option);
  EXPECT_EQ(support_of_reply(0, "3 streaming,else").version, 2);
  EXPECT_EQ(support_of_reply(0, "").version, 1);
}

// A reply that arrives in two pieces gives the same code and data, wherever it is split.
TEST(AttachReply, SplitAtEveryByte) {
  const std::string reply = "-1\nline one\nline two\n";
  for (std::size_t at = 0; at <= reply.size(); ++at) {
    ReplyParser parser;
    std::string data(parser.feed(std::string_view(reply).substr(0, at)));
    data += parser.feed(std::string_view(reply).substr(at));
    parser.finish();
    EXPECT_EQ(parser.code(), -1) << at;
    EXPECT_EQ(data, "line one\nline two\n") << at;
  }
}

TEST(AttachReply, ByteByByte) {
  const std::string reply = "0\n0\n\n1\n";
  ReplyParser parser;
  std::string data;
  for (char byte : reply) data += parser.feed(std::string_view(&byte, 1));
  EXPECT_EQ(parser.code(), 0);
  EXPECT_EQ(data, "0\n\n1\n");
}

TEST(AttachReply, CutAtEveryByte) {
  const std::string reply = "-12\ndata";
  for (std::size_t size = 0; size <= reply.size(); ++size) {
    ReplyParser parser;
    parser.feed(std::string_view(reply).substr(0, size));
    parser.finish();
    EXPECT_EQ(parser.code().has_value(), size >= 2) << size;  // "-" alone is not a number
    EXPECT_EQ(parser.malformed(), size == 1) << size;
  }
}

TEST(AttachReply, OtherServersAreRecognised) {
  for (const char* text : {"HTTP/1.1 400 Bad Request\r\n", "hello\n", "\n", "0 \n", "99999999999\n",
                           "0123456789012345678901234", "00000000000000001\n"}) {
    ReplyParser parser;
    EXPECT_EQ(parser.feed(text), "") << text;
    EXPECT_TRUE(parser.malformed()) << text;
    EXPECT_FALSE(parser.code()) << text;
  }
}

struct LoadCase {
  int code;
  const char* data;
  bool ok;
  bool called;
  int agent_code;
  const char* reason;
};

// The three forms of the reply: of JDK 8, of 9 to 20, and of 21 and later.
TEST(LoadVerdict, OfEachGeneration) {
  constexpr LoadCase kCases[] = {
      {0, "0", true, true, 0, ""},
      {0, "7", false, true, 7, ""},
      {0, "-3\n", false, true, -3, ""},
      {-1, "", false, false, 0, "code -1"},
      {0, "return code: 0\n", true, true, 0, ""},
      {0, "return code: 7", false, true, 7, ""},
      {-1, "/a.so was not loaded.\n/a.so: no such file\n", false, false, 0,
       "/a.so was not loaded. /a.so: no such file"},
      {0, "/a.so was not loaded.\n/a.so: no such file\n", false, false, 0, "/a.so was not loaded. /a.so: no such file"},
      {0, "Agent_OnAttach is not available in /a.so\n", false, false, 0, "Agent_OnAttach is not available"},
      {0, "Dynamic agent loading is not enabled. Use -XX:+Enable...", false, false, 0,
       "Dynamic agent loading is not enabled"},
      {0, "", false, false, 0, "reports only code"},
      {0, "return code: x", false, false, 0, "return code: x"},
  };
  for (const LoadCase& c : kCases) {
    const LoadVerdict verdict = judge_load(c.code, c.data);
    EXPECT_EQ(verdict.ok(), c.ok) << c.data;
    EXPECT_EQ(verdict.called, c.called) << c.data;
    EXPECT_EQ(verdict.agent_code, c.agent_code) << c.data;
    EXPECT_THAT(verdict.reason, HasSubstr(c.reason));
  }
}

TEST(LoadVerdict, InWords) {
  EXPECT_EQ(load_error({.called = true, .agent_code = 7}, "a.so").message(), "Agent_OnAttach of a.so returned 7");
  EXPECT_THAT(load_error({.called = true, .agent_code = 102}, "a.jar").message(), HasSubstr("agentmain"));
  EXPECT_THAT(load_error({.called = true, .agent_code = 100}, "a.jar").message(), HasSubstr("Agent-Class"));
  EXPECT_EQ(exit_status(load_error({.reason = "x"}, "a.so")), ExitStatus::kAgent);
}

TEST(ReportedFailure, CodeZeroThatMeansNo) {
  const auto told = [](const Request& request, std::string_view data) {
    return reported_failure(request, data).value_or("");
  };
  EXPECT_EQ(told({.operation = "printflag", .arguments = {"Foo"}}, "no such flag 'Foo'\n"), "no such flag 'Foo'");
  EXPECT_EQ(told({.operation = "jcmd", .arguments = {"GC.heap_dump /no/x"}},
                 "Dumping heap to /no/x ...\nUnable to create /no/x: No such file or directory\n"),
            "Unable to create /no/x: No such file or directory");
  EXPECT_EQ(told({.operation = "jcmd", .arguments = {"GC.heap_dump /x"}}, "Heap dump file created\n"), "");
  EXPECT_EQ(told({.operation = "dumpheap", .arguments = {"/no/x"}}, "/no/x: No such file or directory\n"),
            "/no/x: No such file or directory");
  EXPECT_NE(told({.operation = "dumpheap", .arguments = {"/x"}}, ""), "");
  // In another command's output the same words are data.
  EXPECT_EQ(told({.operation = "jcmd", .arguments = {"VM.log"}}, "Unable to create\n"), "");
}

}  // namespace
}  // namespace jtrace::attach
