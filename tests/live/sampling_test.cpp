// jtrace profile against programs that know what they do: shares of CPU time, whole stacks, and that no thread is
// stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/file.h"
#include "tests/testlib/background_command.h"
#include "tests/testlib/own_group.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kWholeStacks = 0.99;  // of all samples
constexpr std::size_t kSamples = 2000;

// Samples by stack, as --format collapsed gives them.
std::map<std::string, std::size_t> read_stacks(const std::string& path) {
  std::map<std::string, std::size_t> stacks;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t space = line.rfind(' ');
    stacks[line.substr(0, space)] += std::stoul(line.substr(space + 1));
  }
  return stacks;
}

class Sampling : public ::testing::TestWithParam<Jdk> {
 protected:
  // `compiled`: what it does runs in compiled code by then.
  void start(bool compiled = false) {
    if (::getuid() != 0) JTRACE_SKIP("ptrace", "perf events of another process take root here");
    jvm_ = must(JvmProcess::start(
        GetParam(), "Parts",
        {.flags = {"-Xmx256m", "-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,Parts.partInterpreted",
                   "-XX:CompileCommand=dontinline,Parts.part*"}}));
    must(jvm_->ask("start 2"));
    if (compiled) std::this_thread::sleep_for(std::chrono::seconds(3));
  }
  CommandOutput profile(std::vector<std::string> words) {
    words.insert(words.begin(), {"profile", jvm_->pid_text()});
    return must(run_jtrace(words, {.timeout = std::chrono::minutes(2)}));
  }
  // CPU time by part, ns.
  std::map<std::string, double> spent() {
    std::map<std::string, double> parts;
    std::istringstream words(must(jvm_->ask("report")));
    std::string name;
    for (double ns = 0; words >> name >> ns;) parts[name] = ns;
    return parts;
  }
  std::unique_ptr<JvmProcess> jvm_;
};
JTRACE_ON_EACH_JDK(Sampling);

// What does not depend on the JDK: with one of them.
class SamplingOfOne : public Sampling {};
JTRACE_ON_ONE_JDK(SamplingOfOne, 17);

std::string part_of(const std::string& stack) {
  const std::size_t at = stack.find(";Parts.part");
  if (at == stack.npos) return "";
  std::string name = stack.substr(at + 11, stack.find(';', at + 1) - at - 11);
  name[0] = static_cast<char>(std::tolower(name[0]));
  return name;
}

TEST_P(Sampling, GivesEachPartItsShareAndWholeStacks) {
  start(true);
  ASSERT_TRUE(jvm_);
  const ScratchDir folder;
  std::map<std::string, std::size_t> seen;
  std::size_t samples = 0, in_parts = 0, cut = 0, misplaced = 0;
  auto before = spent();
  // The machine may be busy with other things: as long as it takes for so many samples.
  for (int run = 0; run < 12 && in_parts < kSamples; ++run) {
    const std::string path = folder.file("run.collapsed");
    const CommandOutput done = profile({"--hz", "499", "--duration", "4", "-o", path});
    // A busy machine does not get all samples, and says so.
    const bool lost = done.err.find(", 0 lost; ") == std::string::npos;
    ASSERT_EQ(done.status, lost ? 9 : 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr("the target was not stopped"));
    for (const auto& [stack, count] : read_stacks(path)) {
      samples += count;
      cut += stack.find("[cut stack]") != stack.npos ? count : 0;
      // The stub of CRC32, which partText does not call but whose frame may keep a return address to it.
      for (const char* stubs : {"StubRoutines (1)", "StubRoutines (initial stubs)"})
        misplaced += stack.find(";Parts.partText;" + std::string(stubs)) != stack.npos ? count : 0;
      if (const std::string part = part_of(stack); !part.empty()) seen[part] += count, in_parts += count;
    }
  }
  ASSERT_GE(in_parts, kSamples / 4) << "too few to tell anything";
  EXPECT_GE(static_cast<double>(samples - cut), kWholeStacks * static_cast<double>(samples))
      << cut << " of " << samples;
  auto after = spent();
  EXPECT_LE(misplaced, in_parts / 500);
  double all = 0;
  for (auto& [part, ns] : after) all += ns -= before[part];
  for (const auto& [part, ns] : after) {
    const double truth = ns / all, got = static_cast<double>(seen[part]) / static_cast<double>(in_parts);
    // Three deviations of a share of so many samples, and a point for what lies between a part and its metering.
    const double tolerance = 0.01 + 3 * std::sqrt(truth * (1 - truth) / static_cast<double>(in_parts));
    EXPECT_NEAR(got, truth, tolerance) << part << " of " << in_parts << " samples";
  }
}

