// `jtrace debug`: what it answers to ids and lengths that are wrong, and how a held JVM runs again however a debugger
// ends.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/unique_fd.h"
#include "tests/live/jdwp_client.h"
#include "tests/testlib/background_command.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/must.h"
#include "tests/testlib/places.h"
#include "tests/testlib/require.h"

namespace jtrace::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class DebugEnd : public ::testing::Test {
 protected:
  void SetUp() override {
    std::optional<Jdk> own;
    for (const Jdk& jdk : jdks())
      if (!jdk.root) own = jdk;
    if (!own) JTRACE_SKIP("live", "no JDK of this machine");
    jvm_ = must(JvmProcess::start(*own, "Idle", {.flags = {"-Xmx64m"}}));
  }
  void serve(std::vector<std::string> more) {
    std::vector<std::string> words{jtrace_binary(), "debug", jvm_->pid_text()};
    words.insert(words.end(), more.begin(), more.end());
    server_ = must(BackgroundCommand::start(words));
    port_ = port_of(*server_);
    ASSERT_NE(port_, 0) << server_->err();
  }
  // A debugger for which the JVM is stopped.
  std::unique_ptr<JdwpClient> hold(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--hold", "--once"});
    serve(more);
    auto client = std::make_unique<JdwpClient>(port_);
    client->shake_hands();
    EXPECT_TRUE(server_->wait_err_line("jtrace: the JVM is stopped", seconds(120))) << server_->err();
    EXPECT_EQ(client->ask(1, 7).error, 0);
    EXPECT_TRUE(is_held());
    return client;
  }
  bool is_held() const {
    const std::string status = must(read_file("/proc/" + jvm_->pid_text() + "/status"));
    return status.find("TracerPid:\t0\n") == std::string::npos;
  }
  void expect_it_goes_on() {
    EXPECT_EQ(must(jvm_->ask("still there")), "still there");
    EXPECT_FALSE(is_held());
  }

  std::unique_ptr<JvmProcess> jvm_;
  std::unique_ptr<BackgroundCommand> server_;
  std::uint16_t port_ = 0;
};

TEST_F(DebugEnd, AHeldJvmGoesOnWhenTheClientVanishes) {
  hold()->close();
  expect_it_goes_on();
  EXPECT_EQ(must(server_->wait_exit()), 0);
}

TEST_F(DebugEnd, AHeldJvmGoesOnWhenItsTimeIsOver) {
  const auto client = hold({"--max-hold", "1"});
  const JdwpClient::Packet death = client->packet();
  ASSERT_GE(death.body.size(), 6u);
  EXPECT_EQ(static_cast<unsigned char>(death.body[5]), 99u);  // VM_DEATH
  expect_it_goes_on();
  EXPECT_EQ(must(server_->wait_exit()), 0);
  EXPECT_THAT(server_->err(), HasSubstr("as long as --max-hold allows"));
}

TEST_F(DebugEnd, AHeldJvmGoesOnWhenJtraceIsKilled) {
  const auto client = hold();
  server_->signal(SIGKILL);
  expect_it_goes_on();
}

// Nor does it stay a zombie that its parent cannot reap.
TEST_F(DebugEnd, AHeldJvmThatIsKilledIsTheEnd) {
  const auto client = hold();
  jvm_->signal(SIGKILL);
  const JdwpClient::Packet death = client->packet();
  ASSERT_GE(death.body.size(), 6u);
  EXPECT_EQ(static_cast<unsigned char>(death.body[5]), 99u);  // VM_DEATH
  EXPECT_EQ(must(server_->wait_exit()), 0);
  EXPECT_THAT(server_->err(),
              ::testing::AllOf(HasSubstr("the JVM has ended"), ::testing::Not(HasSubstr("runs again"))));
  EXPECT_EQ(must(jvm_->wait_exit()), SIGKILL);
}

TEST_F(DebugEnd, ASecondClientIsRefused) {
  const auto client = hold();
  EXPECT_FALSE(JdwpClient(port_).connected());
  EXPECT_EQ(client->ask(1, 7).error, 0);
}

