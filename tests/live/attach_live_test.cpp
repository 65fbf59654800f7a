// `jtrace cmd`, `load` and `jmx` on every JDK found: each operation, each kind of failure, each kind of container.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "attach/attach_session.h"
#include "base/file.h"
#include "tests/testlib/java_app.h"
#include "tests/testlib/places.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr uid_t kNobody = 65534;

std::string agent_library(std::string_view kind) {
  return libraries_folder() + "/libattach_test_agent_" + std::string(kind) + ".so";
}

// A jar with these lines in its manifest; the JDK's own tool makes it.
std::string java_agent(const std::string& classes, const std::string& manifest, const ScratchDir& folder) {
  const std::string lines = folder.file("manifest");
  const std::string jar = folder.file("agent.jar");
  std::ofstream(lines) << manifest;
  const auto jdk = any_jdk();
  const auto done = run_command({jdk->host_path("bin/jar"), "cfm", jar, lines, "-C", classes, "AttachAgent.class"});
  EXPECT_TRUE(done && done->status == 0) << (done ? done->err : done.error().message());
  return jar;
}

// jtrace cmd PID WORD...
CommandOutput cmd(const JvmProcess& jvm, std::vector<std::string> words, CommandOptions options = {}) {
  std::vector<std::string> arguments{"cmd", jvm.pid_text()};
  arguments.insert(arguments.end(), words.begin(), words.end());
  auto done = run_jtrace(arguments, options);
  return done ? *done : CommandOutput{.err = done.error().message()};
}

class EachJdk : public ::testing::TestWithParam<Jdk> {
 protected:
  std::unique_ptr<JvmProcess> start(std::vector<std::string> flags = {}, JvmOptions options = {}) {
    const JvmOptions made = attachable(GetParam(), std::move(flags));
    options.flags.insert(options.flags.end(), made.flags.begin(), made.flags.end());
    auto jvm = JvmProcess::start(GetParam(), "Idle", options);
    EXPECT_TRUE(succeeded(jvm));
    return jvm ? std::move(*jvm) : nullptr;
  }
  // The target's output has only its own lines.
  static void expect_unharmed(const JvmProcess& jvm) {
    EXPECT_TRUE(jvm.alive());
    EXPECT_EQ(jvm.out(), "READY\n");
    EXPECT_EQ(jvm.err(), "");
  }
  // Copies a file into the JVM's /tmp; returns the path as the JVM sees it.
  static std::string put(const JvmProcess& jvm, const std::string& from, const std::string& name) {
    const std::string path = "/tmp/jtrace-test-" + jvm.pid_text() + "-" + name;
    fs::copy_file(from, jvm.inside(path), fs::copy_options::overwrite_existing);
    return path;
  }
  static bool left_in_tmp(const JvmProcess& jvm, std::string_view part) {
    for (const auto& entry : fs::directory_iterator(jvm.inside("/tmp")))
      if (entry.path().filename().string().find(part) != std::string::npos) return true;
    return false;
  }
};
JTRACE_ON_EACH_JDK(EachJdk);