// TracerPid of all threads, looked at all the time.
TEST_P(Sampling, IsNobodysTracer) {
  start();
  ASSERT_TRUE(jvm_);
  std::atomic<bool> over = false;
  std::atomic<std::size_t> looks = 0, traced = 0;
  std::thread watcher([&, folder = "/proc/" + jvm_->pid_text() + "/task"] {
    while (!over) {
      for (const auto& task : std::filesystem::directory_iterator(folder)) {
        const auto status = read_file(task.path().string() + "/status");
        if (!status) continue;
        ++looks;
        traced += status->find("TracerPid:\t0\n") == status->npos;
      }
    }
  });
  const CommandOutput done = profile({"--duration", "2"});
  const CommandOutput top = must(run_jtrace({"top", jvm_->pid_text(), "--count", "2", "--interval", "500ms"}));
  over = true;
  watcher.join();
  EXPECT_THAT(done.status, ::testing::AnyOf(0, 9)) << done.err;
  EXPECT_THAT(done.out, HasSubstr("frame\n"));
  EXPECT_THAT(top.status, ::testing::AnyOf(0, 9)) << top.err;  // 9: a busy machine, some were lost
  EXPECT_THAT(top.out, HasSubstr("; the target was not stopped\n"));
  EXPECT_GT(looks, 100u);
  EXPECT_EQ(traced, 0u);
}

TEST_P(Sampling, WritesWhatTheNameOfTheFileSays) {
  start();
  ASSERT_TRUE(jvm_);
  const ScratchDir folder;
  std::string said;
  const auto written = [&](const std::string& name) {
    const std::string path = folder.file(name);
    const CommandOutput done = profile({"--duration", "1", "--hz", "199", "-o", path});
    EXPECT_EQ(done.status, 0) << done.err;
    said = done.err;
    return read_file(path).value_or("");
  };
  EXPECT_THAT(written("a.collapsed"), HasSubstr(";Parts.loop;"));
  const auto speedscope = nlohmann::json::parse(written("a.speedscope.json"), nullptr, false);
  ASSERT_TRUE(speedscope.is_object());
  EXPECT_GE(speedscope["profiles"].size(), 2u);
  EXPECT_TRUE(written("a.pb.gz").starts_with("\x1f\x8b"));
  EXPECT_THAT(written("a.html"), HasSubstr("Parts.loop"));
  EXPECT_THAT(said, Not(HasSubstr("Java frames only")));
  // The VM's own threads work too.
  EXPECT_THAT(written("a.xml"), HasSubstr("methodEntry"));
  EXPECT_THAT(said, HasSubstr("a trace has Java frames only: of "));
}