TEST_F(DebugEnd, AnotherUserIsRefused) {
  if (::geteuid() != 0) JTRACE_SKIP("live", "only root can be another user");
  serve({"--hold", "--once"});
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(2);
    const int other = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port_);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(other, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) ::_exit(3);
    char byte = 0;
    ::_exit(::recv(other, &byte, 1, 0) <= 0 ? 0 : 1);  // closed without a word
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(server_->wait_err_line("jtrace: a client was refused: it belongs to user 65534", seconds(60)))
      << server_->err();
  EXPECT_FALSE(is_held());
  JdwpClient client(port_);  // it listens on
  client.shake_hands();
  EXPECT_EQ(client.ask(1, 7).error, 0);
}

TEST_F(DebugEnd, ACopyIsTakenAndTheJvmGoesOn) {
  serve({"--once"});
  JdwpClient client(port_);
  client.shake_hands();
  EXPECT_EQ(client.ask(1, 7).error, 0);
  expect_it_goes_on();
  EXPECT_THAT(server_->err(), HasSubstr("runs again: the debugger sees a copy of it"));
}

TEST_F(DebugEnd, ACopyOutlivesTheJvmAndIsTheLast) {
  serve({});
  JdwpClient client(port_);
  client.shake_hands();
  EXPECT_EQ(client.ask(1, 7).error, 0);
  jvm_->signal(SIGKILL);
  EXPECT_EQ(must(jvm_->wait_exit()), SIGKILL);
  EXPECT_EQ(client.ask(1, 4).error, 0);  // AllThreads
  EXPECT_EQ(client.ask(1, 6).error, 0);  // Dispose
  EXPECT_EQ(must(server_->wait_exit()), 3);
  EXPECT_THAT(server_->err(), HasSubstr("has ended"));
}

TEST_F(DebugEnd, ACopyThatTakesTooLongIsRefusedWithAWayOut) {
  serve({"--once", "--max-stop", "1"});
  JdwpClient client(port_);
  client.shake_hands();
  EXPECT_EQ(client.receive(1), "");
  EXPECT_NE(must(server_->wait_exit()), 0);
  EXPECT_THAT(server_->err(), ::testing::AllOf(HasSubstr("no copy of the JVM"), HasSubstr("--hold")));
  expect_it_goes_on();
}

// --connect: the debugger listens, and no port is opened.
TEST_F(DebugEnd, ADebuggerThatListensIsConnectedTo) {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&at), size), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
  server_ = must(BackgroundCommand::start(
      {jtrace_binary(), "debug", jvm_->pid_text(), "--connect", "127.0.0.1:" + std::to_string(ntohs(at.sin_port))}));
  pollfd polled{listener.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&polled, 1, 120'000), 1) << server_->err();
  JdwpClient client{UniqueFd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC))};
  client.shake_hands();
  EXPECT_EQ(client.ask(1, 7).error, 0);
  EXPECT_EQ(client.ask(1, 6).error, 0);  // Dispose
  EXPECT_EQ(must(server_->wait_exit()), 0) << server_->err();
  EXPECT_EQ(server_->out(), "");
}

