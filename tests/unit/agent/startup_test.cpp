#include "agent/startup.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace jtrace::agent {
namespace {

std::optional<std::string> value(std::string_view options, std::string_view key) {
  char out[32];
  if (!option_value(options, key, out, sizeof out)) return std::nullopt;
  return out;
}

TEST(OptionValue, FindsWholeKeysOnly) {
  EXPECT_EQ(value("file=/tmp/x,strict,jtrace=/bin/j", "jtrace"), "/bin/j");
  EXPECT_EQ(value("file=/tmp/x,strict", "strict"), "");
  EXPECT_EQ(value("nojtrace=/x", "jtrace"), std::nullopt);
  EXPECT_EQ(value("file=jtrace", "jtrace"), std::nullopt);
  EXPECT_EQ(value("", "jtrace"), std::nullopt);
}

TEST(OptionValue, ABackslashTakesTheNextCharacterAsItIs) {
  EXPECT_EQ(value("file=a\\,strict=b,x=1", "file"), "a,strict=b");
  EXPECT_EQ(value("file=a\\,strict=b,x=1", "strict"), std::nullopt);
  EXPECT_EQ(value("file=a\\\\,strict", "strict"), "");
  EXPECT_EQ(value("file=a\\", "file"), "a\\");
}

TEST(OptionValue, NeverWritesPastTheRoom) {
  EXPECT_EQ(value("file=" + std::string(100, 'x'), "file"), std::string(31, 'x'));
}

}  // namespace
}  // namespace jtrace::agent
