// `jtrace debug`: what the JDK's own client sees through it of a core, of a copy of a JVM, and of one that is held, is
// what it saw through the JVM's own debugging agent in the same state, line by line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "base/file.h"
#include "tests/live/core_folder.h"
#include "tests/testlib/background_command.h"
#include "tests/testlib/must.h"
#include "tests/testlib/places.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr const char* kListening = "Listening for transport dt_socket at address: ";

// The newest JDK of this machine: the client runs on it.
std::optional<Jdk> client_jdk() {
  std::optional<Jdk> newest;
  for (const Jdk& jdk : jdks())
    if (!jdk.root && jdk.version >= 17) newest = jdk;
  return newest;
}

// Runs the client at a port of this machine.
std::string dump(const std::string& port) {
  const auto jdk = client_jdk();
  if (!jdk) return "no JDK";
  const auto done = run_command(
      {jdk->host_path("bin/java"), "-Xshare:auto", source_folder() + "/tests/apps/JdiDump.java", "127.0.0.1", port},
      {.timeout = seconds(180)});
  if (!done) return done.error().message();
  EXPECT_EQ(done->status, 0) << done->err;
  return done->out;
}

std::string port_of(const std::string& line) { return line.substr(line.find_last_of(": ") + 1); }

// A server over `target`, for one client.
struct Server {
  std::unique_ptr<BackgroundCommand> command;
  std::string port;
};
Server serve(std::vector<std::string> words) {
  words.insert(words.begin(), {jtrace_binary(), "debug"});
  words.emplace_back("--once");
  Server server{.command = must(BackgroundCommand::start(words))};
  const auto line = server.command->wait_out_line(kListening, seconds(120));
  EXPECT_TRUE(line) << server.command->err();
  if (line) server.port = port_of(*line);
  return server;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void expect_equal(const std::string& agent, const std::string& ours) {
  const auto expected = lines_of(agent), found = lines_of(ours);
  ASSERT_GT(expected.size(), 1500u) << agent;
  for (std::size_t i = 0, faults = 0; i < std::max(expected.size(), found.size()) && faults < 10; ++i) {
    const std::string line = i < expected.size() ? expected[i] : "(end)", own = i < found.size() ? found[i] : "(end)";
    if (line == own) continue;
    ++faults;
    ADD_FAILURE() << "line " << i + 1 << "\nagent:  " << line << "\njtrace: " << own;
  }
}

class Debug : public ::testing::TestWithParam<Jdk> {
 protected:
  // A JVM with the agent, and what the agent said.
  void SetUp() override {
    if (!client_jdk()) JTRACE_SKIP("live", "the client needs a JDK of this machine, 17 or later");
    why_no_core_ = why_no_kernel_core();  // before the JVM starts: it inherits the limit
    JvmOptions options;
    options.flags = {"-Xint", "-Xmx64m", "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0"};
    jvm_ = must(JvmProcess::start(GetParam(), "Debuggee", options));
    const std::string out = jvm_->out();
    const std::size_t at = out.find(kListening);
    ASSERT_NE(at, out.npos) << out;
    agent_ = dump(port_of(out.substr(at, out.find('\n', at) - at)));
  }

  std::string why_no_core_;
  std::unique_ptr<JvmProcess> jvm_;
  std::string agent_;
};

JTRACE_ON_EACH_JDK(Debug);

TEST_P(Debug, ACoreSaysWhatTheAgentSaid) {
  if (!why_no_core_.empty()) JTRACE_SKIP("live", why_no_core_);
  const CoreFolder folder(*jvm_);
  jvm_->signal(SIGXCPU);  // HotSpot does not catch it: the kernel writes the core
  ASSERT_TRUE(jvm_->wait_exit(seconds(120)));
  const std::string core = folder.core();
  ASSERT_NE(core, "");
  std::vector<std::string> words{core};
  if (GetParam().root) words.insert(words.end(), {"--sysroot", *GetParam().root});
  const Server server = serve(words);
  expect_equal(agent_, dump(server.port));
  EXPECT_EQ(must(server.command->wait_exit()), 0) << server.command->err();
}

TEST_P(Debug, AJvmThatRunsOrIsHeldSaysWhatTheAgentSaidAndGoesOn) {
  const Server running = serve({jvm_->pid_text(), "--no-stop"});
  expect_equal(agent_, dump(running.port));
  EXPECT_EQ(must(running.command->wait_exit()), 0) << running.command->err();
  const Server server = serve({jvm_->pid_text(), "--hold"});
  expect_equal(agent_, dump(server.port));
  EXPECT_EQ(must(server.command->wait_exit()), 0) << server.command->err();
  EXPECT_THAT(server.command->err(), HasSubstr("the JVM runs again, after"));
  jvm_->close_input();  // it ends by itself: it runs
  EXPECT_EQ(must(jvm_->wait_exit()), 0);
}

// A copy is a core in memory: the JDKs of this machine will do (live_locals has copies of the others).
std::vector<Jdk> own_jdks() {
  std::vector<Jdk> own;
  for (const Jdk& jdk : jdks())
    if (!jdk.root) own.push_back(jdk);
  return own;
}
class DebugOfACopy : public Debug {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DebugOfACopy);
INSTANTIATE_TEST_SUITE_P(Jdks, DebugOfACopy, ::testing::ValuesIn(own_jdks()), NameOf());

TEST_P(DebugOfACopy, SaysWhatTheAgentSaid) {
  const Server server = serve({jvm_->pid_text(), "--max-stop", "5000"});
  expect_equal(agent_, dump(server.port));
  EXPECT_EQ(must(server.command->wait_exit()), 0) << server.command->err();
}

std::vector<Jdk> jdks_with_virtual_threads() {
  std::vector<Jdk> found;
  for (const Jdk& jdk : jdks())
    if (jdk.version >= 21) found.push_back(jdk);
  return found;
}
class DebugOfVirtualThreads : public ::testing::TestWithParam<Jdk> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DebugOfVirtualThreads);
INSTANTIATE_TEST_SUITE_P(Jdks, DebugOfVirtualThreads, ::testing::ValuesIn(jdks_with_virtual_threads()), NameOf());