TEST_P(Sampling, RefusesWhatCannotBe) {
  start();
  ASSERT_TRUE(jvm_);
  const auto refused = [&](std::vector<std::string> words, int status, const std::string& why) {
    const CommandOutput done = profile(std::move(words));
    EXPECT_EQ(done.status, status) << done.err;
    EXPECT_THAT(done.err, HasSubstr(why));
  };
  refused({"-o", "/tmp/profile.unknown"}, 2, "does not say what to write");
  refused({"--hz", "0"}, 2, "--hz");
  refused({"--hz", "-5"}, 2, "--hz");
  refused({"--hz", "900000", "--duration", "1"}, 2, "samples a second");
  refused({"--stack-size", "1001"}, 2, "--stack-size");
  refused({"--stack-size", "65536"}, 2, "--stack-size");
  refused({"--cpu", "--wall"}, 2, "exclude each other");
  refused({"--off-cpu", "--wall"}, 2, "exclude each other");
  refused({"--off-cpu", "--ptrace"}, 2, "--off-cpu needs perf events");
  refused({"--min", "1ms"}, 2, "--min is for waits");
  refused({"--off-cpu", "--min", "soon"}, 2, "is not a time");
  refused({"--off-cpu", "-o", "/tmp/profile.xml"}, 2, "has no waits");
  refused({"--wall", "-o", "/tmp/profile.xml"}, 2, "has no waits; --wall --ptrace writes");
  refused({"--off-cpu", "--hz", "199", "--duration", "1"}, 2, "--hz is for samples of CPU time");
  refused({"--rotate", "100ms", "-o", "/tmp/profile.html"}, 2, "--rotate takes at least a second");
  refused({"--rotate", "1m"}, 2, "--rotate makes files");
  refused({"--keep", "1h", "-o", "/tmp/profile.html"}, 2, "--keep is for the files of --rotate");
  refused({"--rotate", "1m", "--keep", "0", "--duration", "1", "-o", "/tmp/profile.html"}, 2,
          "--keep 0 would keep nothing");
}

