#include "base/json_reader.h"

#include <gtest/gtest.h>

namespace jtrace {
namespace {

JsonValue parsed(std::string_view text) {
  auto value = JsonValue::parse(text);
  EXPECT_TRUE(value) << text;
  return value ? std::move(*value) : JsonValue();
}

TEST(JsonReader, ReadsWhatThereIs) {
  const JsonValue all = parsed(R"( {"a": [1, -2.5e2, true, null], "b": {"c": "x\n\"\u00e4\ud83d\ude00"}, "d": []} )");
  ASSERT_EQ(all["a"].items().size(), 4u);
  EXPECT_EQ(all["a"].items()[1].number(), -250);
  EXPECT_TRUE(all["a"].items()[2].truth());
  EXPECT_TRUE(all["a"].items()[3].is(JsonValue::Kind::kNull));
  EXPECT_EQ(all["b"]["c"].text(), "x\n\"\xc3\xa4\xf0\x9f\x98\x80");
  EXPECT_TRUE(all["d"].is(JsonValue::Kind::kArray));
}

TEST(JsonReader, WhatIsNotThereIsNull) {
  const JsonValue all = parsed(R"({"a": 1})");
  EXPECT_FALSE(all.has("b"));
  EXPECT_TRUE(all["b"]["c"].is(JsonValue::Kind::kNull));
  EXPECT_EQ(all["b"].text(), "");
}

TEST(JsonReader, HalfOfASurrogatePairIsReplaced) { EXPECT_EQ(parsed(R"("\ud83dx")").text(), "\xef\xbf\xbdx"); }

TEST(JsonReader, RefusesWhatIsBroken) {
  for (const char* text :
       {"", "{", "[1,]", "{\"a\"}", "\"x", "nul", "1 2", "[1", "{\"a\":1,}", "\"\\u12\"", "inf", "+1", "\"\\x\"", "]"})
    EXPECT_FALSE(JsonValue::parse(text)) << text;
}

TEST(JsonReader, RefusesWhatNestsTooDeeply) {
  EXPECT_TRUE(JsonValue::parse(std::string(150, '[') + std::string(150, ']')));
  EXPECT_FALSE(JsonValue::parse(std::string(100'000, '[')));
}

}  // namespace
}  // namespace jtrace
