// `jtrace inspect histogram` of busy JVMs, which allocate as fast as they can or collect without a pause; and the costs
// of reading a heap for its JVM.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/live/heap_peers.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr int kTimes = 3;

class HeapUnderPressure : public ::testing::TestWithParam<JdkAndCollector> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  }
  void start(const std::vector<std::string>& flags) {
    auto all = GetParam().jdk.collector_flags(GetParam().collector);
    all.insert(all.end(), flags.begin(), flags.end());
    auto jvm = must(JvmProcess::start(GetParam().jdk, "HeapZoo", attachable(GetParam().jdk, all)));
    jvm_ = std::move(jvm);
  }
  // Each time there is an answer that says how it was made; it has the 20,000 nodes that the program keeps.
  void expect_answers() {
    std::map<std::string, int> ways;
    for (int i = 0; i < kTimes; ++i) {
      const auto done = must(run_jtrace({"inspect", jvm_->pid_text(), "histogram", "--format", "json"}));
      ASSERT_THAT(done.status, AnyOf(0, 9)) << done.err;  // 9: bytes that were being allocated, and are counted
      ASSERT_TRUE(json::accept(done.out)) << done.err;
      const json document = json::parse(done.out);
      const std::string mode = document["heap"]["mode"];
      ++ways[mode];
      if (mode == "stopped") {
        EXPECT_GT(document["heap"]["pauseMicros"], 0);
        EXPECT_LE(document["heap"]["pauseMicros"], 600'000) << "the bound is 200 ms; the rest is the machine's";
        // An object that a thread was allocating, or the buffer that it was about to take.
        EXPECT_LT(document["heap"]["unparsableBytes"], 16u << 20) << document["heap"];
        EXPECT_NEAR(static_cast<double>(histogram_of_json(document)["HeapZoo$Node"].instances), 20'000, 400)
            << document["heap"];
      } else {
        EXPECT_EQ(mode, "running");
        EXPECT_NE(document["heap"]["whyRunning"], "");
      }
    }
    std::printf("%s: ", NameOf::name(GetParam()).c_str());
    for (const auto& [mode, count] : ways) std::printf("%d %s ", count, mode.c_str());
    std::printf("\n");
    EXPECT_TRUE(jvm_->alive());
    must(jvm_->ask("calm"));
  }
  std::unique_ptr<JvmProcess> jvm_;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HeapUnderPressure);
INSTANTIATE_TEST_SUITE_P(Jvms, HeapUnderPressure, ::testing::ValuesIn(jdks_and_collectors()), NameOf());

TEST_P(HeapUnderPressure, GivesAnAnswerWhileTheProgramAllocatesAsFastAsItCan) {
  start({"-Xmx512m"});
  if (!jvm_) return;
  must(jvm_->ask("churn 4"));
  expect_answers();
  record_support(GetParam().jdk, to_string(GetParam().collector), "live", "heap: histogram under allocation");
}

TEST_P(HeapUnderPressure, GivesAnAnswerWhileTheProgramCollectsAllTheTime) {
  start({"-Xmx96m"});
  if (!jvm_) return;
  must(jvm_->ask("collect 2"));
  expect_answers();
  record_support(GetParam().jdk, to_string(GetParam().collector), "live", "heap: histogram under collections");
}

class HeapPages : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(HeapPages);

std::uint64_t kib_of(const JvmProcess& jvm, const std::string& key) {
  const auto status = read_file("/proc/" + jvm.pid_text() + "/status");
  const std::size_t at = status ? status->find(key + ":") : std::string::npos;
  return at == std::string::npos ? 0 : std::stoull(status->substr(at + key.size() + 1));
}

std::string object_of(const JvmProcess& jvm) {
  const auto done = must(run_jtrace({"inspect", jvm.pid_text(), "statics", "HeapZoo"}));
  const std::size_t at = done.out.find("HeapZoo$Target@") + 15;
  return done.out.substr(at, done.out.find_first_of(" \n", at) - at);
}

// A thread takes an allocation buffer of 256 MiB and hardly touches it: half a gigabyte is used but not resident.
TEST_P(HeapPages, ThatWereNeverTouchedStaySo) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  const std::vector<std::string> flags = {"-XX:+UseSerialGC", "-Xms1500m",         "-Xmx1500m",
                                          "-Xmn1300m",        "-XX:TLABSize=256m", "-XX:-ResizeTLAB"};
  const auto jvm = must(JvmProcess::start(GetParam(), "HeapZoo", attachable(GetParam(), flags)));
  const ScratchDir folder;
  const std::vector<std::vector<std::string>> commands = {{"histogram", "--max-stop", "20000"},
                                                          {"histogram", "--no-stop"},
                                                          {"regions", "--no-stop"},
                                                          {"heapdump", "--max-stop", "20000", "-o", folder.file("h")},
                                                          {"refs", object_of(*jvm), "--max-stop", "20000"}};
  for (std::vector<std::string> words : commands) {
    const std::uint64_t tables = kib_of(*jvm, "VmPTE"), resident = kib_of(*jvm, "VmRSS");
    words.insert(words.begin(), {"inspect", jvm->pid_text()});
    words.insert(words.end(), {"--format", "json"});
    const auto done = must(run_jtrace(words));
    ASSERT_EQ(done.status, 0) << words[2] << done.err;
    const json document = json::parse(done.out);
    EXPECT_GT(document["heap"]["holeBytes"], 200u << 20) << words[2];
    EXPECT_EQ(document["heap"]["unreadableBytes"], 0) << words[2];
    if (words[2] == "histogram") {
      EXPECT_EQ(histogram_of_json(document)["HeapZoo$Node"].instances, 20'000u);
    }
    // A page table of 4 KiB for each 2 MiB: reading all pages would add more than 512.
    EXPECT_LT(kib_of(*jvm, "VmPTE"), tables + 64) << words[2];
    EXPECT_LT(kib_of(*jvm, "VmRSS"), resident + 4096) << words[2];
  }
}

}  // namespace
}  // namespace jtrace::test
