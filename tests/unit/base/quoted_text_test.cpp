// Texts as Java's source would write them.
#include "base/quoted_text.h"

#include <gtest/gtest.h>

namespace jtrace {
namespace {

TEST(QuotedText, CannotBeTakenForTheEndOrForAnotherCharacter) {
  EXPECT_EQ(quoted_text("plain"), "\"plain\"");
  EXPECT_EQ(quoted_text("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(quoted_text(std::string_view("p\0q\n\t\x7f?", 7)), "\"p\\u0000q\\n\\t\\u007f?\"");
  EXPECT_EQ(quoted_text("gr\u00fc\u00df \u202e"), "\"gr\u00fc\u00df \\u202e\"");
}

TEST(QuotedText, WithoutQuotationMarksLeavesThemAsTheyAre) { EXPECT_EQ(escaped_text("\"\n"), "\"\\n"); }

TEST(ShellWord, IsQuotedWhereAShellWouldChangeIt) {
  EXPECT_EQ(shell_word("/tmp/core.4711"), "/tmp/core.4711");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("app.Main$Inner"), "'app.Main$Inner'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace jtrace
