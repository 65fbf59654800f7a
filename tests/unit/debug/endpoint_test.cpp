#include "debug/endpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/testlib/must.h"

namespace jtrace::debug {
namespace {

using test::must;

TEST(Endpoint, IsAnAddressAndAPort) {
  EXPECT_EQ(must(Endpoint::parse("127.0.0.1:5005")).text(), "127.0.0.1:5005");
  EXPECT_EQ(must(Endpoint::parse("localhost:5005")).text(), "127.0.0.1:5005");
  EXPECT_EQ(must(Endpoint::parse("[::1]:80")).text(), "[::1]:80");
  EXPECT_EQ(must(Endpoint::parse("*:80")).text(), "0.0.0.0:80");
  for (const char* wrong : {"", "5005", "a.b:1", "127.0.0.1:70000", "127.0.0.1:", "[::1:80", "127.0.0.1:-1"}) {
    const auto parsed = Endpoint::parse(wrong);
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_EQ(parsed.error().category, ErrorCategory::kUsage);
  }
}

TEST(Endpoint, KnowsLoopback) {
  EXPECT_TRUE(must(Endpoint::parse("127.8.0.1:1")).is_loopback());
  EXPECT_TRUE(must(Endpoint::parse("[::1]:1")).is_loopback());
  EXPECT_TRUE(must(Endpoint::parse("[::ffff:127.0.0.1]:1")).is_loopback());
  EXPECT_FALSE(must(Endpoint::parse("10.0.0.1:1")).is_loopback());
  EXPECT_FALSE(must(Endpoint::parse("*:1")).is_loopback());
}

// As the kernel prints them: a client of Java has an IPv6 socket with a mapped address.
TEST(Endpoint, FindsTheUserOfThePeer) {
  constexpr const char* kFour =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
      "   0: 0100007F:138D 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 11 1 0 20 4 30 10 "
      "-1\n"
      "   1: 0100007F:D431 0100007F:138D 01 00000000:00000000 00:00000000 00000000  1000        0 12 1 0 20 4 30 10 "
      "-1\n";
  constexpr const char* kSix =
      "   0: 0000000000000000FFFF00000100007F:D431 0000000000000000FFFF00000100007F:138D 01 0:0 00:0 0  1001        0 "
      "12\n";
  const Endpoint own = must(Endpoint::parse("127.0.0.1:5005")), peer = must(Endpoint::parse("127.0.0.1:54321"));
  EXPECT_EQ(parse_peer(kFour, peer, own), uid_t{1000});
  EXPECT_EQ(parse_peer(kFour, own, peer), uid_t{0});
  EXPECT_EQ(parse_peer(kSix, peer, own), uid_t{1001});
  EXPECT_EQ(parse_peer(kFour, must(Endpoint::parse("127.0.0.1:54322")), own), std::nullopt);
  EXPECT_EQ(parse_peer("", peer, own), std::nullopt);
}

TEST(Endpoint, AConnectionOfThisUserIsWelcome) {
  Listener listener = must(Listener::open(must(Endpoint::parse("127.0.0.1:0"))));
  const UniqueFd client = must(connect_to(listener.at()));
  std::optional<UniqueFd> served;
  while (!served) served = listener.accept();
  EXPECT_EQ(peer_of(served->get()), ::geteuid());
  EXPECT_EQ(why_not(served->get()), "");
}

}  // namespace
}  // namespace jtrace::debug
