// hsperf push: what arrives at a collector, and what is said when it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "base/file.h"
#include "base/strings.h"
#include "tests/live/collector_server.h"
#include "tests/live/perfdata_support.h"
#include "tests/testlib/require.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Result<CommandOutput> run_push(const JvmProcess& jvm, const std::string& url, std::vector<std::string> words = {},
                               const CommandOptions& options = {}) {
  std::vector<std::string> argv = {"push", jvm.pid_text(), "--to", url};
  argv.insert(argv.end(), words.begin(), words.end());
  return run_hsperf(argv, options);
}

double sum_of(const std::vector<std::pair<std::string, double>>& values) {
  double sum = 0;
  for (const auto& [labels, value] : values) sum += value;
  return sum;
}

class Pushed : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(Pushed);

// "threads||LIVE|DAEMON|PEAK|STARTED" and the like, out of the answer of Beans.
std::vector<double> bean(const std::string& answer, const std::string& start) {
  std::vector<double> numbers;
  for (const std::string_view each : split(answer, ';')) {
    if (!each.starts_with(start)) continue;
    for (const std::string_view word : split(each.substr(start.size()), '|'))
      numbers.push_back(std::stod(std::string(word)));
  }
  return numbers;
}

TEST_P(Pushed, RequestsAreSoundAndHaveTheValuesOfTheBeans) {
  const auto jvm = must(JvmProcess::start(GetParam(), "Beans", {.flags = {"-Xmx200m", "-XX:+UseSerialGC"}}));
  const CollectorServer server;
  const std::string before = must(jvm->ask("beans"));
  const auto pushed = must(run_push(*jvm, server.url(), {"--count", "2", "--every", "300ms", "--inside"}));
  const std::string after = must(jvm->ask("beans"));
  EXPECT_EQ(pushed.status, 0) << pushed.err;
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2u) << pushed.err;
  EXPECT_THAT(requests[0].head, HasSubstr("POST /v1/metrics HTTP/1.1\r\n"));
  EXPECT_THAT(requests[0].head, HasSubstr("Content-Type: application/json\r\n"));
  for (const CollectedRequest& each : requests) {
    const json request = json::parse(each.body, nullptr, false);
    ASSERT_FALSE(request.is_discarded()) << each.body;
    EXPECT_THAT(otlp_faults(request), IsEmpty()) << each.body;
    const auto of = [&](const char* metric) { return otlp_values(request, jvm->pid_text(), metric); };
    const auto threads = bean(after, "threads||");
    if (bean(before, "threads||") == threads) {
      EXPECT_EQ(sum_of(of("jvm.thread.count")), threads.at(0));
    }
    EXPECT_EQ(sum_of(of("jvm.class.count")), sum_of(of("jvm.class.loaded")) - sum_of(of("jvm.class.unloaded")));
    EXPECT_EQ(of("jvm.gc.duration").size(), 2u) << "Copy, MarkSweepCompact";
    EXPECT_GT(sum_of(of("jvm.cpu.time")), 0);
    const auto limits = of("jvm.memory.limit");
    const auto code = std::count_if(limits.begin(), limits.end(), [](const auto& each) {
      return each.first.starts_with("jvm.memory.type=non_heap,jvm.memory.pool.name=Code");
    });
    EXPECT_GE(code, 1) << each.body;
  }
}

TEST_P(Pushed, SeriesStayAndTheirSumsDoNotFall) {
  const auto jvm = must(JvmProcess::start(GetParam(), "Workload", {.flags = {"-Xmx200m", "-XX:+UseSerialGC"}}));
  const CollectorServer server;
  const auto push = must(
      BackgroundCommand::start({hsperf_binary(), "push", jvm->pid_text(), "--to", server.url(), "--every", "200ms"}));
  for (int i = 0; i < 600 && server.requests().size() < 2; ++i) std::this_thread::sleep_for(milliseconds(100));
  must(jvm->ask("gc 2"));
  jvm->close_input();
  must(jvm->wait_exit());
  EXPECT_EQ(must(push->wait_exit()), 0) << push->err();  // it ends with the JVM
  double before = -1;
  for (const CollectedRequest& each : server.requests()) {
    const json request = json::parse(each.body);
    EXPECT_THAT(otlp_faults(request), IsEmpty());
    const double loaded = sum_of(otlp_values(request, jvm->pid_text(), "jvm.class.loaded"));
    EXPECT_GE(loaded, before);
    before = loaded;
  }
}

bool has_threads(const CollectedRequest& request, const JvmProcess& jvm) {
  return otlp_values(json::parse(request.body), jvm.pid_text(), "jvm.thread.count").size() == 2;
}

