// hsperf serve, top and check in use: scraped by promtool and a Prometheus server, on a terminal, in a script.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/live/metrics_server.h"
#include "tests/live/perfdata_support.h"
#include "tests/testlib/require.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kOpenMetrics = "application/openmetrics-text; version=1.0.0";

std::string label_of(const JvmProcess& jvm) { return "pid=\"" + jvm.pid_text() + "\""; }

TEST(Serve, JvmsComeAndGoAndTheirSecretsStay) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  auto server = must(Server::start());
  auto jvm = must(
      JvmProcess::start(*jdk, "Workload", {.flags = {"-Dsome.password=hidden"}, .arguments = {"argument-of-main"}}));
  // A process that was not a JVM yet when it was checked is checked again after two seconds.
  std::string page;
  for (int i = 0; i < 600 && page.find(label_of(*jvm)) == page.npos; ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    page = server->metrics(kOpenMetrics);
  }
  EXPECT_THAT(page, HasSubstr("hsperf_sun_gc_collector_time_seconds_total{" + label_of(*jvm) +
                              ",main=\"Workload\",collector=\"0\"} "));
  EXPECT_TRUE(page.ends_with("# EOF\n"));
  EXPECT_THAT(page, Not(HasSubstr("some.password")));
  EXPECT_THAT(page, Not(HasSubstr("argument-of-main")));
  EXPECT_THAT(http_get(server->port(), "/nothing"), HasSubstr("HTTP/1.1 404"));
  EXPECT_THAT(http_get(server->port(), "/metrics"), HasSubstr("Content-Type: text/plain; version=0.0.4"));
  jvm->close_input();
  must(jvm->wait_exit());
  EXPECT_THAT(server->metrics(), Not(HasSubstr(label_of(*jvm))));
  server->command().signal(SIGTERM);
  const auto status = server->command().wait_exit();
  EXPECT_TRUE(status && *status == 0);
}

TEST(Serve, ArgumentsAreGivenWhenAskedForAndSecretsMasked) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  const auto jvm =
      must(JvmProcess::start(*jdk, "Workload", {.flags = {"-Dsome.password=hidden"}, .arguments = {"shown"}}));
  auto server = must(Server::start({"--with-arguments"}));
  const std::string page = server->metrics();
  EXPECT_THAT(page, HasSubstr("Workload shown"));
  EXPECT_THAT(page, Not(HasSubstr("=hidden")));
}

TEST(Serve, PromtoolFindsNoFaultWhateverTheJdk) {
  const auto promtool = run_command({"promtool", "--version"});
  if (!promtool || promtool->status != 0) JTRACE_SKIP("prometheus", "promtool (Debian package prometheus) is not here");
  std::vector<std::unique_ptr<JvmProcess>> jvms;
  for (const Jdk& jdk : jdks()) {
    auto jvm = must(JvmProcess::start(jdk, "Workload", {.flags = jdk.collector_flags(jdk.collectors().back())}));
    jvms.push_back(std::move(jvm));
  }
  if (jvms.empty()) JTRACE_SKIP("live", "no JDK");
  auto server = must(Server::start());
  const std::string page = server->metrics();
  for (const auto& jvm : jvms) EXPECT_THAT(page, HasSubstr(label_of(*jvm)));
  const auto checked = must(run_command({"promtool", "check", "metrics"}, {.input = page}));
  EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
}

std::uint16_t free_port() {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size);
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

