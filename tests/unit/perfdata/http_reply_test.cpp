#include "perfdata/http_reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace::perfdata {
namespace {

using ::testing::HasSubstr;

// The reply, or why there is none; "..." while it is not whole.
std::string read(std::string_view text, bool ended = false) {
  const auto reply = read_http_reply(text, ended);
  if (!reply) return reply.error().message();
  if (!*reply) return "...";
  return std::to_string((*reply)->status) + " " + (*reply)->body;
}

TEST(HttpReply, HasALengthOrChunksOrEndsWithTheConnection) {
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"), "200 {}");
  EXPECT_EQ(read("HTTP/1.0 200\r\n\r\n{\"a\":1}", true), "200 {\"a\":1}");
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2;x=y\r\n{}\r\n1\r\n \r\n0\r\n\r\n"), "200 {} ");
  EXPECT_EQ(read("HTTP/1.1 204 No Content\r\n\r\n"), "204 ");
  EXPECT_EQ(read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n"), "400 ");
}

TEST(HttpReply, IsWaitedForUntilItIsWhole) {
  const std::string whole =
      "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  for (std::size_t i = 0; i < whole.size() - 2; ++i) EXPECT_EQ(read(whole.substr(0, i)), "...") << i;
  EXPECT_EQ(read_http_reply(whole, false)->value().retry_after, "7");
}

TEST(HttpReply, ThatIsCutOffIsALostConnection) {
  EXPECT_THAT(read("", true), HasSubstr("closed the connection without an answer"));
  EXPECT_THAT(read("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", true), HasSubstr("within its answer"));
  EXPECT_EQ(read_http_reply("HTTP/1.", true).error().category, ErrorCategory::kRefused);
}

TEST(HttpReply, ThatIsAbsurdIsRefused) {
  EXPECT_THAT(read("SSH-2.0-OpenSSH_9.2\r\n"), HasSubstr("does not speak HTTP: SSH-2.0-OpenSSH_9.2"));
  EXPECT_THAT(read("HTTP/1.1 999 What\r\n\r\n"), HasSubstr("does not speak HTTP"));
  EXPECT_THAT(read("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), HasSubstr("impossible length"));
  EXPECT_THAT(read("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"), HasSubstr("too large"));
  EXPECT_THAT(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n"), HasSubstr("impossible size"));
  EXPECT_THAT(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"), HasSubstr("impossible size"));
  EXPECT_THAT(read("HTTP/1.1 200 OK\r\n\r\n" + std::string(HttpReply::kMostBytes + 1, 'x')), HasSubstr("too large"));
  EXPECT_THAT(read("HTTP/1.1 200 OK\r\nx: " + std::string(HttpReply::kMostBytes + 1, 'x')), HasSubstr("too large"));
  std::string endless;
  for (int i = 0; i < 50'000; ++i) endless += "HTTP/1.1 100 x\r\n\r\n";
  EXPECT_EQ(read(endless), "...");
}

}  // namespace
}  // namespace jtrace::perfdata
