#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/zip_reader.h"
#include "diagnose/zip_writer.h"
#include "tests/testlib/must.h"

namespace jtrace::diagnose {
namespace {

using test::must;
using ::testing::HasSubstr;

constexpr std::uint64_t kTime = 1'700'000'000'000'000'000;

std::string archive_of(const std::vector<std::pair<std::string, std::string>>& members) {
  ZipWriter writer(kTime);
  for (const auto& [name, content] : members) must(writer.add(name, content));
  return writer.finish();
}

std::string noise(std::size_t size) {
  std::string out;
  std::uint32_t state = 1;
  while (out.size() < size) out += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return out;
}

std::string why_not(const std::string& bytes, const std::string& name) {
  const auto reader = ZipReader::open(bytes);
  if (!reader) return reader.error().message();
  const auto content = reader->read(name);
  return content ? "" : content.error().message();
}

TEST(Zip, GivesBackWhatWasPutIn) {
  const std::string text(100'000, 'a'), random = noise(5000);
  const std::string bytes = archive_of({{"text", text}, {"a/b", random}, {"empty", ""}});
  EXPECT_LT(bytes.size(), 6500u);
  const ZipReader reader = must(ZipReader::open(bytes));
  EXPECT_EQ(must(reader.read("text")), text);
  EXPECT_EQ(must(reader.read("a/b")), random);
  EXPECT_EQ(must(reader.read("empty")), "");
  EXPECT_FALSE(reader.has("b"));
  EXPECT_FALSE(reader.read("b"));
  EXPECT_FALSE(must(ZipReader::open(archive_of({}))).has(""));
}

TEST(Zip, NoCutArchiveIsTakenForAWholeOne) {
  const std::string bytes = archive_of({{"text", "some text"}, {"noise", noise(100)}});
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(ZipReader::open(bytes.substr(0, size))) << size;
  EXPECT_THAT(why_not(bytes.substr(0, 60), "text"), HasSubstr("cut off"));
  EXPECT_THAT(why_not("something else that is no archive", "text"), HasSubstr("not a zip archive"));
}

TEST(Zip, AChangedByteIsNoticedOrChangesNothing) {
  const std::string text(300, 'x');
  const std::string bytes = archive_of({{"text", text}, {"noise", noise(100)}});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x41);
    const auto reader = ZipReader::open(changed);
    if (!reader) continue;
    const auto content = reader->read("text");
    EXPECT_EQ(content.value_or(text), text) << i;
  }
}

TEST(Zip, RefusesNamesThatClimbAndTwoOfOneName) {
  for (const char* name : {"../x", "a/../../x", "/etc/passwd", "", "a\\b"})
    EXPECT_THAT(why_not(archive_of({{name, "x"}}), name), HasSubstr("a name that no bundle has")) << name;
  EXPECT_THAT(why_not(archive_of({{"x", "1"}, {"x", "2"}}), "x"), HasSubstr("two members"));
}

TEST(Zip, RefusesWhatWouldBecomeHuge) {
  std::string bytes = archive_of({{"text", std::string(100'000, 'a')}});
  const std::size_t size_in_directory = bytes.rfind("PK\x01\x02") + 24;
  bytes[size_in_directory + 3] = 0x7f;  // 2 GiB
  EXPECT_THAT(why_not(bytes, "text"), HasSubstr("refused"));
  bytes[size_in_directory + 3] = 0;
  bytes[size_in_directory] = 1;  // it is longer than it says
  EXPECT_THAT(why_not(bytes, "text"), HasSubstr("do not give"));
}

}  // namespace
}  // namespace jtrace::diagnose