TEST_P(Sampling, SaysWhichStacksAreDeeperThanTheCopy) {
  start();
  ASSERT_TRUE(jvm_);
  const CommandOutput done =
      profile({"--stack-size", "512", "--hz", "199", "--duration", "2", "--format", "collapsed"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("deeper than the copy (--stack-size)"));
}

TEST_P(Sampling, ByStoppingThreadsIsThereWhenItIsAskedFor) {
  start();
  ASSERT_TRUE(jvm_);
  const CommandOutput done = profile({"--ptrace", "--duration", "2"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("the target was stopped for"));
}

TEST_P(Sampling, SaysSoWhenNothingRan) {
  start();
  ASSERT_TRUE(jvm_);
  ASSERT_EQ(::kill(jvm_->pid(), SIGSTOP), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // a thread stops when it next leaves the kernel
  const CommandOutput done = profile({"--duration", "1"});
  ASSERT_EQ(::kill(jvm_->pid(), SIGCONT), 0);
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("it used no CPU time: jtrace stack shows where its threads are"));
}

// One that starts while all are sampled.
TEST(SamplingOfAll, FindsAJvmThatStartsMeanwhile) {
  if (::getuid() != 0) JTRACE_SKIP("ptrace", "perf events of another process take root here");
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  const auto first = must(JvmProcess::start(*jdk, "Parts"));
  const ScratchDir folder;
  const auto jtrace = must(BackgroundCommand::start(
      {jtrace_binary(), "-v", "profile", "all", "--hz", "199", "-o", folder.file("all.html")}));
  ASSERT_TRUE(jtrace->wait_err_line("jtrace: recording", std::chrono::seconds(60))) << jtrace->err();
  const auto second = must(JvmProcess::start(*jdk, "Parts"));
  must(second->ask("start 1"));
  EXPECT_TRUE(jtrace->wait_err_line("jtrace: found Parts (" + second->pid_text() + ")", std::chrono::seconds(60)));
  must(second->ask("report"));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // some samples at 199 a second
  jtrace->signal(SIGINT);
  EXPECT_THAT(must(jtrace->wait_exit()), ::testing::AnyOf(0, 9)) << jtrace->err();
  const std::string page = read_file(folder.file("all.html")).value_or("");
  EXPECT_THAT(page, HasSubstr("\"Parts (" + second->pid_text() + ")\""));
  EXPECT_THAT(page, HasSubstr("on each processor, several JVMs"));
}

// As a container has it: the JVMs of a group, also one that comes into it later.
TEST(SamplingOfAGroup, HasItsJvmsAlone) {
  if (::getuid() != 0) JTRACE_SKIP("ptrace", "perf events of another process take root here");
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  const auto inside = must(JvmProcess::start(*jdk, "Parts")), outside = must(JvmProcess::start(*jdk, "Parts"));
  const auto group = OwnGroup::make("pids", inside->pid());
  if (!group) JTRACE_SKIP("cgroup", group.error().message());
  must(inside->ask("start 1"));
  must(outside->ask("start 1"));
  const CommandOutput done = must(
      run_jtrace({"profile", "--cgroup", group->name(), "--hz", "199", "--duration", "2", "--format", "collapsed"}));
  EXPECT_THAT(done.status, ::testing::AnyOf(0, 9)) << done.err;
  EXPECT_THAT(done.out, HasSubstr("Parts (" + inside->pid_text() + ");"));
  EXPECT_THAT(done.out, Not(HasSubstr("Parts (" + outside->pid_text() + ");")));
  const CommandOutput none = must(run_jtrace({"profile", "--cgroup", "no-such-group", "--duration", "1"}));
  EXPECT_EQ(none.status, 3) << none.err;
  EXPECT_THAT(none.err, HasSubstr("there is no JVM in the group or container no-such-group"));
}

TEST(SamplingOfAGroup, FindsAJvmThatComesIntoItMeanwhile) {
  if (::getuid() != 0) JTRACE_SKIP("ptrace", "perf events of another process take root here");
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  const auto first = must(JvmProcess::start(*jdk, "Parts")), second = must(JvmProcess::start(*jdk, "Parts"));
  auto group = OwnGroup::make("pids", first->pid());
  if (!group) JTRACE_SKIP("cgroup", group.error().message());
  const auto jtrace =
      must(BackgroundCommand::start({jtrace_binary(), "-v", "profile", "--cgroup", group->name(), "--hz", "199"}));
  ASSERT_TRUE(jtrace->wait_err_line("jtrace: recording", std::chrono::seconds(60))) << jtrace->err();
  must(group->add(second->pid()));
  EXPECT_TRUE(jtrace->wait_err_line("jtrace: found Parts (" + second->pid_text() + ")", std::chrono::seconds(60)))
      << jtrace->err();
  jtrace->signal(SIGINT);
  EXPECT_THAT(must(jtrace->wait_exit()), ::testing::AnyOf(0, 9)) << jtrace->err();
  EXPECT_THAT(jtrace->err(), HasSubstr("; 2 JVMs"));
}

// Each file is whole, and only those of the last time are kept.
TEST(SamplingInFiles, RotatesThemAndKeepsTheLast) {
  if (::getuid() != 0) JTRACE_SKIP("ptrace", "perf events of another process take root here");
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  const auto jvm = must(JvmProcess::start(*jdk, "Parts"));
  must(jvm->ask("start 1"));
  const ScratchDir folder;
  const CommandOutput done = must(run_jtrace({"profile", jvm->pid_text(), "--hz", "199", "--duration", "5", "--rotate",
                                              "1s", "--keep", "1s", "-o", folder.file("a.collapsed")}));
  EXPECT_EQ(done.status, 0) << done.err;
  std::size_t files = 0, empty = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    ++files;
    EXPECT_THAT(entry.path().filename().string(), ::testing::MatchesRegex("a\\.[0-9]+-[0-9]+\\.collapsed"));
    const std::string text = read_file(entry.path().string()).value_or("unreadable");
    if (text.empty()) ++empty;
    else EXPECT_THAT(text, HasSubstr(";Parts.loop;"));
  }
  EXPECT_LE(empty, 1u) << "the last one may begin when the recording ends";
  EXPECT_GE(files, 2u);
  EXPECT_LE(files, 4u) << "at least five were written";
}

// As when the clock was set back: its time stands in the names.
TEST(SamplingInFiles, LeavesAFileThatIsThereAlone) {
  if (::getuid() != 0) JTRACE_SKIP("ptrace", "perf events of another process take root here");
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  const auto jvm = must(JvmProcess::start(*jdk, "Idle"));
  const ScratchDir folder;
  constexpr int kSeconds = 30;  // until it begins
  const std::time_t now = std::time(nullptr);
  for (std::time_t at = now; at < now + kSeconds; ++at) {
    char name[40];
    std::tm parts{};
    std::strftime(name, sizeof name, "a.%Y%m%d-%H%M%S.html", ::gmtime_r(&at, &parts));
    std::ofstream(folder.file(name)) << "old";
  }
  const CommandOutput done = must(
      run_jtrace({"profile", jvm->pid_text(), "--duration", "100ms", "--rotate", "1m", "-o", folder.file("a.html")}));
  EXPECT_EQ(done.status, 0) << done.err;
  std::size_t old = 0, made = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    ++(read_file(entry.path().string()).value_or("") == "old" ? old : made);
  EXPECT_EQ(old, static_cast<std::size_t>(kSeconds));
  EXPECT_EQ(made, 1u);
}

TEST_P(Sampling, EndsWithTheTarget) {
  start();
  ASSERT_TRUE(jvm_);
  std::thread ender([&] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    (void)::kill(jvm_->pid(), SIGKILL);
  });
  const CommandOutput done = profile({"--duration", "60"});
  ender.join();
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("the target ended"));
}

