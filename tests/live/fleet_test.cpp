// jtrace-fleet with a real nats-server on loopback: what is collected is what was sent, whoever is killed meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "base/file.h"
#include "tests/live/nats_server.h"
#include "tests/testlib/must.h"
#include "tests/testlib/places.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/unit/fleet/sample_trace.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr std::uint64_t kRounds = 60'000;  // four elements each

class Fleet : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NatsServer::is_installed()) JTRACE_SKIP("fleet", "no nats-server (scripts/setup installs it)");
    document_ = fleet::test::sample_document(kRounds);
    std::ofstream(trace_) << document_;
  }
  static std::string program() { return tools_folder() + "/jtrace-fleet"; }
  Words ship_words(const NatsServer& server, const Words& more = {}) const {
    Words words{program(), "ship", trace_, server.url(), "--spool", scratch_.file("spool")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Words collect_words(const NatsServer& server, const Words& more = {}) const {
    Words words{program(), "collect", server.url(), "-o", scratch_.file("out"), "--create"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static CommandOutput run(const Words& words, const CommandOptions& options = {}) {
    return must(run_command(words, options));
  }
  void kill_often(const Words& words, int times, int most_ms) {
    for (int i = 0; i < times; ++i) {
      const auto command = must(BackgroundCommand::start(words));
      ::usleep(static_cast<useconds_t>(random_() % static_cast<unsigned>(most_ms)) * 1000);
      command->signal(SIGKILL);
      (void)command->wait_exit();
    }
  }
  void expect_collected() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(scratch_.file("out")))
      if (entry.path().extension() == ".trcxml") found.push_back(must(read_file(entry.path().string(), 1u << 30)));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(found[0] == document_) << found[0].size() << " bytes of " << document_.size();
  }

  ScratchDir scratch_;
  std::string trace_ = scratch_.file("trace.xml"), document_;
  std::mt19937 random_{static_cast<unsigned>(::getpid())};
};

TEST_F(Fleet, WhatIsCollectedIsWhatWasSent) {
  const NatsServer server;
  EXPECT_EQ(run(collect_words(server, {"--until-idle", "1s"})).status, 0);
  EXPECT_EQ(run(ship_words(server)).status, 0);
  EXPECT_FALSE(fs::exists(scratch_.file("spool")) && !fs::is_empty(scratch_.file("spool")));
  const CommandOutput again = run(ship_words(server));
  EXPECT_THAT(again.err, HasSubstr("were there already"));
  const CommandOutput collected = run(collect_words(server, {"--until-idle", "1s"}));
  EXPECT_EQ(collected.status, 0) << collected.err;
  EXPECT_THAT(collected.err, HasSubstr("the trace is complete"));
  expect_collected();
}

TEST_F(Fleet, ASenderThatIsKilledLosesAndDoublesNothing) {
  const NatsServer server;
  run(collect_words(server, {"--until-idle", "1s"}));
  kill_often(ship_words(server), 10, 250);
  EXPECT_EQ(run(ship_words(server)).status, 0);
  EXPECT_EQ(run(collect_words(server, {"--until-idle", "1s"})).status, 0);
  expect_collected();
}

TEST_F(Fleet, ACollectorThatIsKilledLosesAndDoublesNothing) {
  const NatsServer server;
  run(collect_words(server, {"--until-idle", "1s"}));
  EXPECT_EQ(run(ship_words(server)).status, 0);
  kill_often(collect_words(server), 10, 200);
  // What the killed ones had taken comes again after the consumer's wait.
  const CommandOutput collected = run(collect_words(server, {"--until-idle", "12s"}));
  EXPECT_EQ(collected.status, 0) << collected.err;
  expect_collected();
}

TEST_F(Fleet, AServerThatIsKilledLosesAndDoublesNothing) {
  NatsServer server;
  run(collect_words(server, {"--until-idle", "1s"}));
  const auto sender = must(BackgroundCommand::start(ship_words(server)));
  const auto collector = must(BackgroundCommand::start(collect_words(server, {"--until-idle", "12s"})));
  ASSERT_TRUE(collector->wait_err_line("jtrace: collecting", std::chrono::seconds(20)));
  for (int i = 0; i < 5; ++i) {
    ::usleep(static_cast<useconds_t>(random_() % 200) * 1000);
    server.kill();
    server.start();
  }
  // A first connection that finds no server, or loses it, is refused: then the sender is to be started again.
  const int sent = must(sender->wait_exit());
  const bool was_refused = sender->err().find("cannot connect") != std::string::npos;
  EXPECT_EQ(was_refused ? run(ship_words(server)).status : sent, 0) << sender->err();
  EXPECT_EQ(must(collector->wait_exit()), 0) << collector->err();
  expect_collected();
}

TEST_F(Fleet, ARefusalIsSaidWithinSeconds) {
  const NatsServer server("authorization { user: tracer, password: right }\n");
  const CommandOutput wrong =
      run(ship_words(server, {"--user", "tracer"}), {.environment = {"JTRACE_NATS_PASSWORD=no"}});
  EXPECT_EQ(wrong.status, 5) << wrong.err;
  EXPECT_THAT(wrong.err, HasSubstr("refuses this user"));
  EXPECT_LT(wrong.elapsed, std::chrono::seconds(10));
  const CommandOutput secret = run({program(), "ship", trace_, "nats://tracer:right@127.0.0.1:1"});
  EXPECT_EQ(secret.status, 2);
  EXPECT_THAT(secret.err, HasSubstr("every user of this machine can read"));
}

TEST_F(Fleet, ASubjectThatIsForbiddenIsSaidWithinSeconds) {
  const NatsServer server(
      "authorization { users: [{ user: tracer, password: right, permissions: { publish: \"other.>\" } }] }\n");
  const CommandOutput refused =
      run(ship_words(server, {"--user", "tracer"}), {.environment = {"JTRACE_NATS_PASSWORD=right"}});
  EXPECT_EQ(refused.status, 5) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("jtrace.v1."));
  EXPECT_LT(refused.elapsed, std::chrono::seconds(10));
}

