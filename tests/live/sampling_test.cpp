// jtrace profile against programs that know what they do: shares of CPU time, whole stacks, and that nobody is stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/file.h"
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
  // `compiled`: what it does goes on in compiled code by then.
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
    ASSERT_EQ(done.status, 0) << done.err;
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
  over = true;
  watcher.join();
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("frame\n"));
  EXPECT_GT(looks, 100u);
  EXPECT_EQ(traced, 0u);
}

TEST_P(Sampling, WritesWhatTheNameOfTheFileSays) {
  start();
  ASSERT_TRUE(jvm_);
  const ScratchDir folder;
  const auto written = [&](const std::string& name) {
    const std::string path = folder.file(name);
    const CommandOutput done = profile({"--duration", "1", "--hz", "199", "-o", path});
    EXPECT_EQ(done.status, 0) << done.err;
    return read_file(path).value_or("");
  };
  EXPECT_THAT(written("a.collapsed"), HasSubstr(";Parts.loop;"));
  const auto speedscope = nlohmann::json::parse(written("a.speedscope.json"), nullptr, false);
  ASSERT_TRUE(speedscope.is_object());
  EXPECT_GE(speedscope["profiles"].size(), 2u);
  EXPECT_TRUE(written("a.pb.gz").starts_with("\x1f\x8b"));
  EXPECT_THAT(written("a.html"), HasSubstr("Parts.loop"));
  EXPECT_THAT(written("a.xml"), HasSubstr("methodEntry"));
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

}  // namespace
}  // namespace jtrace::test