TEST_P(Sampling, OfVirtualThreadsHasTheirNames) {
  if (GetParam().version < 21) return;
  if (::getuid() != 0) JTRACE_SKIP("ptrace", "perf events of another process take root here");
  jvm_ = must(JvmProcess::start(GetParam(), "MetersWaits",
                                {.flags = {"-Xmx128m", "-Djdk.virtualThreadScheduler.parallelism=3"}}));
  must(jvm_->ask("virtual"));
  const ScratchDir folder;
  const CommandOutput done = profile({"--hz", "199", "--duration", "1", "-o", folder.file("a.collapsed")});
  must(jvm_->ask("still"));
  ASSERT_TRUE(done.status == 0 || done.status == 9) << done.err;  // 9: a busy machine, some were lost
  std::map<std::string, std::size_t> roots;
  std::size_t all = 0;
  for (const auto& [stack, count] : read_stacks(folder.file("a.collapsed"))) {
    if (stack.find(";MetersWaits.spinUntilStill") == stack.npos) continue;
    roots[stack.substr(0, stack.find(';'))] += count;
    all += count;
    EXPECT_THAT(stack, Not(HasSubstr("ForkJoinWorkerThread"))) << "the carrier's own frames";
  }
  ASSERT_GT(all, 20u) << done.err;
  for (const char* name : {"virtual-one", "virtual-two", "[virtual threads without a name]"})
    EXPECT_GT(roots[name], 0u) << name << "\n" << done.err;
  std::size_t named = 0;
  for (const auto& [root, count] : roots)
    if (root.starts_with("virtual-") || root == "[virtual threads without a name]") named += count;
  EXPECT_GE(named + all / 50 + 1, all) << done.err;
}