// The lines on groups, and on threads whose name begins so: without their frames, of which the agent hides the
// innermost from JDK 25 on.
std::vector<std::string> group_lines(const std::string& dumped) {
  std::vector<std::string> found;
  for (const std::string& each : lines_of(dumped)) {
    const std::size_t at = std::min(each.find_first_not_of(' '), each.size());
    if (each.compare(at, 6, "group ") == 0 || each.starts_with("thread virtual-"))
      found.push_back(each.substr(at, each.find(" frames ") - at));
  }
  std::sort(found.begin(), found.end());  // the order of groups is that of references in the heap
  return found;
}

TEST_P(DebugOfVirtualThreads, HaveTheGroupThatTheAgentSaid) {
  if (!client_jdk()) JTRACE_SKIP("live", "the client needs a JDK of this machine, 17 or later");
  const auto jvm =
      must(JvmProcess::start(GetParam(), "Exhibits",
                             {.flags = {"-Xmx64m",
                                        "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0,"
                                        "includevirtualthreads=y"}}));
  const std::string out = jvm->out();
  const std::size_t at = out.find(kListening);
  ASSERT_NE(at, out.npos) << out;
  const auto agent = group_lines(dump(port_of(out.substr(at, out.find('\n', at) - at))));
  const Server server = serve({jvm->pid_text(), "--hold", "--virtual-threads"});
  EXPECT_EQ(group_lines(dump(server.port)), agent);
  EXPECT_THAT(agent, testing::IsSupersetOf({HasSubstr("group VirtualThreads of system"),
                                            HasSubstr("java.lang.VirtualThread status 4 group VirtualThreads")}));
  EXPECT_EQ(must(server.command->wait_exit()), 0) << server.command->err();
}

}  // namespace
}  // namespace jtrace::test