TEST(Serve, APrometheusServerScrapesIt) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  const auto there = run_command({"prometheus", "--version"});
  if (!there || there->status != 0) JTRACE_SKIP("prometheus", "the Debian package prometheus is not here");
  auto jvm = must(JvmProcess::start(*jdk, "Workload"));
  auto server = must(Server::start());
  const ScratchDir folder;
  std::ofstream(folder.file("prometheus.yml"))
      << "global:\n  scrape_interval: 1s\nscrape_configs:\n  - job_name: hsperf\n    static_configs:\n"
      << "      - targets: ['127.0.0.1:" << server->port() << "']\n";
  const std::uint16_t port = free_port();
  auto prometheus = must(BackgroundCommand::start({"prometheus", "--config.file=" + folder.file("prometheus.yml"),
                                                   "--storage.tsdb.path=" + folder.file("data"),
                                                   "--web.listen-address=127.0.0.1:" + std::to_string(port)}));
  json result;
  for (int i = 0; i < 600 && result.empty() && prometheus->alive(); ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const std::string body = body_of(http_get(
        port, "/api/v1/query?query=hsperf_sun_gc_collector_invocations_total{pid=%22" + jvm->pid_text() + "%22}"));
    const json answer = json::parse(body.substr(std::min(body.find('{'), body.size())), nullptr, false);
    if (answer.is_object() && answer.contains("data")) result = answer["data"]["result"];
  }
  ASSERT_FALSE(result.empty()) << prometheus->err();
  EXPECT_EQ(result[0]["metric"]["main"], "Workload");
  const std::string up = body_of(http_get(port, "/api/v1/query?query=up"));
  EXPECT_THAT(up, HasSubstr("\"1\"]"));
  prometheus->signal(SIGTERM);
  (void)prometheus->wait_exit();
}

TEST(Check, ItsStatusIsItsAnswer) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  auto jvm = must(JvmProcess::start(*jdk, "Workload", {.flags = {"-XX:+UseSerialGC"}}));
  must(jvm->ask("hold 5"));
  const auto check = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"check", jvm->pid_text()});
    return run_hsperf(words);
  };
  EXPECT_EQ(check({"threads.live > 5 and heap.share < 99%"})->status, 0);
  EXPECT_EQ(check({"threads.live > 5000 or old.used > 1T"})->status, 1);
  EXPECT_EQ(check({"gc.pause_share > 100%", "-i", "20ms"})->status, 1);
  EXPECT_EQ(check({"java.threads.live == threads.live"})->status, 0);
  const auto held =
      check({"threads.live > 5", "--for", "200ms", "-i", "50ms", "--then", "echo \"$HSPERF_PID $HSPERF_VALUES\""});
  EXPECT_EQ(held->status, 0);
  EXPECT_THAT(held->out, HasSubstr(jvm->pid_text() + " threads.live="));
  EXPECT_EQ(check({"threads.live > 5", "--for", "soon"})->status, 2);
  EXPECT_EQ(check({"no.such.counter > 5"})->status, 2);
  must(jvm->ask("release"));
}

TEST(Check, WaitsUntilEachConditionHasHeld) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  auto jvm = must(JvmProcess::start(*jdk, "Workload", {.flags = {"-XX:+UseSerialGC"}}));
  auto waiting = must(BackgroundCommand::start(
      {hsperf_binary(), "check", jvm->pid_text(), "--until", "--timeout", "10m", "-i", "50ms", "now: threads.live > 1",
       "later: threads.live >= 300", "--then", "echo \"then $HSPERF_NAME $HSPERF_PID\""}));
  ASSERT_TRUE(waiting->wait_out_line("then now " + jvm->pid_text(), seconds(60))) << waiting->err();
  must(jvm->ask("hold 300"));
  EXPECT_EQ(must(waiting->wait_exit()), 0);
  const std::string out = waiting->out();
  EXPECT_THAT(out, ::testing::ContainsRegex("^[0-9:]+\\.[0-9]+ holds: now: threads.live="));
  EXPECT_THAT(out, ::testing::ContainsRegex("\n[0-9:]+\\.[0-9]+ holds: later: threads.live=3"));
  EXPECT_EQ(out.find("holds: now", out.find("holds: now") + 1), out.npos) << "each is said once: " << out;
  EXPECT_THAT(out, Not(HasSubstr("does not")));
  EXPECT_THAT(out, HasSubstr("then later " + jvm->pid_text()));
  must(jvm->ask("release"));
}