// One that sleeps all the time in a frame that keeps it on its carrier.
TEST_P(Sampling, OfAPinnedVirtualThreadThatWaitsHasItsName) {
  if (GetParam().version < 21) return;
  if (::getuid() != 0) JTRACE_SKIP("ptrace", "perf events of another process take root here");
  jvm_ = must(JvmProcess::start(GetParam(), "PlainFacts", {.flags = {"-Xmx128m"}}));
  must(jvm_->ask("pinned"));
  const CommandOutput done = profile({"--off-cpu", "--duration", "200ms", "--format", "collapsed"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("\npinned;[park];")) << done.err;
  EXPECT_THAT(done.out, ::testing::ContainsRegex("\npinned;[^\n]*PlainFacts"));
  EXPECT_THAT(done.out, ::testing::ContainsRegex("\npinned;[^\n]*call_class_initializer")) << "native frames too";
  EXPECT_THAT(done.out, Not(::testing::ContainsRegex("ForkJoinPool[^\n]*PlainFacts")));
}

// What the tool of a JDK reads of it.
TEST_P(SamplingOfOne, WritesARecordingThatJfrReads) {
  start();
  ASSERT_TRUE(jvm_);
  const auto tools = any_jdk(17);
  if (!tools || tools->root) JTRACE_SKIP("live", "no jfr of JDK 17 or later on this machine");
  const ScratchDir folder;
  const std::string path = folder.file("a.jfr");
  const CommandOutput done = profile({"--duration", "1", "--hz", "199", "-o", path});
  ASSERT_EQ(done.status, 0) << done.err;
  const std::string jfr = tools->host_path("bin/jfr");
  const CommandOutput samples = must(run_command({jfr, "print", "--events", "jdk.ExecutionSample", path}));
  EXPECT_EQ(samples.status, 0) << samples.err;
  EXPECT_THAT(samples.out, HasSubstr("Parts.part"));
  EXPECT_THAT(samples.out, HasSubstr("STATE_RUNNABLE"));
  std::size_t printed = 0;
  for (std::size_t at = 0; (at = samples.out.find("jdk.ExecutionSample {", at)) != samples.out.npos; ++at) ++printed;
  EXPECT_EQ(std::to_string(printed), done.err.substr(done.err.find(' ') + 1, std::to_string(printed).size()))
      << done.err;
}

// Waits in it: the JDK's own events of them, and one of jtrace.
TEST_P(SamplingOfOne, WritesARecordingOfWaitsThatJfrReads) {
  start();
  ASSERT_TRUE(jvm_);
  const auto tools = any_jdk(17);
  if (!tools || tools->root) JTRACE_SKIP("live", "no jfr of JDK 17 or later on this machine");
  const ScratchDir folder;
  const CommandOutput done = profile({"--off-cpu", "--duration", "500ms", "-o", folder.file("a.jfr")});
  ASSERT_THAT(done.status, ::testing::AnyOf(0, 9)) << done.err;
  const CommandOutput waits = must(run_command(
      {tools->host_path("bin/jfr"), "print", "--events", "jdk.JavaMonitorWait,jtrace.OffCpu", folder.file("a.jfr")}));
  EXPECT_EQ(waits.status, 0) << waits.err;
  EXPECT_THAT(waits.out, HasSubstr("jdk.JavaMonitorWait {")) << "of the reference handler or the finalizer";
  EXPECT_THAT(waits.out, HasSubstr("libjvm.so.ObjectMonitor::wait"));
  EXPECT_THAT(waits.out, HasSubstr("jtrace.OffCpu {"));
  EXPECT_THAT(waits.out, HasSubstr("kind = \"[VM]\""));
}

// The pprof of Debian's golang, which is not needed for anything else.
TEST_P(SamplingOfOne, WritesAProfileThatPprofReads) {
  start();
  ASSERT_TRUE(jvm_);
  std::string pprof;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib", none)) {
    const std::string tool = entry.path().string() + "/pkg/tool/linux_amd64/pprof";
    if (entry.path().filename().string().starts_with("go-") && ::access(tool.c_str(), X_OK) == 0) pprof = tool;
  }
  if (pprof.empty()) JTRACE_SKIP("pprof", "no package golang-go with its pprof");
  const ScratchDir folder;
  const CommandOutput done = profile({"--duration", "1", "--hz", "199", "-o", folder.file("a.pb.gz")});
  ASSERT_EQ(done.status, 0) << done.err;
  const CommandOutput top = must(run_command({pprof, "-top", folder.file("a.pb.gz")}));
  EXPECT_EQ(top.status, 0) << top.err;
  EXPECT_THAT(top.out, HasSubstr("Parts.loop"));
  EXPECT_THAT(top.out, HasSubstr("Type: cpu"));
}

// Of threads that start and end between two looks nothing is left but the time of the process.
// Threads that each run for less than a period: with events of each thread no sample is theirs.
TEST_P(SamplingOfOne, TellsHowMuchIsInNoSample) {
  if (::getuid() != 0) JTRACE_SKIP("ptrace", "perf events of another process take root here");
  const auto jvm = must(JvmProcess::start(GetParam(), "Naps", {.arguments = {"0"}}));
  const auto jtrace = must(BackgroundCommand::start({jtrace_binary(), "profile", jvm->pid_text(), "--wall"}));
  ASSERT_TRUE(jtrace->wait_err_line("jtrace: recording", std::chrono::seconds(60))) << jtrace->err();
  for (int i = 0; i < 3; ++i) must(jvm->ask("work"));
  jtrace->signal(SIGINT);
  EXPECT_THAT(must(jtrace->wait_exit()), ::testing::AnyOf(0, 9)) << jtrace->err();
  EXPECT_THAT(jtrace->err(),
              HasSubstr(" are in no sample: of threads that ran for less than a sampling period (10.1 ms)"));
}

