#include "attach/unix_table.h"

#include <gtest/gtest.h>

namespace jtrace::attach {
namespace {

constexpr const char* kTable =
    "Num       RefCount Protocol Flags    Type St Inode Path\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 12345 /tmp/.java_pid7.tmp\n"
    "0000000000000000: 00000003 00000000 00000000 0001 03 12346 /tmp/.java_pid7.tmp\n"
    "0000000000000000: 00000002 00000000 00000000 0001 02 12350 /tmp/.java_pid7.tmp\n"
    "0000000000000000: 00000003 00000000 00000000 0001 03 12347\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 12348 /a b/.java_pid77\n"
    "cut: line\n";

TEST(UnixTable, DistinguishesListenersFromConnections) {
  const auto sockets = parse_unix_table(kTable);
  ASSERT_EQ(sockets.size(), 4u);
  EXPECT_TRUE(sockets[0].listening && !sockets[0].connected);
  EXPECT_TRUE(!sockets[1].listening && sockets[1].connected);
  EXPECT_EQ(sockets[1].inode, 12346u);
  EXPECT_TRUE(sockets[2].waiting && !sockets[2].connected);
  EXPECT_EQ(sockets[3].path, "/a b/.java_pid77");
}

TEST(UnixTable, StateOfOneListener) {
  const auto sockets = parse_unix_table(kTable);
  const auto seven = listener_state(sockets, ".java_pid7");
  EXPECT_TRUE(seven.listening);
  EXPECT_EQ(seven.clients, 2);
  const auto other = listener_state(sockets, ".java_pid77");
  EXPECT_TRUE(other.listening);
  EXPECT_EQ(other.clients, 0);
  EXPECT_FALSE(listener_state(sockets, ".java_pid8").listening);
  EXPECT_FALSE(listener_state(parse_unix_table(""), ".java_pid7").listening);
}

}  // namespace
}  // namespace jtrace::attach
