#include "base/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>

#include "base/unique_fd.h"

namespace jtrace::test {
namespace {

TEST(Terminal, ATextIsCutToCharacters) {
  EXPECT_EQ(cut_to_columns("a\u2581b", 2), "a\u2581");
  EXPECT_EQ(cut_to_columns("a\u2581b", 3), "a\u2581b");
  EXPECT_EQ(cut_to_columns("ab", 5), "ab");
  EXPECT_EQ(cut_to_columns("ab", 0), "");
}

TEST(Terminal, SaysItsSize) {
  int master = -1;
  int slave = -1;
  winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(::openpty(&master, &slave, nullptr, nullptr, &size), 0);
  const UniqueFd held(master);
  const UniqueFd terminal(slave);
  EXPECT_EQ(terminal_size(terminal.get()).rows, 24u);
  EXPECT_EQ(terminal_size(terminal.get()).columns, 80u);
}

TEST(Terminal, AFileHasNoSize) {
  const UniqueFd file(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(terminal_size(file.get()).rows, 0u);
  EXPECT_EQ(terminal_size(file.get()).columns, 0u);
}

}  // namespace
}  // namespace jtrace::test