TEST(Check, ThatItDidNotHoldInTimeIsAStatusOfItsOwn) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  auto jvm = must(JvmProcess::start(*jdk, "Workload"));
  const auto check = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"check", jvm->pid_text()});
    return must(run_hsperf(words));
  };
  const std::string never = "threads.live > 5000", always = "now: threads.live > 0";
  const auto late = check({"--until", "--timeout", "200ms", "-i", "50ms", never});
  EXPECT_EQ(late.status, 6) << late.err;
  EXPECT_THAT(late.out, HasSubstr(" does not hold: threads.live="));
  EXPECT_EQ(check({"--until", "--timeout", "200ms", "gc.pause_share > 100%"}).status, 6) << "needs two looks";
  EXPECT_EQ(check({never, always}).status, 1);
  const auto any = check({"--until", "--any", "--timeout", "10m", "-i", "50ms", "many: " + never, always});
  EXPECT_EQ(any.status, 0) << any.err;
  EXPECT_THAT(any.out, HasSubstr("holds: now: "));
  EXPECT_THAT(any.out, HasSubstr("does not hold: many: threads.live=")) << "with its value at that moment";
  EXPECT_EQ(check({"--until", "--any", "--timeout", "200ms", "-i", "50ms", never, "threads.live > 6000"}).status, 6);
  EXPECT_EQ(check({"--any", always}).status, 2);
  for (const auto& words : {std::vector<std::string>{"-q", never, always}, {"-q", always}}) {
    const auto quiet = check(words);
    EXPECT_EQ(quiet.out, "");
    EXPECT_EQ(quiet.status, words.size() == 3 ? 1 : 0);
  }
  const auto answer = check({"--format", "json", "--then", "echo done", never, always});
  const json parsed = json::parse(answer.out);
  EXPECT_EQ(parsed["view"], "check");
  ASSERT_EQ(parsed["data"].size(), 2u);
  EXPECT_EQ(parsed["data"][0]["condition"], never);
  EXPECT_EQ(parsed["data"][0]["holds"], false);
  EXPECT_EQ(parsed["data"][1]["name"], "now");
  EXPECT_EQ(parsed["data"][1]["holds"], true);
  EXPECT_GT(parsed["data"][1]["time"], 1e9);
  EXPECT_EQ(parsed["data"][1]["values"][0]["name"], "threads.live");
  EXPECT_THAT(answer.err, HasSubstr("done"));
  EXPECT_EQ(check({"--timeout", "1s", always}).status, 2) << "it is for --until";
}

// The output of a program on a terminal of its own until it has printed `wanted`, or ends.
std::string read_until(int terminal, const std::string& wanted) {
  std::string text;
  pollfd polled{.fd = terminal, .events = POLLIN, .revents = 0};
  while (text.find(wanted) == text.npos && ::poll(&polled, 1, 60'000) > 0) {
    char buffer[65536];
    const ssize_t count = ::read(terminal, buffer, sizeof buffer);
    if (count <= 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return text;
}

TEST(Top, ShowsTheJvmsSortsByAKeyAndQuits) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  auto jvm = must(JvmProcess::start(*jdk, "Workload"));
  winsize size{.ws_row = 50, .ws_col = 160, .ws_xpixel = 0, .ws_ypixel = 0};
  const std::string tool = hsperf_binary();
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::execl(tool.c_str(), "hsperf", "top", "-i", "50ms", static_cast<char*>(nullptr));
    ::_exit(127);
  }
  const UniqueFd closes(terminal);
  const std::string row = jvm->pid_text() + " ";
  EXPECT_THAT(read_until(terminal, row), HasSubstr("\033[?1049h"));
  ASSERT_EQ(::write(terminal, "p", 1), 1);
  EXPECT_THAT(read_until(terminal, row), HasSubstr("sort: "));
  ASSERT_EQ(::write(terminal, "q", 1), 1);
  EXPECT_THAT(read_until(terminal, "\033[?1049l"), HasSubstr("\033[?1049l"));  // the original screen
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace jtrace::test
