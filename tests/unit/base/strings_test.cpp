#include "base/strings.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace jtrace {
namespace {

std::string xml(std::string_view text) {
  std::string out;
  append_xml_escaped(out, text);
  return out;
}

TEST(ParseDecimal, TakesWholeNumbersOnly) {
  EXPECT_EQ(parse_decimal<int>("42"), 42);
  for (const char* bad : {"", "12abc", "+1", " 1", "1 ", "99999999999999999999"})
    EXPECT_FALSE(parse_decimal<int>(bad)) << bad;
}

TEST(ParseSize, KnowsPowersOf1024AndRefusesOverflow) {
  EXPECT_EQ(parse_size("64M"), 64u << 20);
  EXPECT_EQ(parse_size("10"), 10u);
  for (const char* same : {"8M", "8MB", "8MiB", "8mb", "8192K", "8192KB", "8192kiB"})
    EXPECT_EQ(parse_size(same), 8u << 20) << same;
  EXPECT_EQ(parse_size("2GB"), 2u << 30);
  EXPECT_EQ(parse_size("1.5G"), 1610612736u);
  EXPECT_EQ(parse_size("0.5KB"), 512u);
  EXPECT_EQ(parse_size("0.1G"), 107374182u) << "107374182.4";
  EXPECT_EQ(parse_size("1.0001K"), 1024u);
  for (const char* bad :
       {"1.5", "1.5B", "1.", "1.M", ".5M", "1.5.5M", "1.-5M", "1.5e3M", "1,5G", "16777215.9999999999999T"})
    EXPECT_FALSE(parse_size(bad)) << bad;
  for (const char* bad : {"", "M", "MB", "B", "8B", "8iB", "8MBB", "8Mi", "-1", "99999999999999T", "99999999999999TB"})
    EXPECT_FALSE(parse_size(bad)) << bad;
}

TEST(XmlEscape, EscapesMarkupAndReplacesWhatXmlCannotCarry) {
  EXPECT_EQ(xml("<init> & \"x\""), "&lt;init&gt; &amp; &quot;x&quot;");
  EXPECT_EQ(xml("a\nb\tc"), "a&#10;b&#9;c");
  EXPECT_EQ(xml(std::string_view("\0\x01", 2)), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(xml("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // a surrogate is not UTF-8
  EXPECT_EQ(xml("\xef\xbf\xbf"), "\xef\xbf\xbd");                          // U+FFFF is no XML character
  EXPECT_EQ(xml("\xc3\xa4\xf0\x9f\x98\x80"), "\xc3\xa4\xf0\x9f\x98\x80");
  EXPECT_EQ(xml("\xc0\x80"), "\xef\xbf\xbd\xef\xbf\xbd");  // overlong
}

// A name that would turn the rest of its line around, or hide in it.
TEST(Printable, ShowsTheCodesOfCharactersThatHide) {
  EXPECT_EQ(printable("Shop\u202egnihton\u202c"), "Shop\\u202egnihton\\u202c");
  EXPECT_EQ(printable("a\u200bb\u00adc\u0085d\U000e0041"), "a\\u200bb\\u00adc\\u0085d\\udb40\\udc41");
  EXPECT_EQ(printable("caf\u00e9 \u6771\u4eac \U0001f600"), "caf\u00e9 \u6771\u4eac \U0001f600");
  EXPECT_EQ(printable("a\x1b[31m\n"), "a?[31m?");
  EXPECT_EQ(printable("a\x9b"
                      "b"),
            "a\ufffd"
            "b");
}

TEST(JsonEscape, GivesCharactersThatHideAsTheirCodes) {
  std::string out;
  append_json_escaped(out, "a\u202eb\u2028c\x1f\u00e9\U000e0041");
  EXPECT_EQ(out, "a\\u202eb\\u2028c\\u001f\u00e9\\udb40\\udc41");
}

TEST(ModifiedUtf8, JoinsSurrogatePairsAndKeepsNul) {
  EXPECT_EQ(utf8_from_modified("\xc0\x80"), std::string(1, '\0'));
  EXPECT_EQ(utf8_from_modified("\xed\xa0\xbd\xed\xb8\x80"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(utf8_from_modified("\xed\xa0\xbd"), "\xef\xbf\xbd");
  EXPECT_EQ(utf8_from_modified("\xed\xa0\xbdx"), "\xef\xbf\xbdx");
  EXPECT_EQ(utf8_from_modified("\xff"), "\xef\xbf\xbd");
  EXPECT_EQ(utf8_from_modified("\xe4"), "\xef\xbf\xbd");
}

TEST(NearestWord, NamesALikelySlip) {
  EXPECT_EQ(nearest_word("thread", {"threads", "classes"}), "threads");
  EXPECT_EQ(nearest_word("zzzzzz", {"threads", "classes"}), "");
  EXPECT_EQ(nearest_word("histo", {"locks", "histogram", "histograms"}), "histogram") << "the shortest that begins so";
  EXPECT_EQ(nearest_word("hi", {"histogram"}), "");
  EXPECT_EQ(nearest_word("cpu", {"ctl", "cmd"}), "") << "two of three letters are others";
  EXPECT_EQ(nearest_word("tpo", {"top"}), "top") << "two that are swapped";
  EXPECT_EQ(nearest_word("dif", {"diff"}), "diff");
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,,b", ',').size(), 3u);
  EXPECT_EQ(split("", ',').size(), 1u);
}

TEST(LooksSecret, KnowsTheUsualWords) {
  EXPECT_TRUE(looks_secret("javax.net.ssl.keyStorePassword"));
  EXPECT_TRUE(looks_secret("API_TOKEN"));
  EXPECT_FALSE(looks_secret("java.home"));
}

TEST(Utf8FromJava, TakesLatin1AndWholeUnitsOfUtf16) {
  constexpr std::uint16_t kUnits[] = {'a', 0xe9, 0xd83d, 0xde00};
  const auto wide = std::as_bytes(std::span(kUnits));
  EXPECT_EQ(utf8_from_java(wide, true), "a\u00e9\U0001f600");
  EXPECT_EQ(utf8_from_java(wide.first(3), true), "a");
  constexpr std::uint8_t kLatin1[] = {'a', 0xe9};
  EXPECT_EQ(utf8_from_java(std::as_bytes(std::span(kLatin1)), false), "a\u00e9");
  EXPECT_EQ(utf8_from_java({}, true), "");
}

TEST(Counts, HaveTheirNounsInOrder) {
  EXPECT_EQ(counted(0, "thread"), "0 threads");
  EXPECT_EQ(counted(1u, "thread"), "1 thread");
  EXPECT_EQ(counted(2, "class", "classes"), "2 classes");
  EXPECT_EQ(counted(1, "class", "classes"), "1 class");
  EXPECT_EQ(is_are(1), "is");
  EXPECT_EQ(was_were(2), "were");
}

}  // namespace
}  // namespace jtrace