TEST_F(Fleet, NoServerAndNoStreamAreSaid) {
  NatsServer server;
  const CommandOutput no_stream = run(ship_words(server, {"--give-up", "2s"}));
  EXPECT_EQ(no_stream.status, 6);
  EXPECT_THAT(no_stream.err, HasSubstr("no stream takes jtrace.v1.>"));
  EXPECT_THAT(no_stream.err, HasSubstr("left in"));
  server.kill();
  const CommandOutput no_server = run(ship_words(server));
  EXPECT_EQ(no_server.status, 6);
  EXPECT_THAT(no_server.err, HasSubstr("no server answers there"));
}

TEST_F(Fleet, AStreamThatIsFullIsWaitedFor) {
  const NatsServer server;
  const auto collector = must(BackgroundCommand::start(
      collect_words(server, {"--max-size", "500k", "--max-age", "2s", "--until-idle", "12s"})));
  ASSERT_TRUE(collector->wait_err_line("jtrace: collecting", std::chrono::seconds(20)));
  const CommandOutput shipped = run(ship_words(server));
  EXPECT_EQ(shipped.status, 0) << shipped.err;
  EXPECT_THAT(shipped.err, HasSubstr("the stream is full"));
  EXPECT_EQ(must(collector->wait_exit()), 0) << collector->err();
  expect_collected();
}

TEST_F(Fleet, MessagesThatAreNotOursAreParked) {
  const NatsServer server;
  run(collect_words(server, {"--until-idle", "1s"}));
  server.send("PUB jtrace.v1.0.a.b.c.e 7\r\nrubbish\r\nPUB jtrace.v1.x 0\r\n\r\n");
  EXPECT_EQ(run(ship_words(server)).status, 0);
  const CommandOutput collected = run(collect_words(server, {"--until-idle", "1s"}));
  EXPECT_EQ(collected.status, 9) << collected.err;
  EXPECT_THAT(collected.err, HasSubstr("2 messages parked"));
  expect_collected();
}

}  // namespace
}  // namespace jtrace::test