TEST(Push, WithoutNamesTakesAllJvmsAlsoLaterOnes) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  const CollectorServer server;
  const auto push = must(BackgroundCommand::start({hsperf_binary(), "push", "--to", server.url(), "--every", "300ms"}));
  const auto sends = [&](const JvmProcess& jvm) {
    for (int i = 0; i < 600; ++i, std::this_thread::sleep_for(milliseconds(100)))
      if (const auto requests = server.requests(); !requests.empty() && has_threads(requests.back(), jvm)) return true;
    return false;
  };
  const auto first = must(JvmProcess::start(*jdk, "Idle"));
  EXPECT_TRUE(sends(*first)) << push->err();
  const auto second = must(JvmProcess::start(*jdk, "Idle"));
  EXPECT_TRUE(sends(*second)) << push->err();
  push->signal(SIGTERM);
  EXPECT_THAT(must(push->wait_exit()), ::testing::AnyOf(0, 9)) << push->err();  // 9: another one here cannot be read
}

TEST(Push, WithoutNamesSaysWhichJvmsCannotBeRead) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  const CollectorServer server;
  const auto read = must(JvmProcess::start(*jdk, "Idle"));
  const auto closed = must(JvmProcess::start(*jdk, "Idle", {.flags = {"-XX:-UsePerfData"}}));
  const auto pushed = must(run_hsperf({"push", "--to", server.url(), "--count", "1"}));
  EXPECT_EQ(pushed.status, 9) << pushed.err;
  EXPECT_THAT(pushed.err, HasSubstr("process " + closed->pid_text() + " "));
  EXPECT_THAT(pushed.err, HasSubstr("-XX:-UsePerfData"));
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_TRUE(has_threads(server.requests()[0], *read));
}

TEST(Push, ASignalHasItSendOnceMore) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  const CollectorServer server;
  const auto jvm = must(JvmProcess::start(*jdk, "Idle"));
  const auto push =
      must(BackgroundCommand::start({hsperf_binary(), "push", jvm->pid_text(), "--to", server.url(), "--every", "1h"}));
  for (int i = 0; i < 600 && server.requests().empty(); ++i) std::this_thread::sleep_for(milliseconds(100));
  push->signal(SIGTERM);
  EXPECT_EQ(must(push->wait_exit()), 0) << push->err();
  EXPECT_EQ(server.requests().size(), 2u) << push->err();
}

class PushTrouble : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto jdk = any_jdk();
    if (!jdk) JTRACE_SKIP("live", "no JDK");
    jvm_ = must(JvmProcess::start(*jdk, "Idle"));
  }
  // What one sample comes to.
  CommandOutput push(const std::string& url, std::vector<std::string> words = {}, const CommandOptions& options = {}) {
    words.insert(words.end(), {"--count", "1"});
    return must(run_push(*jvm_, url, words, options));
  }
  CommandOutput push_to(CollectorServer::Script script, std::vector<std::string> words = {}) {
    server_ = std::make_unique<CollectorServer>(std::move(script));
    return push(server_->url(), std::move(words));
  }

  std::unique_ptr<JvmProcess> jvm_;
  std::unique_ptr<CollectorServer> server_;
};

TEST_F(PushTrouble, NobodyListens) {
  std::string url;
  {
    const CollectorServer gone;
    url = gone.url();
  }
  const CommandOutput pushed = push(url);
  EXPECT_EQ(pushed.status, 1);
  EXPECT_THAT(pushed.err, HasSubstr("Connection refused: it is tried again"));
  EXPECT_THAT(pushed.err, HasSubstr("lost: 1 sample of all JVMs, taken from "));
  EXPECT_THAT(pushed.err, HasSubstr("sent 0 samples, lost 1"));
}

TEST_F(PushTrouble, ARefusalIsNotTriedAgain) {
  const CommandOutput pushed =
      push_to([](std::size_t) { return CollectorServer::answer(400, R"({"code":3,"message":"no such unit"})"); });
  EXPECT_EQ(pushed.status, 1);
  EXPECT_THAT(pushed.err, HasSubstr("the server answers 400: no such unit: what was sent is lost"));
  EXPECT_EQ(server_->requests().size(), 1u);
  const CommandOutput forbidden = push_to([](std::size_t) { return CollectorServer::answer(401, ""); });
  EXPECT_EQ(forbidden.status, 5);
}

TEST_F(PushTrouble, ABusyServerIsTriedAgainWhenItWishes) {
  const auto begin = steady_clock::now();
  const CommandOutput pushed = push_to(
      [](std::size_t number) {
        return number == 0 ? CollectorServer::answer(503, "", "Retry-After: 1\r\n") : CollectorServer::answer(200, "");
      },
      {"--every", "200ms"});
  EXPECT_EQ(pushed.status, 0) << pushed.err;
  EXPECT_THAT(pushed.err, HasSubstr("the server answers 503: it is tried again"));
  EXPECT_THAT(pushed.err, HasSubstr("sent again after "));
  const auto requests = server_->requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].body, requests[1].body);
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST_F(PushTrouble, WhatTheServerDidNotKeepIsCounted) {
  const CommandOutput pushed = push_to([](std::size_t) {
    return CollectorServer::answer(200, R"({"partialSuccess":{"rejectedDataPoints":"2","errorMessage":"too many"}})");
  });
  EXPECT_EQ(pushed.status, 9);
  EXPECT_THAT(pushed.err, HasSubstr("the server did not keep 2 points: too many"));
  EXPECT_THAT(pushed.err, HasSubstr("sent 1 sample, 2 points not kept by the server"));
}

