#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perfdata/http_client.h"

namespace jtrace::perfdata {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string parsed(const std::string& text) {
  const auto url = parse_http_url(text);
  return url ? url->authority() + " " + url->path : url.error().message();
}

TEST(HttpUrl, HasHostPortAndPath) {
  EXPECT_EQ(parsed("http://127.0.0.1:4318/v1/metrics"), "127.0.0.1:4318 /v1/metrics");
  EXPECT_EQ(parsed("http://collector"), "collector:80 /");
  EXPECT_EQ(parsed("http://[::1]:4318?x=1#y"), "[::1]:4318 /?x=1");
  EXPECT_EQ(parsed("http://[::1]"), "[::1]:80 /");
}

TEST(HttpUrl, ThatCannotBeUsedIsRefused) {
  EXPECT_THAT(parsed("https://collector:4318"), HasSubstr("https:// is not spoken here"));
  EXPECT_THAT(parsed("http://me:secret@collector"), HasSubstr("no user and no password"));
  EXPECT_THAT(parsed("http://me:secret@collector"), Not(HasSubstr("secret@")));
  for (const char* wrong : {"", "4318", "ftp://x", "http://", "http://:80", "http://x:0", "http://x:99999",
                            "http://x:y", "http://[::1", "http://[::1]x", "http://x/a b", "http://x/a\r\nEvil: 1"})
    EXPECT_THAT(parsed(wrong), HasSubstr("not an address to send to")) << wrong;
}

std::string joined(const Result<HttpHeaders>& headers) {
  if (!headers) return headers.error().message();
  std::string text;
  for (const auto& [name, value] : *headers) text += name + "=" + value + ";";
  return text;
}

TEST(HttpHeaders, AreReadFromLinesAndFromTheVariable) {
  EXPECT_EQ(joined(parse_header_lines("# mine\n\nAuthorization: Bearer a b\r\nX-Scope-OrgID:7\n", "f")),
            "Authorization=Bearer a b;X-Scope-OrgID=7;");
  EXPECT_EQ(joined(parse_header_list("authorization=Basic%20YTpi, x=1,", "V")), "authorization=Basic YTpi;x=1;");
}

TEST(HttpHeaders, ThatAreNoneAreRefusedWithoutTheirValue) {
  for (const char* wrong : {"no colon", "bad name: x", ": x", "a: b\001c"}) {
    const std::string line = joined(parse_header_lines(wrong, "the file"));
    EXPECT_EQ(line, "not a header of HTTP in the file") << wrong;
  }
  for (const char* wrong : {"secret", "a=%zz", "a=%4", "a=x%0d%0aEvil: 1"})
    EXPECT_EQ(joined(parse_header_list(wrong, "V")), "not a header of HTTP in V") << wrong;
  EXPECT_THAT(joined(parse_header_lines("Content-Length: 5", "f")), HasSubstr("is the request's own"));
}

}  // namespace
}  // namespace jtrace::perfdata
