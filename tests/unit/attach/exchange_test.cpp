#include "attach/exchange.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "base/file.h"

namespace jtrace::attach {
namespace {

struct Pair {
  UniqueFd ours;
  UniqueFd theirs;
  static Pair make() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
  }
};

class ExchangeTest : public testing::Test {
 protected:
  target::Process self_ = target::Process::open(::getpid()).value();

  static Result<Reply> finish(Exchange& exchange) {
    for (;;) {
      pollfd poll{.fd = exchange.fd(), .events = POLLIN, .revents = 0};
      ::poll(&poll, 1, 10'000);
      JTRACE_ASSIGN_OR_RETURN(const bool done, exchange.advance());
      if (done) return exchange.take();
    }
  }
};

TEST_F(ExchangeTest, ShowsWhetherThereIsMoreToCome) {
  Pair pair = Pair::make();
  Exchange exchange(std::move(pair.ours), self_, 1000);
  EXPECT_FALSE(exchange.advance().value());
  ASSERT_TRUE(write_whole(pair.theirs.get(), "0\nda", "pair"));
  EXPECT_FALSE(exchange.advance().value());
  EXPECT_EQ(exchange.received(), 2u);
  ASSERT_TRUE(write_whole(pair.theirs.get(), "ta", "pair"));
  pair.theirs.reset();
  EXPECT_TRUE(exchange.advance().value());
  const auto reply = exchange.take();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->code, 0);
  EXPECT_EQ(reply->data, "data");
  EXPECT_FALSE(reply->cut);
}

TEST_F(ExchangeTest, ClosedWithoutAByteIsARefusal) {
  Pair pair = Pair::make();
  Exchange exchange(std::move(pair.ours), self_, 1000);
  pair.theirs.reset();
  const auto reply = finish(exchange);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().category, ErrorCategory::kRefused);
  EXPECT_NE(reply.error().message().find("without an answer"), std::string::npos);
}

// A listener that does not read all input resets the connection: the data before the reset is the reply.
TEST_F(ExchangeTest, AResetAfterDataAtEveryByte) {
  const std::string whole = "-1\nabc";
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    Pair pair = Pair::make();
    ASSERT_TRUE(write_whole(pair.ours.get(), "unread", "pair"));
    ASSERT_TRUE(write_whole(pair.theirs.get(), whole.substr(0, size), "pair"));
    pair.theirs.reset();  // with unread input: ECONNRESET at this end
    Exchange exchange(std::move(pair.ours), self_, 1000);
    const auto reply = finish(exchange);
    ASSERT_EQ(reply.has_value(), size >= 2) << size;
    if (!reply) continue;
    EXPECT_EQ(reply->code, -1);
    EXPECT_EQ(reply->data, whole.substr(0, size).substr(std::min<std::size_t>(size, 3)));
  }
}

TEST_F(ExchangeTest, AnotherKindOfServer) {
  Pair pair = Pair::make();
  ASSERT_TRUE(write_whole(pair.theirs.get(), "220 mail.example ESMTP\r\n", "pair"));
  Exchange exchange(std::move(pair.ours), self_, 1000);
  const auto reply = finish(exchange);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().category, ErrorCategory::kMalformed);
}

TEST_F(ExchangeTest, TheSpoolHoldsWhatMemoryMayNot) {
  Pair pair = Pair::make();
  constexpr std::size_t kLines = 40'000;
  std::thread writer([fd = pair.theirs.get()] {
    std::string text = "0\n";
    for (std::size_t i = 0; i < kLines; ++i) text += "line " + std::to_string(i) + "\n";
    EXPECT_TRUE(write_whole(fd, text, "pair"));
    ::shutdown(fd, SHUT_WR);
  });
  Exchange exchange(std::move(pair.ours), self_, 1000);
  const auto reply = finish(exchange);
  writer.join();
  ASSERT_TRUE(reply);
  EXPECT_TRUE(reply->spool);
  EXPECT_TRUE(reply->data.starts_with("line 0\n"));
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  std::string copied;
  std::thread reader([&copied, in = UniqueFd(ends[0])] { copied = read_whole(in.get(), "pipe").value_or(""); });
  EXPECT_TRUE(reply->write_to(ends[1], "pipe"));
  ::close(ends[1]);
  reader.join();
  EXPECT_EQ(copied.size(), reply->size);
  EXPECT_TRUE(copied.ends_with("line " + std::to_string(kLines - 1) + "\n"));
}

// The memory does not grow with the reply. (3 GiB: tests/bench/bench_attach.cpp.)
TEST_F(ExchangeTest, MemoryStaysBounded) {
  const std::uint64_t kSize = 48ull << 20;
  Pair pair = Pair::make();
  std::thread writer([fd = pair.theirs.get()] {
    const std::string chunk(1 << 20, 'x');
    EXPECT_TRUE(write_whole(fd, "0\n", "pair"));
    for (std::uint64_t sent = 0; sent < kSize; sent += chunk.size()) EXPECT_TRUE(write_whole(fd, chunk, "pair"));
    ::shutdown(fd, SHUT_WR);
  });
  Exchange exchange(std::move(pair.ours), self_, 1 << 20);
  const auto reply = finish(exchange);
  writer.join();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->size, kSize);
  EXPECT_LE(reply->data.capacity(), std::size_t{2} << 20);
}

// The answering process is killed during the reply.
TEST_F(ExchangeTest, AReplyCutByTheEndOfTheProcess) {
  for (const std::string_view sent : {"0\nhalf of", ""}) {
    Pair pair = Pair::make();
    int ready[2];
    ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      pair.ours.reset();
      [[maybe_unused]] auto written = ::write(pair.theirs.get(), sent.data(), sent.size());
      written = ::write(ready[1], "r", 1);
      for (;;) ::pause();
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    const auto process = target::Process::open(child);
    ASSERT_TRUE(process);
    pair.theirs.reset();
    Exchange exchange(std::move(pair.ours), *process, 1000);
    EXPECT_FALSE(exchange.advance().value());
    ::kill(child, SIGKILL);
    const auto reply = finish(exchange);
    if (sent.empty()) {
      ASSERT_FALSE(reply);
      EXPECT_EQ(reply.error().category, ErrorCategory::kPartial);
    } else {
      ASSERT_TRUE(reply);
      EXPECT_TRUE(reply->cut);
      EXPECT_EQ(reply->data, "half of");
    }
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
  }
}

TEST_F(ExchangeTest, ARequestNobodyReadsTimesOut) {
  Pair pair = Pair::make();
  const Waiter waiter(self_, Clock::now() + std::chrono::milliseconds(20), -1);
  const auto sent = send_request(pair.ours.get(), std::string(16u << 20, 'x'), waiter);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().category, ErrorCategory::kTimeout);
}

}  // namespace
}  // namespace jtrace::attach