TEST_P(EachJdk, AnswersEveryOperation) {
  const auto jvm = start({"-Dsome.password=hidden"});
  ASSERT_TRUE(jvm);
  EXPECT_THAT(cmd(*jvm, {"jcmd", "VM.version"}).out, HasSubstr("JDK "));
  EXPECT_THAT(cmd(*jvm, {"jcmd"}).out, HasSubstr("VM.version"));
  EXPECT_THAT(cmd(*jvm, {"threaddump", "-l"}).out,
              AllOf(HasSubstr("\"main\""), HasSubstr("Locked ownable synchronizers")));
  EXPECT_THAT(cmd(*jvm, {"inspectheap", "-live"}).out, HasSubstr("java.lang.String"));
  EXPECT_THAT(cmd(*jvm, {"properties"}).out, AllOf(HasSubstr("java.version="), HasSubstr("some.password=***")));
  EXPECT_THAT(cmd(*jvm, {"--show-secrets", "properties"}).out, HasSubstr("some.password=hidden"));
  EXPECT_THAT(cmd(*jvm, {"agentProperties"}).out, HasSubstr("sun.java.command=Idle"));
  EXPECT_THAT(cmd(*jvm, {"printflag", "MinHeapFreeRatio"}).out, StartsWith("-XX:MinHeapFreeRatio="));
  EXPECT_EQ(cmd(*jvm, {"setflag", "MinHeapFreeRatio", "33"}).status, 0);
  EXPECT_EQ(cmd(*jvm, {"printflag", "MinHeapFreeRatio"}).out, "-XX:MinHeapFreeRatio=33\n");
  const std::string dump = "/tmp/jtrace-test-" + jvm->pid_text() + ".hprof";
  const CommandOutput dumped = cmd(*jvm, {"dumpheap", dump, "-live"});
  EXPECT_EQ(dumped.status, 0) << dumped.err;
  EXPECT_GT(fs::file_size(jvm->inside(dump)), 100'000u);
  fs::remove(jvm->inside(dump));
  EXPECT_EQ(cmd(*jvm, {"jcmd", "GC.heap_dump", dump}).status, 0);
  EXPECT_GT(fs::file_size(jvm->inside(dump)), 100'000u);
  fs::remove(jvm->inside(dump));
  expect_unharmed(*jvm);
  // This operation is meant to print into the target's output.
  EXPECT_EQ(cmd(*jvm, {"datadump"}).status, 0);
  EXPECT_TRUE(succeeded(jvm->wait_line("Full thread dump")));
  record_support(GetParam(), "G1", "live", "cmd");
}

TEST_P(EachJdk, ANoWithCode0IsANo) {
  const auto jvm = start();
  ASSERT_TRUE(jvm);
  const std::vector<std::vector<std::string>> refused = {
      {"printflag", "NoSuchFlag"},
      {"setflag", "NoSuchFlag", "1"},
      {"dumpheap"},
      {"dumpheap", "/nonexistent/folder/x.hprof"},
      {"jcmd", "GC.heap_dump", "/nonexistent/folder/x.hprof"},
      {"jcmd", "VM.native_memory"},
      {"jcmd", "No.such_command"},
      {"no.such"},
  };
  for (const auto& words : refused) {
    const CommandOutput done = cmd(*jvm, words);
    EXPECT_EQ(done.status, 1) << words.front() << " " << words.back() << ": " << done.out << done.err;
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
  }
  const std::vector<std::vector<std::string>> refused_since_9 = {
      {"jcmd", "VM.set_flag", "NoSuchFlag", "1"},
      {"jcmd", "Compiler.directives_add", "/nonexistent/file"},
      {"jcmd", "JFR.stop", "name=nosuch"},
      {"jcmd", "JFR.dump", "name=nosuch"},
  };
  if (GetParam().version >= 9)
    for (const auto& words : refused_since_9) {
      const CommandOutput done = cmd(*jvm, words);
      EXPECT_EQ(done.status, 1) << words[1] << ": " << done.out << done.err;
    }
  if (GetParam().version >= 9) {
    EXPECT_EQ(cmd(*jvm, {"jcmd", "JVMTI.agent_load", "/nonexistent/libx.so"}).status, 7);
  }
  if (GetParam().version >= 21) {
    const CommandOutput done = cmd(*jvm, {"jcmd", "Thread.dump_to_file", "/nonexistent/folder/x"});
    EXPECT_EQ(done.status, 1) << done.out << done.err;
  }
  EXPECT_TRUE(jvm->alive());
}

// Faults that jtrace finds itself, and faults that the JVM reports when it is asked anyway: both are reported
// correctly.
TEST_P(EachJdk, VerdictsOfLoad) {
  const auto jvm = start();
  ASSERT_TRUE(jvm);
  const ScratchDir folder;
  const std::string ok = put(*jvm, agent_library("ok"), "ok.so");
  const std::string no_entry = put(*jvm, agent_library("no_entry"), "no_entry.so");
  const std::string foreign = put(*jvm, agent_library("ok"), "foreign.so");
  {
    std::fstream file(jvm->inside(foreign), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(18).write("\xb7\0", 2);  // e_machine: EM_AARCH64
  }
  const std::string text = "/tmp/jtrace-test-" + jvm->pid_text() + "-text.so";
  std::ofstream(jvm->inside(text)) << "not a library\n";
  const std::string missing = "/tmp/jtrace-test-missing.so";
  const std::vector<std::tuple<std::string, std::string, int, std::string>> cases = {
      {ok, "", 0, ""},
      {ok, "rc=7", 7, "returned 7"},
      {ok, "rc=-3", 7, "returned -3"},
      {missing, "", 7, "No such file"},
      {foreign, "", 7, "AArch64"},
      {text, "", 7, "not an ELF file"},
      {no_entry, "", 7, "Agent_OnAttach"},
  };
  for (const auto& [path, options, status, says] : cases) {
    const auto loaded = must(run_jtrace({"load", jvm->pid_text(), path, options}));
    EXPECT_EQ(loaded.status, status) << path << ": " << loaded.err;
    EXPECT_THAT(loaded.err, HasSubstr(says));
    EXPECT_EQ(loaded.out, "");
    // Not the text file: if the JVM loads it, it prints messages about its stack guards to stdout.
    if (path == text) continue;
    const CommandOutput raw = cmd(*jvm, {"load", path, "true", options});
    EXPECT_EQ(raw.status, status) << path << ": " << raw.out << raw.err;
  }
  EXPECT_EQ(run_jtrace({"load", jvm->pid_text(), "instrument_nonexistent"})->status, 7);
  for (const std::string& path : {ok, no_entry, foreign, text}) fs::remove(jvm->inside(path));
  EXPECT_TRUE(jvm->alive());
  EXPECT_EQ(jvm->out(), "READY\n");
  record_support(GetParam(), "G1", "live", "load");
}

// A Java agent is loaded by the JVM's own `instrument` library; its error codes are reported in words.
TEST_P(EachJdk, JavaAgents) {
  const auto jvm = start();
  ASSERT_TRUE(jvm);
  const auto classes = must(compiled_app("AttachAgent"));
  const ScratchDir folder;
  const std::string good = put(*jvm, java_agent(classes, "Agent-Class: AttachAgent\n", folder), "good.jar");
  const std::string nameless = put(*jvm, java_agent(classes, "X: y\n", folder), "nameless.jar");
  const std::string wrong = put(*jvm, java_agent(classes, "Agent-Class: NoSuchClass\n", folder), "wrong.jar");
  const std::vector<std::tuple<std::string, std::string, int, std::string>> cases = {
      {good, "said=hello", 0, "returned 0"},
      {good, "throw", 7, "agentmain threw an exception"},
      {nameless, "", 7, "no Agent-Class"},
      {wrong, "", 7, "the agent class was not found"},
      {"/tmp/jtrace-test-missing.jar", "", 7, "No such file"},
  };
  for (const auto& [path, options, status, says] : cases) {
    const auto loaded = run_jtrace({"load", jvm->pid_text(), path, options});
    EXPECT_EQ(loaded->status, status) << path << ": " << loaded->err;
    EXPECT_THAT(loaded->err, HasSubstr(says));
    EXPECT_EQ(std::count(loaded->err.begin(), loaded->err.end(), '\n'), 1) << loaded->err;
  }
  EXPECT_THAT(cmd(*jvm, {"properties"}).out, HasSubstr("attach.agent=said\\=hello"));
  for (const std::string& path : {good, nameless, wrong}) fs::remove(jvm->inside(path));
  EXPECT_TRUE(jvm->alive());
  EXPECT_EQ(jvm->out(), "READY\n");
}

TEST_P(EachJdk, LoadingThatIsSwitchedOff) {
  if (GetParam().version < 9) GTEST_SKIP() << "JDK 8 has no EnableDynamicAgentLoading";
  JvmOptions options;
  options.flags = {"-XX:-EnableDynamicAgentLoading"};
  const auto started = must(JvmProcess::start(GetParam(), "Idle", options));
  const JvmProcess& jvm = *started;
  const std::string ok = put(jvm, agent_library("ok"), "ok.so");
  const auto loaded = run_jtrace({"load", jvm.pid_text(), ok});
  EXPECT_EQ(loaded->status, 7);
  EXPECT_THAT(loaded->err, HasSubstr("EnableDynamicAgentLoading"));
  const CommandOutput raw = cmd(jvm, {"load", ok, "true", ""});
  EXPECT_EQ(raw.status, 7) << raw.out << raw.err;
  EXPECT_THAT(raw.err, HasSubstr("EnableDynamicAgentLoading"));
  fs::remove(jvm.inside(ok));
  expect_unharmed(jvm);
}

TEST_P(EachJdk, TheComingWarningIsAnnounced) {
  JvmOptions options;
  const auto started = must(JvmProcess::start(GetParam(), "Idle", options));
  const JvmProcess& jvm = *started;
  const std::string ok = put(jvm, agent_library("ok"), "ok.so");
  for (int round = 0; round < 2; ++round) {
    const std::string before = jvm.err();
    const auto loaded = run_jtrace({"load", jvm.pid_text(), ok});
    EXPECT_EQ(loaded->status, 0) << loaded->err;
    const bool announced = loaded->err.find("JEP 451") != std::string::npos;
    EXPECT_EQ(announced, GetParam().version >= 21 && round == 0) << loaded->err;
    EXPECT_EQ(announced, jvm.err() != before) << "announced what did not come, or not what came: " << jvm.err();
  }
  fs::remove(jvm.inside(ok));
}

// Sent completely, or refused before anything is sent; never cut.
TEST_P(EachJdk, LongArguments) {
  const auto jvm = start();
  ASSERT_TRUE(jvm);
  const std::string ok = put(*jvm, agent_library("ok"), "ok.so");
  const std::string out = "/tmp/jtrace-test-" + jvm->pid_text() + "-length";
  for (const std::size_t length :
       {std::size_t{1024}, std::size_t{1025}, std::size_t{65'536}, std::size_t{262'000}, std::size_t{262'144}}) {
    fs::remove(jvm->inside(out));
    std::string options = "out=" + out + " ";
    options.append(length - options.size(), 'x');
    // Longer than an argument of execve(2) can be; so the library is called directly.
    const auto process = must(target::Process::open(jvm->pid()));
    const auto session = must(attach::AttachSession::open(process));
    const auto reply = session.execute({.operation = "load", .arguments = {ok, "true", options}});
    const std::size_t limit = GetParam().version >= 24 ? 262'000 : 1024;
    EXPECT_EQ(reply.has_value(), length <= limit) << length;
    const std::string arrived = read_file(jvm->inside(out)).value_or("nothing");
    EXPECT_EQ(arrived, length <= limit ? std::to_string(length) : "nothing");
    if (!reply) {
      EXPECT_EQ(exit_status(reply.error()), ExitStatus::kUsage) << reply.error().message();
    }
  }
  const auto refused = run_jtrace({"cmd", jvm->pid_text(), "jcmd", std::string(1025, 'x')});
  EXPECT_EQ(refused->status, GetParam().version >= 24 ? 1 : 2) << refused->err;
  EXPECT_EQ(run_jtrace({"cmd", jvm->pid_text(), "an-operation-of-24-bytes"})->status, 2);
  const auto empty = run_jtrace({"cmd", jvm->pid_text(), "inspectheap", "", "-live"});
  EXPECT_EQ(empty->status == 2, GetParam().version == 8) << empty->err;
  fs::remove(jvm->inside(ok));
  fs::remove(jvm->inside(out));
  expect_unharmed(*jvm);
}

TEST_P(EachJdk, JmxGivesAServiceUrl) {
  const auto jvm = start();
  ASSERT_TRUE(jvm);
  const auto first = run_jtrace({"jmx", jvm->pid_text()});
  EXPECT_EQ(first->status, 0) << first->err;
  EXPECT_THAT(first->out, StartsWith("service:jmx:rmi://"));
  EXPECT_EQ(run_jtrace({"jmx", jvm->pid_text()})->out, first->out) << "started once";
  expect_unharmed(*jvm);
  record_support(GetParam(), "G1", "live", "jmx");
}

TEST_P(EachJdk, ABatchAndSeveralJvms) {
  const auto one = start();
  const auto two = start();
  ASSERT_TRUE(one && two);
  const auto batch =
      run_jtrace({"cmd", one->pid_text(), "--batch", "-"},
                 {.input = "jcmd VM.uptime\n# a comment\nprintflag \"UseSerialGC\"\nprintflag NoSuch\n"});
  EXPECT_EQ(batch->status, 9) << batch->err;
  EXPECT_THAT(batch->out,
              AllOf(HasSubstr("==> " + one->pid_text() + " jcmd VM.uptime <==\n"), HasSubstr("UseSerialGC\n")));
  const auto both = run_jtrace({"cmd", two->pid_text() + "," + one->pid_text(), "jcmd", "VM.uptime"});
  EXPECT_EQ(both->status, 0) << both->err;
  const std::size_t first = both->out.find("==> " + two->pid_text());
  const std::size_t second = both->out.find("==> " + one->pid_text());
  EXPECT_NE(first, std::string::npos);
  EXPECT_NE(second, std::string::npos);
  EXPECT_LT(first, second) << "in the order asked for";
  const auto json =
      run_jtrace({"cmd", two->pid_text() + "," + one->pid_text(), "--format", "json", "jcmd", "VM.uptime"});
  EXPECT_THAT(json->out, AllOf(HasSubstr("\"complete\":true"), HasSubstr("\"pid\":" + one->pid_text())));
  const auto urls = run_jtrace({"jmx", one->pid_text() + "," + two->pid_text()});
  EXPECT_THAT(urls->out,
              AllOf(StartsWith(one->pid_text() + " service:"), HasSubstr("\n" + two->pid_text() + " service:")));
  const auto some = run_jtrace({"cmd", one->pid_text() + ",4194303", "jcmd", "VM.uptime"});
  EXPECT_EQ(some->status, 9) << some->err;
  expect_unharmed(*one);
  expect_unharmed(*two);
}

// In a pid namespace with a /proc of its own, so that "all" means the JVMs of this test only.
TEST(All, EveryJvmOfTheMachineIsAskedOnce) {
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("live", why);
  if (run_command({"unshare", "--pid", "--fork", "--mount-proc", "true"}).value_or(CommandOutput{}).status != 0)
    JTRACE_SKIP("live", "unshare(1) cannot make a pid namespace here");
  const auto classes = must(compiled_app("Idle"));
  std::string starts;
  int count = 0;
  for (const Jdk& jdk : jdks()) {
    if (jdk.root) continue;  // the namespace has its own /proc, but not a tree of its own
    for (int i = 0; i < 2; ++i, ++count)
      starts += jdk.home + "/bin/java -Xmx16m -XX:+UseSerialGC -cp '" + classes + "' Idle <&3 & jvms=\"$jvms $!\"\n";
  }
  if (count == 0) JTRACE_SKIP("live", "no JDK outside of a tree");
  const ScratchDir folder;
  ASSERT_EQ(::mkfifo(folder.file("stdin").c_str(), 0600), 0);
  // They end by themselves: a killed JVM leaves its socket in the /tmp of all, for the next one with its small pid.
  std::ofstream(folder.file("script"))
      << "exec 3<>'" << folder.file("stdin") << "'\n"
      << starts << "until [ $(\"$1\" list --format json | grep -o '\"main\":\"Idle\"' | wc -l) = " << count
      << " ]; do sleep 0.05; done\n"
      << "\"$1\" cmd all jcmd VM.version; echo \"status $?\"\n"
      << "\"$1\" cmd all jcmd GC.run 2>&1; echo \"refused $?\"\n"
      << "\"$1\" cmd all --yes jcmd GC.run; echo \"done $?\"\n"
      << "kill $jvms; wait $jvms\n"
      << "for jvm in $jvms; do [ ! -e /tmp/.java_pid$jvm ] || echo \"left $jvm\"; done\n";
  const auto ran = must(run_command(
      {"unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", folder.file("script"), jtrace_binary()}));
  const auto occurrences = [&](std::string_view what) {
    int found = 0;
    for (std::size_t at = ran.out.find(what); at != std::string::npos; at = ran.out.find(what, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(occurrences(" jcmd VM.version <=="), count) << ran.out << ran.err;
  EXPECT_EQ(occurrences("\nJDK "), count) << ran.out;
  EXPECT_EQ(occurrences("status 0\n"), 1) << ran.out;
  EXPECT_EQ(occurrences("say --yes"), 1) << ran.out;
  EXPECT_EQ(occurrences("refused 2\n"), 1) << ran.out;
  EXPECT_EQ(occurrences(" jcmd GC.run <=="), count) << ran.out;
  EXPECT_EQ(occurrences("done 0\n"), 1) << ran.out;
  EXPECT_EQ(occurrences("left "), 0) << ran.out;
}

TEST_P(EachJdk, ASocketThatWasDeletedOrLeftBehind) {
  const auto jvm = start();
  ASSERT_TRUE(jvm);
  ASSERT_EQ(cmd(*jvm, {"jcmd", "VM.version"}).status, 0);
  const std::string socket = jvm->inside("/tmp/.java_pid" + jvm->pid_text());
  ASSERT_TRUE(fs::remove(socket));
  EXPECT_EQ(cmd(*jvm, {"jcmd", "VM.version"}).status, 0);
  EXPECT_TRUE(fs::exists(socket));
  EXPECT_FALSE(left_in_tmp(*jvm, ".attach_pid" + jvm->pid_text()));
  expect_unharmed(*jvm);
}

TEST_P(EachJdk, ManyFirstClientsAtOnce) {
  const auto jvm = start();
  ASSERT_TRUE(jvm);
  std::vector<int> statuses(8, -1);
  std::vector<std::thread> clients;
  for (int& status : statuses) clients.emplace_back([&] { status = cmd(*jvm, {"jcmd", "VM.version"}).status; });
  for (std::thread& client : clients) client.join();
  EXPECT_THAT(statuses, ::testing::Each(0));
  EXPECT_FALSE(left_in_tmp(*jvm, ".attach_pid" + jvm->pid_text()));
  expect_unharmed(*jvm);
}

TEST_P(EachJdk, TheReplyOfAJvmThatDies) {
  const auto jvm = start();
  ASSERT_TRUE(jvm);
  const std::string ok = put(*jvm, agent_library("ok"), "ok.so");
  const auto loaded = run_jtrace({"load", jvm->pid_text(), ok, "die"});
  EXPECT_EQ(loaded->status, 9) << loaded->err;
  EXPECT_THAT(loaded->err, HasSubstr("exited during the command"));
  fs::remove(GetParam().root.value_or("") + ok);  // the JVM and its view of the files are gone
}

// One thread of the JVM serves all clients: during a long command the others wait, and the time-out says why.
TEST_P(EachJdk, ABusyListenerIsNamedAtTheTimeOut) {
  const auto jvm = start();
  ASSERT_TRUE(jvm);
  const std::string ok = put(*jvm, agent_library("ok"), "ok.so");
  const std::string gate = "/tmp/jtrace-test-" + jvm->pid_text() + "-gate";
  const auto process = target::Process::open(jvm->pid());
  const auto session = must(attach::AttachSession::open(*process));
  auto held = must(session.begin({.operation = "load", .arguments = {ok, "true", "wait=" + gate}}));
  const auto started = std::chrono::steady_clock::now();
  const CommandOutput late = cmd(*jvm, {"--timeout", "1", "jcmd", "VM.version"});
  const auto took = std::chrono::steady_clock::now() - started;
  EXPECT_EQ(late.status, 6) << late.out << late.err;
  EXPECT_THAT(late.err,
              AllOf(HasSubstr("another client holds the listener"), HasSubstr("jtrace stack " + jvm->pid_text())));
  EXPECT_GE(took, std::chrono::milliseconds(1000));
  EXPECT_LT(took, std::chrono::milliseconds(1900));
  std::ofstream(jvm->inside(gate)) << "";
  EXPECT_EQ(cmd(*jvm, {"jcmd", "VM.version"}).status, 0) << "and afterwards it is served again";
  fs::remove(jvm->inside(gate));
  fs::remove(jvm->inside(ok));
  expect_unharmed(*jvm);
}

struct Home {
  const char* name;
  Isolation isolation;
  bool user_namespace = false;
};

// A user namespace of its own, as rootless containers have: root inside is `kNobody` outside.
bool enter_user_namespace(const std::string& root) {
  const auto put = [&root](const char* file, const char* text) {
    const UniqueFd fd(::open((root + "/proc/self/" + file).c_str(), O_WRONLY | O_CLOEXEC));
    return ::write(fd.get(), text, std::strlen(text)) > 0;
  };
  return ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
         ::setresuid(kNobody, kNobody, kNobody) == 0 && ::prctl(PR_SET_DUMPABLE, 1) == 0 &&
         ::unshare(CLONE_NEWUSER) == 0 && put("setgroups", "deny") && put("uid_map", "0 65534 1") &&
         put("gid_map", "0 65534 1");
}

CommandOptions as_nobody() {
  CommandOptions options;
  options.in_child = [] {
    if (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(125);
  };
  return options;
}

// JVMs in each kind of container; the client is root or the same user, and each attaches first once. The library is
// only outside.
TEST_P(EachJdk, InContainersAsRootAndAsTheSameUser) {
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("live", why);
  const ScratchDir folder;
  fs::permissions(folder.path(), fs::perms::all);
  const std::string here = folder.file("only_here.so");
  fs::copy_file(agent_library("ok"), here);
  for (const Home& home :
       {Home{"plain", Isolation::kNone}, Home{"mount namespace", Isolation::kMount},
        Home{"container", Isolation::kContainer}, Home{"user namespace", Isolation::kContainer, true}}) {
    JvmOptions options;
    options.isolation = home.isolation;
    if (home.user_namespace) options.in_child = enter_user_namespace;
    else options.uid = options.gid = kNobody;
    const auto jvm = start({}, options);
    ASSERT_TRUE(jvm) << home.name;
    for (const bool root : {false, true}) {
      SCOPED_TRACE(std::string(home.name) + (root ? ", root" : ", the same user"));
      const CommandOptions client = root ? CommandOptions{} : as_nobody();
      const CommandOutput version = cmd(*jvm, {"jcmd", "VM.version"}, client);
      EXPECT_EQ(version.status, 0) << version.err;
      if (home.isolation != Isolation::kNone || GetParam().root) {
        const auto refused = run_jtrace({"load", jvm->pid_text(), here}, client);
        EXPECT_EQ(refused->status, 7);
        EXPECT_THAT(refused->err, HasSubstr("--deliver"));
      }
      const std::string out = "/tmp/jtrace-test-" + jvm->pid_text() + "-out";
      const auto loaded = run_jtrace({"load", jvm->pid_text(), here, "out=" + out, "--deliver"}, client);
      EXPECT_EQ(loaded->status, 0) << loaded->err;
      EXPECT_EQ(read_file(jvm->inside(out)).value_or("nothing"), std::to_string(("out=" + out).size()));
      fs::remove(jvm->inside(out));
      EXPECT_FALSE(left_in_tmp(*jvm, "only_here"));
      // The next client is the first one again.
      const auto process = target::Process::open(jvm->pid());
      EXPECT_TRUE(fs::remove(jvm->inside("/tmp/.java_pid" + std::to_string(process->nspid()))));
    }
    EXPECT_FALSE(left_in_tmp(*jvm, ".attach_pid" + std::to_string(target::Process::open(jvm->pid())->nspid())));
    expect_unharmed(*jvm);
  }
}

// The library in one program: a thread for each JVM at the same time; the targets' users differ from the program's.
TEST(AttachLibrary, FromSeveralThreads) {
  const auto all = jdks();
  if (all.empty()) JTRACE_SKIP("live", "no JDK on this machine");
  std::vector<std::unique_ptr<JvmProcess>> jvms;
  for (std::size_t i = 0; i < 4; ++i) {
    JvmOptions options = attachable(all[i % all.size()], {"-Xmx32m"});
    if (i % 2 == 1 && ::geteuid() == 0) options.uid = options.gid = kNobody;
    auto jvm = must(JvmProcess::start(all[i % all.size()], "Idle", options));
    jvms.push_back(std::move(jvm));
  }
  std::vector<std::future<void>> threads;
  for (const auto& jvm : jvms)
    threads.push_back(std::async(std::launch::async, [&jvm] {
      for (int round = 0; round < 20; ++round) {
        const auto process = must(target::Process::open(jvm->pid()));
        const auto session = must(attach::AttachSession::open(process));
        const auto reply = must(session.execute({.operation = "jcmd", .arguments = {"VM.version"}}));
        EXPECT_THAT(reply.data, HasSubstr("JDK "));
      }
    }));
  for (std::future<void>& thread : threads) thread.get();
  EXPECT_EQ(::geteuid(), ::getuid());
  for (const auto& jvm : jvms) EXPECT_EQ(jvm->out(), "READY\n");
}

}  // namespace
}  // namespace jtrace::test
