#include "debug/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>

namespace jtrace::debug {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

// A session over a socketpair, in a thread of its own; its commands are answered by their own body.
class Served {
 public:
  explicit Served(SessionOptions options = {.handshake = milliseconds(300), .take = milliseconds(300)}, Id thread = 0) {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) std::abort();
    client_.reset(fds[0]);
    session_ = std::make_unique<Session>(
        [thread] { return Result<Id>(thread); },
        [](Client& client, const CommandHeader& header, std::span<const std::byte> body) {
          client.ended = header.set == 1 && header.command == 6;
          if (header.command == 200) return std::string(64u << 20, 'x');
          return reply_packet(header.id, JdwpError::kNone, {reinterpret_cast<const char*>(body.data()), body.size()});
        },
        UniqueFd(fds[1]), options);
    worker_ = std::thread([this] {
      end_ = session_->run();
      over_ = true;
    });
  }
  ~Served() {
    client_.reset();
    if (worker_.joinable()) worker_.join();
  }
  void send(std::string_view bytes) {
    EXPECT_EQ(::write(client_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  std::string receive(std::size_t size) {
    std::string bytes(size, '\0');
    std::size_t done = 0;
    while (done < size) {
      const ssize_t count = ::read(client_.get(), bytes.data() + done, size - done);
      if (count <= 0) break;
      done += static_cast<std::size_t>(count);
    }
    bytes.resize(done);
    return bytes;
  }
  void shake_hands() {
    send(kHandshake);
    EXPECT_EQ(receive(kHandshake.size()), kHandshake);
  }
  Session::End end() {
    worker_.join();
    return end_;
  }
  const Session& session() const { return *session_; }
  void hang_up() { client_.reset(); }
  bool over() const { return over_; }

 private:
  UniqueFd client_;
  std::unique_ptr<Session> session_;
  std::thread worker_;
  Session::End end_ = Session::End::kGone;
  std::atomic<bool> over_ = false;
};

TEST(Session, EchoesTheHandshakeAndAnswers) {
  Served served;
  served.shake_hands();
  served.send(command_packet(7, 1, 1, "abc"));
  EXPECT_EQ(served.receive(14), reply_packet(7, JdwpError::kNone, "abc"));
  served.send(command_packet(9, 1, 6, ""));
  EXPECT_EQ(served.receive(11), reply_packet(9, JdwpError::kNone, ""));
  EXPECT_EQ(served.end(), Session::End::kGoodbye);
  EXPECT_EQ(served.session().packets(), 2u);
}

// Nothing of ours before the echo; then VM_START, with everything suspended.
TEST(Session, TellsWhereTheClientBegins) {
  Served served({.handshake = milliseconds(1000)}, 42);
  served.shake_hands();
  const std::string event = served.receive(11 + 1 + 4 + 1 + 4 + 8);
  EXPECT_EQ(event.substr(8, 3), std::string("\0\x40\x64", 3));
  EXPECT_EQ(event.substr(11), std::string("\x02\0\0\0\x01\x5a\0\0\0\0\0\0\0\0\0\0\0\x2a", 18));
}

TEST(Session, TakesPacketsInPieces) {
  Served served({.handshake = milliseconds(2000)});
  for (const char byte : kHandshake) served.send({&byte, 1});
  EXPECT_EQ(served.receive(kHandshake.size()), kHandshake);
  const std::string packets = command_packet(2, 1, 1, "first") + command_packet(1, 1, 1, "second");
  for (const char byte : packets) served.send({&byte, 1});
  EXPECT_EQ(served.receive(11 + 5 + 11 + 6),
            reply_packet(2, JdwpError::kNone, "first") + reply_packet(1, JdwpError::kNone, "second"));
}

TEST(Session, CutsOffWhatIsNoDebugger) {
  Served served;
  served.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(served.receive(1), "");
  EXPECT_EQ(served.end(), Session::End::kRefused);
  EXPECT_THAT(served.session().why(), HasSubstr("not a debugger"));
}

TEST(Session, CutsOffWhoSaysNothing) {
  Served served;
  served.send("JDWP-");
  EXPECT_EQ(served.receive(1), "");
  EXPECT_EQ(served.end(), Session::End::kRefused);
  EXPECT_THAT(served.session().why(), HasSubstr("too long"));
}

TEST(Session, CutsOffImpossibleLengths) {
  for (const std::uint32_t length : {0u, 10u, 0x1000001u, 0x20000000u, 0x80000000u, 0xffffffffu}) {
    Served served;
    served.shake_hands();
    served.send(PacketWriter().u4(length).u4(1).u1(0).u1(1).u1(1).bytes());
    EXPECT_EQ(served.receive(1), "") << length;
    EXPECT_EQ(served.end(), Session::End::kRefused);
    EXPECT_THAT(served.session().why(), HasSubstr(std::to_string(length)));
  }
}

TEST(Session, CutsOffRepliesAndOtherFlags) {
  for (const int flags : {0x80, 0x40, 0x01}) {
    Served served;
    served.shake_hands();
    served.send(PacketWriter().u4(11).u4(1).u1(static_cast<std::uint64_t>(flags)).u1(1).u1(1).bytes());
    EXPECT_EQ(served.receive(1), "");
    EXPECT_EQ(served.end(), Session::End::kRefused);
  }
}

TEST(Session, EndsWhenTheClientVanishes) {
  Served served;
  served.shake_hands();
  served.hang_up();
  EXPECT_EQ(served.end(), Session::End::kGone);
}

TEST(Session, CutsOffWhoDoesNotTakeItsAnswers) {
  Served served({.handshake = milliseconds(1000), .take = milliseconds(200)});
  served.shake_hands();
  served.send(command_packet(1, 1, 200, ""));
  EXPECT_EQ(served.end(), Session::End::kRefused);
  EXPECT_THAT(served.session().why(), HasSubstr("answers"));
}

TEST(Session, SaysThatTheVmIsGoneWhenItIsStopped) {
  const UniqueFd stop(::eventfd(0, EFD_CLOEXEC));
  Served served({.stop_fd = stop.get(), .handshake = milliseconds(1000)});
  served.shake_hands();
  const std::uint64_t one = 1;
  ASSERT_EQ(::write(stop.get(), &one, sizeof one), 8);
  const std::string event = served.receive(21);
  ASSERT_EQ(event.size(), 21u);
  EXPECT_EQ(event.substr(11), std::string("\0\0\0\0\x01\x63\0\0\0\0", 10));
  EXPECT_EQ(served.end(), Session::End::kStopped);
}

}  // namespace
}  // namespace jtrace::debug
