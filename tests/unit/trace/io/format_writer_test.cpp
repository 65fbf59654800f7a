#include "trace/io/format_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testlib/must.h"

namespace jtrace::trace::io {
namespace {

using jtrace::test::must;

std::string written(const FormatOptions& options) {
  MemorySink bytes;
  FormatWriter writer = FormatWriter::to_bytes(bytes, options);
  must(writer.sink().write(GcStart{.time = Time(1'000'000'000)}));
  must(writer.sink().finish());
  must(bytes.flush());
  return bytes.text();
}

TEST(FormatWriter, TakesTheFormatFromTheEndOfTheName) {
  EXPECT_EQ(format_of_name("a.trcxml"), "xml");
  EXPECT_EQ(format_of_name("a.trcxml.zst"), "xml");
  EXPECT_EQ(format_of_name("a.speedscope.json"), "speedscope");
  EXPECT_EQ(format_of_name("a.json.gz"), "chrome");
  EXPECT_EQ(format_of_name("folder/"), "csv");
  EXPECT_EQ(format_of_name("trace"), "");
}

TEST(FormatWriter, WritesEachFormatThatNeedsNoDatabase) {
  EXPECT_THAT(written({.format = "xml"}), testing::HasSubstr("<gcStart "));
  EXPECT_THAT(written({.format = "fragments"}), testing::Not(testing::HasSubstr("<?xml")));
  EXPECT_THAT(written({.format = "jsonl"}), testing::StartsWith(R"({"element":"gcStart")"));
  EXPECT_THAT(written({.format = "chrome"}), testing::HasSubstr("traceEvents"));
  EXPECT_THAT(written({.format = "speedscope", .input = "app"}), testing::HasSubstr("speedscope"));
  EXPECT_EQ(written({.format = "collapsed"}), "");
  EXPECT_THAT(written({.format = "sddf"}), testing::HasSubstr("SDDFA"));
}

TEST(FormatWriter, WritesXmlWithTheDoctypeThatIsAskedFor) {
  EXPECT_THAT(written({.format = "xml", .doctype = "trace.dtd"}), testing::HasSubstr("<!DOCTYPE"));
  EXPECT_THAT(written({.format = "fragments", .doctype = "trace.dtd"}), testing::Not(testing::HasSubstr("<!DOCTYPE")));
}

TEST(FormatWriter, RefusesOutputsThatADatabaseCannotHave) {
  EXPECT_TRUE(check_database_output("a.sqlite", "sqlite"));
  EXPECT_EQ(check_database_output("-", "sqlite").error().category, ErrorCategory::kUsage);
  EXPECT_EQ(check_database_output("a.sqlite.gz", "sqlite").error().category, ErrorCategory::kUsage);
  EXPECT_EQ(check_database_output("a.csv", "csv").error().category, ErrorCategory::kUsage);
  EXPECT_EQ(check_database_output("/", "csv").error().category, ErrorCategory::kRefused);
  EXPECT_TRUE(check_database_output("/nothing/of/this/name/", "csv"));
}

TEST(FormatWriter, ProfilesHaveFormatsOfTheirOwn) {
  const StackProfile profile;
  EXPECT_TRUE(profile_as(profile, "collapsed", "a"));
  EXPECT_THAT(must(profile_as(profile, "speedscope", "a")), testing::HasSubstr("speedscope"));
  EXPECT_EQ(profile_as(profile, "xml", "a").error().category, ErrorCategory::kUsage);
}

}  // namespace
}  // namespace jtrace::trace::io
