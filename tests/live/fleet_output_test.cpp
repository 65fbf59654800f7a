// --ship: commands that send what they write, with a real nats-server on loopback and a real JVM.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "base/scope_guard.h"
#include "tests/live/nats_server.h"
#include "tests/testlib/background_command.h"
#include "tests/testlib/must.h"
#include "tests/testlib/places.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

std::size_t count(const std::string& text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + word.size())) ++found;
  return found;
}

class ShippedOutputs : public ::testing::TestWithParam<Jdk> {
 protected:
  void SetUp() override {
    if (!NatsServer::is_installed()) JTRACE_SKIP("fleet", "no nats-server (scripts/setup installs it)");
    jvm_ = must(JvmProcess::start(GetParam(), "Naps", {.flags = {"-Xmx64m"}, .arguments = {"5"}}));
  }
  CommandOptions environment() const {
    return {.environment = {"JTRACE_SPOOL=" + scratch_.file("spool"), "JTRACE_GIVE_UP=2s"}};
  }
  // What the collector has received, after the stream was made.
  CommandOutput collect(const NatsServer& server) const {
    return must(run_jtrace({"collect", server.url(), "-o", scratch_.file("out"), "--create", "--until-idle", "1s"}));
  }
  std::vector<std::string> documents() const {
    std::vector<std::string> texts;
    for (const auto& entry : fs::directory_iterator(scratch_.file("out")))
      if (entry.path().extension() == ".trcxml") texts.push_back(must(read_file(entry.path().string(), 1u << 30)));
    return texts;
  }

  std::unique_ptr<JvmProcess> jvm_;
  const ScratchDir scratch_;
};
JTRACE_ON_EACH_JDK(ShippedOutputs);

// What no JDK changes.
class ShippedOutputOfOne : public ShippedOutputs {};
JTRACE_ON_ONE_JDK(ShippedOutputOfOne, 8);

TEST_P(ShippedOutputs, AreCollectedWhole) {
  if (IsSkipped()) return;
  const NatsServer server;
  (void)collect(server);
  const Words commands[] = {
      {jtrace_binary(), "attach", jvm_->pid_text(), "--events", "sleeps", "--duration", "2"},
      {tools_folder() + "/hsperf", "poll", jvm_->pid_text(), "--count", "3", "--interval", "100ms"},
      {jtrace_binary(), "profile", jvm_->pid_text(), "--wall", "--ptrace", "--duration", "1"},
  };
  for (Words words : commands) {
    words.insert(words.end(), {"--ship", server.url()});
    const CommandOutput sent = must(run_command(words, environment()));
    EXPECT_EQ(sent.status, 0) << sent.err;
    EXPECT_EQ(sent.out, "");
    EXPECT_THAT(sent.err, HasSubstr("acknowledged"));
  }
  const CommandOutput collected = collect(server);
  EXPECT_EQ(collected.status, 0) << collected.err;
  EXPECT_THAT(collected.err, HasSubstr("3 traces complete"));
  std::size_t sleeps = 0, samples = 0;
  for (const std::string& text : documents()) {
    sleeps += count(text, "<monWait ");
    samples += count(text, "<value ");
  }
  EXPECT_GT(sleeps, 20u) << "5 threads that sleep for 100 to 200 ms, for 2 s";
  EXPECT_GT(samples, 100u);
}

TEST_P(ShippedOutputOfOne, StaysInTheSpoolIfNoServerAnswers) {
  if (IsSkipped()) return;
  const CommandOutput sent = must(run_command({jtrace_binary(), "attach", jvm_->pid_text(), "--events", "sleeps",
                                               "--duration", "1", "--ship", "nats://127.0.0.1:1"},
                                              environment()));
  EXPECT_EQ(sent.status, 6) << sent.err;
  EXPECT_THAT(sent.err, HasSubstr("no server answers there"));
  EXPECT_THAT(sent.err, HasSubstr("1 batch left in "));
  const NatsServer server;
  (void)collect(server);
  const CommandOutput rest = must(run_jtrace({"ship", scratch_.file("spool"), server.url()}, environment()));
  EXPECT_EQ(rest.status, 0) << rest.err;
  EXPECT_THAT(collect(server).err, HasSubstr("1 trace complete"));
}

TEST_P(ShippedOutputOfOne, IsSentAsFarAsItGoesIfItsWriterIsKilled) {
  if (IsSkipped()) return;
  const NatsServer server;
  (void)collect(server);
  CommandOptions options = environment();
  const auto jtrace = must(BackgroundCommand::start(
      {jtrace_binary(), "attach", jvm_->pid_text(), "--events", "sleeps", "--ship", server.url()}, options));
  ASSERT_TRUE(jtrace->wait_err_line("jtrace: tracing", std::chrono::seconds(60))) << jtrace->err();
  ::usleep(1'500'000);
  jtrace->signal(SIGKILL);
  const ScopeGuard left([this] { remove_left_pools(jvm_->pid()); });
  EXPECT_TRUE(jtrace->wait_err_line("jtrace: -: 1 batch acknowledged", std::chrono::seconds(30))) << jtrace->err();
  (void)jtrace->wait_exit();
  const CommandOutput collected = collect(server);
  EXPECT_EQ(collected.status, 9) << collected.err;
  EXPECT_THAT(collected.err, HasSubstr("the trace was cut off before it was sent"));
}

TEST_P(ShippedOutputOfOne, OfAJvmThatCannotBeTracedIsNotSent) {
  if (IsSkipped()) return;
  const NatsServer server;
  (void)collect(server);
  const CommandOutput refused =
      must(run_command({jtrace_binary(), "attach", std::to_string(::getpid()), "--ship", server.url()}, environment()));
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.err, HasSubstr("not a HotSpot JVM"));
  EXPECT_THAT(refused.err, Not(HasSubstr("shipping"))) << "the sender had nothing to send";
  EXPECT_FALSE(fs::exists(scratch_.file("spool")) && !fs::is_empty(scratch_.file("spool")));
}

}  // namespace
}  // namespace jtrace::test
