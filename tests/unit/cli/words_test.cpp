#include "cli/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace::cli {
namespace {

using testing::ElementsAre;

TEST(Words, AsAShellTakesThemApart) {
  EXPECT_THAT(split_words("jcmd  GC.heap_dump\t/tmp/x\r\n").value(), ElementsAre("jcmd", "GC.heap_dump", "/tmp/x"));
  EXPECT_THAT(split_words("jcmd \"JVMTI.agent_load /a.so\" 'a \"b\"'").value(),
              ElementsAre("jcmd", "JVMTI.agent_load /a.so", "a \"b\""));
  EXPECT_THAT(split_words("a\\ b \"c\\\"d\" '\\e' x''y ''").value(), ElementsAre("a b", "c\"d", "\\e", "xy", ""));
}

TEST(Words, CommentsAndNothing) {
  EXPECT_THAT(split_words("").value(), ElementsAre());
  EXPECT_THAT(split_words("   # all of it").value(), ElementsAre());
  EXPECT_THAT(split_words("a # rest").value(), ElementsAre("a"));
  EXPECT_THAT(split_words("a#b").value(), ElementsAre("a#b"));
}

TEST(Words, AnOpenQuoteIsAnError) {
  for (const char* line : {"a 'b", "a \"b", "'"}) {
    const auto words = split_words(line);
    ASSERT_FALSE(words) << line;
    EXPECT_EQ(words.error().category, ErrorCategory::kUsage);
  }
}

}  // namespace
}  // namespace jtrace::cli