// Ids and lengths that are wrong: the error that clients understand, and the connection stays.
TEST_F(DebugEnd, WhatIsWrongHasItsError) {
  serve({"--once"});
  JdwpClient client(port_);
  client.shake_hands();
  const auto ids = [](std::initializer_list<std::uint64_t> values) {
    PacketWriter body;
    for (const std::uint64_t value : values) body.id(value);
    return body;
  };
  const auto first_id = [](const JdwpClient::Packet& packet, std::size_t at) {
    PacketReader in(std::as_bytes(std::span(packet.body)).subspan(at));
    return in.id();
  };
  PacketWriter name;
  name.text("Ljava/lang/String;");
  const std::uint64_t type = first_id(client.ask(1, 2, name), 5);
  PacketWriter text;
  text.text("made up");
  const std::uint64_t string = first_id(client.ask(1, 11, text), 0);
  const JdwpClient::Packet threads = client.ask(1, 4);
  const std::uint64_t thread = first_id(threads, 4), other = first_id(threads, 12);
  constexpr std::uint64_t kNothing = 0x7fff12345670;
  const auto frames = [&](std::int64_t start, std::int64_t count) {
    PacketWriter body;
    body.id(thread).u4(static_cast<std::uint32_t>(start)).u4(static_cast<std::uint32_t>(count));
    return body;
  };
  PacketWriter instances = ids({type});
  instances.u4(0xffffffff);
  PacketWriter event, modifier, values, field, many;
  event.u1(200).u1(0).u4(0);
  modifier.u1(8).u1(0).u4(1).u1(99);
  values.id(thread).id(kNothing).u4(0);
  field.id(thread).u4(1).id(kNothing);
  many.u4(0x7fffffff);
  const struct {
    std::uint8_t set, command;
    PacketWriter body;
    std::uint16_t error;
  } rows[] = {{1, 200, {}, 99},
              {99, 1, {}, 99},
              {1, 9, {}, 99},  // Resume
              {9, 1, ids({0}), 20},
              {9, 1, ids({kNothing}), 20},
              {9, 1, {}, 103},  // too short
              {2, 1, ids({0}), 21},
              {2, 1, ids({kNothing}), 20},
              {11, 1, ids({0}), 20},
              {11, 1, ids({string}), 10},
              {12, 1, ids({thread}), 11},
              {13, 1, ids({thread}), 508},
              {10, 1, ids({thread}), 506},
              {14, 1, ids({thread}), 507},
              {18, 1, ids({thread}), 42},
              {11, 6, frames(-1, -1), 503},
              {11, 6, frames(100000, 1), 503},
              {11, 6, frames(0, 100000), 504},
              {6, 1, ids({type, kNothing}), 23},
              {9, 2, field, 25},
              {16, 1, values, 30},
              {2, 16, instances, 103},
              {15, 1, event, 102},
              {15, 1, modifier, 103},
              {1, 21, many, 103}};
  for (const auto& row : rows)
    EXPECT_EQ(client.ask(row.set, row.command, row.body).error, row.error) << int{row.set} << "." << int{row.command};
  // A frame of another thread is none of this one.
  PacketWriter all;
  all.id(other).u4(0).u4(0xffffffff);
  const JdwpClient::Packet of_other = client.ask(11, 6, all);
  if (of_other.body.size() > 12) {
    PacketWriter of_this;
    of_this.id(thread).id(first_id(of_other, 4)).u4(0);
    EXPECT_EQ(client.ask(16, 1, of_this).error, 30);
  }
  EXPECT_EQ(client.ask(1, 7).error, 0);  // the connection stands
}

// What is no packet at all ends the connection.
TEST_F(DebugEnd, WhatIsNoPacketEndsTheConnection) {
  serve({});
  const std::string_view kWrong[] = {std::string_view("\0\0\0\5\0\0\0\1\0\1\7", 11),      // shorter than its header
                                     std::string_view("\x20\0\0\0\0\0\0\1\0\1\7", 11),    // 512 MiB
                                     std::string_view("\0\0\0\13\0\0\0\1\x80\0\0", 11)};  // a reply
  for (const std::string_view wrong : kWrong) {
    JdwpClient client(port_);
    client.shake_hands();
    EXPECT_EQ(client.ask(1, 7).error, 0);
    client.send(wrong);
    JdwpClient::Packet last;
    do last = client.packet();
    while (last.error != 0xffff && !last.reply);
    EXPECT_EQ(last.error, 0xffff);
    EXPECT_TRUE(port_of(*server_) != 0);  // for the next one
  }
  JdwpClient stranger(port_);
  stranger.send("GET / HTTP/1.0\r\n");
  EXPECT_EQ(stranger.receive(1), "");
}

}  // namespace
}  // namespace jtrace::test
