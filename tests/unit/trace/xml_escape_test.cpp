#include "trace/xml_escape.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

namespace jtrace::trace {
namespace {

// In memory of exactly the promised size on both sides, so that the sanitizers detect a byte too many.
std::string escaped(std::string_view text) {
  const std::unique_ptr<char[]> in(new char[text.size()]);
  text.copy(in.get(), text.size());
  const std::unique_ptr<char[]> out(new char[text.size() * kEscapeGrowth]);
  return std::string(out.get(), put_escaped(out.get(), {in.get(), text.size()}));
}

std::string expected(std::string_view text) {
  std::string out;
  append_xml_escaped(out, text);
  return out;
}

TEST(XmlEscape, PlainTextOfEveryLength) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(escaped(text), text);
    text += static_cast<char>('A' + i % 50);
  }
}

TEST(XmlEscape, EverySpecialByteAtEveryPlace) {
  for (int byte = 0; byte < 256; ++byte)
    for (std::size_t size : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 15u, 16u, 17u, 31u, 32u, 33u, 50u})
      for (std::size_t at = 0; at < size; ++at) {
        std::string text(size, 'm');
        text[at] = static_cast<char>(byte);
        ASSERT_EQ(escaped(text), expected(text)) << "byte " << byte << " at " << at << " of " << size;
      }
}

TEST(XmlEscape, RandomBytes) {
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random() % 60, ' ');
    for (char& c : text) c = static_cast<char>(random());
    ASSERT_EQ(escaped(text), expected(text));
  }
}

TEST(XmlEscape, WorstGrowthFits) {
  EXPECT_EQ(escaped("\"\"\""), "&quot;&quot;&quot;");
  EXPECT_EQ(escaped(std::string_view("\0\1", 2)), "\xef\xbf\xbd\xef\xbf\xbd");
}

}  // namespace
}  // namespace jtrace::trace