TEST_F(PushTrouble, AServerThatClosesWithinItsAnswerIsTriedAgain) {
  const CommandOutput pushed = push_to([](std::size_t number) {
    const std::string whole = CollectorServer::answer(200, "{\"partialSuccess\":{}}");
    return number == 0 ? whole.substr(0, whole.size() - 5) : whole;
  });
  EXPECT_EQ(pushed.status, 0) << pushed.err;
  EXPECT_THAT(pushed.err, HasSubstr("closed the connection within its answer: it is tried again"));
}

TEST_F(PushTrouble, AServerThatDoesNotAnswerIsATimeout) {
  const CommandOutput pushed = push_to(
      [](std::size_t) {
        std::this_thread::sleep_for(milliseconds(400));
        return std::string();
      },
      {"--timeout", "100ms"});
  EXPECT_EQ(pushed.status, 6) << pushed.err;
  EXPECT_THAT(pushed.err, HasSubstr("it does not answer: it is tried again"));
}

TEST_F(PushTrouble, AnotherProtocolIsNotTriedAgain) {
  const CommandOutput pushed = push_to([](std::size_t) { return "220 mail.example ESMTP\r\n"; });
  EXPECT_EQ(pushed.status, 8);
  EXPECT_THAT(pushed.err, HasSubstr("does not speak HTTP: 220 mail.example ESMTP"));
  EXPECT_EQ(server_->requests().size(), 1u);
}

TEST_F(PushTrouble, WhatCannotBeKeptIsLostAndSaid) {
  server_ = std::make_unique<CollectorServer>([](std::size_t number) {
    return number < 2 ? CollectorServer::answer(503, "", "Retry-After: 2\r\n") : CollectorServer::answer(200, "");
  });
  const auto pushed = must(run_push(*jvm_, server_->url(), {"--every", "100ms", "--max-kept", "1K", "--count", "60"}));
  EXPECT_EQ(pushed.status, 9) << pushed.err;
  EXPECT_THAT(pushed.err, HasSubstr("no more samples can be kept: the oldest are lost"));
  EXPECT_THAT(pushed.err, HasSubstr("samples of all JVMs, taken from "));
}

// A server that lets each request wait holds up nothing but itself: what was taken meanwhile follows.
TEST_F(PushTrouble, ASlowServerGetsEachSampleInOrder) {
  server_ = std::make_unique<CollectorServer>([](std::size_t) {
    std::this_thread::sleep_for(milliseconds(300));
    return CollectorServer::answer(200, "");
  });
  const auto pushed = must(run_push(*jvm_, server_->url(), {"--every", "100ms", "--count", "6"}));
  EXPECT_EQ(pushed.status, 0) << pushed.err;
  const auto requests = server_->requests();
  ASSERT_EQ(requests.size(), 6u) << pushed.err;
  std::string before;
  for (const CollectedRequest& each : requests) {
    const json request = json::parse(each.body);
    const json& metric = request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0];
    const std::string time = metric["sum"]["dataPoints"][0]["timeUnixNano"];
    EXPECT_LT(before, time);  // of nineteen digits
    before = time;
  }
}

TEST_F(PushTrouble, HeadersComeFromTheEnvironmentAndAFile) {
  const ScratchDir folder;
  const std::string path = folder.file("headers");
  std::ofstream(path) << "X-Scope-OrgID: seven\n";
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  const CollectorServer server;
  CommandOptions options;
  options.environment = {"OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20abc"};
  const CommandOutput pushed = push(server.url(), {"--headers", path}, options);
  EXPECT_EQ(pushed.status, 0) << pushed.err;
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_THAT(server.requests()[0].head, HasSubstr("\r\nauthorization: Bearer abc\r\nX-Scope-OrgID: seven"));
  EXPECT_THAT(pushed.err, Not(HasSubstr("abc")));
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  const CommandOutput open = push(server.url(), {"--headers", path});
  EXPECT_EQ(open.status, 5);
  EXPECT_THAT(open.err, HasSubstr("others may read the file with headers"));
}

TEST_F(PushTrouble, AddressesThatCannotBeUsedAreRefused) {
  EXPECT_THAT(push("https://127.0.0.1:4318").err, HasSubstr("https:// is not spoken here"));
  EXPECT_EQ(push("https://127.0.0.1:4318").status, 2);
  EXPECT_EQ(push("http://").status, 2);
  const CommandOutput unknown = push("http://no.such.host.invalid:4318");
  EXPECT_EQ(unknown.status, 3);
  EXPECT_THAT(unknown.err, HasSubstr("it is not in /etc/hosts"));
  EXPECT_THAT(unknown.err, Not(HasSubstr("it is tried again")));
}

}  // namespace
}  // namespace jtrace::test