// The frame of who runs is by samples, that of who sleeps is read in memory.
TEST_P(Sampling, IsWhatTopHasItsFramesFrom) {
  start(true);
  ASSERT_TRUE(jvm_);
  const CommandOutput done =
      must(run_jtrace({"top", jvm_->pid_text(), "--count", "1", "--interval", "3", "--rows", "0", "--format", "json"}));
  ASSERT_THAT(done.status, ::testing::AnyOf(0, 9)) << done.err;
  const auto table = nlohmann::json::parse(done.out, nullptr, false);
  ASSERT_TRUE(table.contains("data")) << done.out;
  EXPECT_EQ(table["complete"], done.status == 0) << done.out;
  EXPECT_EQ(table["pauseMicros"], 0);
  std::size_t samples = 0, in_parts = 0, asleep = 0;
  for (const auto& row : table["data"]) {
    samples += row.value("samples", 0u);
    EXPECT_TRUE(!row.contains("samples") || !row.contains("frame") || row["frameSamples"] > 0) << row;
    if (row.value("frame", "").starts_with("Parts.")) in_parts += row.value("frameSamples", 0u);
    asleep += row["name"] == "main" && !row.contains("samples") && row.contains("frame") ? 1 : 0;
  }
  EXPECT_GE(samples, 10u) << done.out;
  EXPECT_GT(in_parts, 0u) << done.out;
  EXPECT_EQ(asleep, 1u) << "main waits for a command\n" << done.out;
}

TEST_P(SamplingOfOne, IsWhatTopDoesUnlessItIsToStopThreads) {
  start();
  ASSERT_TRUE(jvm_);
  const CommandOutput done =
      must(run_jtrace({"top", jvm_->pid_text(), "--count", "1", "--interval", "300ms", "--ptrace"}));
  EXPECT_THAT(done.status, ::testing::AnyOf(0, 9)) << done.err;
  EXPECT_THAT(done.out, HasSubstr("; the target was stopped for "));
}

TEST_P(SamplingOfOne, TopTellsWhatThreadsUsedThatHaveEnded) {
  if (::getuid() != 0) JTRACE_SKIP("ptrace", "another process is stopped");
  const auto jvm = must(JvmProcess::start(GetParam(), "Naps", {.arguments = {"0"}}));
  const std::vector<std::string> words = {"top", jvm->pid_text(), "--count", "1", "--interval", "1", "--rows", "100"};
  std::vector<std::string> argv = {jtrace_binary()};
  argv.insert(argv.end(), words.begin(), words.end());
  argv.insert(argv.end(), {"--format", "json"});
  const CommandOutput still = must(run_jtrace(words));
  EXPECT_THAT(still.status, ::testing::AnyOf(0, 9)) << still.err;
  EXPECT_THAT(still.out, Not(HasSubstr("have ended")));
  const auto top = must(BackgroundCommand::start(argv));
  while (top->alive()) must(jvm->ask("work"));
  EXPECT_THAT(must(top->wait_exit()), ::testing::AnyOf(0, 9)) << top->err();
  const auto table = nlohmann::json::parse(top->out(), nullptr, false);
  ASSERT_TRUE(table.contains("endedCpuShare")) << top->out();
  EXPECT_GT(table["endedCpuShare"].get<double>(), 0.02);
}

TEST_P(SamplingOfOne, OfSeveralJvmsHasEachAsTheOutermostFrame) {
  start();
  ASSERT_TRUE(jvm_);
  const auto other = must(JvmProcess::start(GetParam(), "Parts"));
  must(other->ask("start 1"));
  const CommandOutput done = profile({other->pid_text(), "--hz", "199", "--duration", "1", "--format", "collapsed"});
  EXPECT_EQ(done.status, 0) << done.err;
  for (const JvmProcess* jvm : {jvm_.get(), other.get()})
    EXPECT_THAT(done.out, HasSubstr("Parts (" + jvm->pid_text() + ");"));
  EXPECT_THAT(done.err, HasSubstr("2 JVMs"));
}

}  // namespace
}  // namespace jtrace::test
