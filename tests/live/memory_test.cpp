// `jtrace inspect memory` on every JDK and collector: what is in memory has an owner, the rows add up to the kernel's
// RSS, and what a program allocates is in the right row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/file.h"
#include "tests/live/core_folder.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr std::uint64_t kMiB = 1u << 20;

json memory_of(const std::string& target, int status, const std::vector<std::string>& words = {}) {
  std::vector<std::string> all = {"inspect", target, "memory", "--format", "json"};
  all.insert(all.end(), words.begin(), words.end());
  const CommandOutput done = must(run_jtrace(all));
  EXPECT_EQ(done.status, status) << done.err;
  if (!json::accept(done.out)) end_test("not JSON: " + done.out + done.err, __FILE__, __LINE__);
  return json::parse(done.out);
}

std::uint64_t figure(const json& document, std::string_view part, const char* key) {
  for (const json& row : document["data"])
    if (row["part"] == part) return row[key].get<std::uint64_t>();
  return 0;
}
std::uint64_t resident(const json& document, std::string_view part) { return figure(document, part, "resident"); }
std::uint64_t bytes(const json& document, std::string_view part) { return figure(document, part, "bytes"); }
std::uint64_t in_malloc(const json& document) {
  return resident(document, "malloc, main heap") + resident(document, "malloc, arenas") +
         resident(document, "malloc, large blocks");
}

// A figure in kB of a file of /proc/PID, in bytes.
std::uint64_t kernel_figure(const JvmProcess& jvm, const char* file, const std::string& key) {
  std::istringstream text(must(read_file("/proc/" + jvm.pid_text() + "/" + file)));
  for (std::string word; text >> word;)
    if (std::uint64_t kib = 0; word == key && text >> kib) return kib << 10;
  return 0;
}
std::uint64_t rss_of(const JvmProcess& jvm) { return kernel_figure(jvm, "smaps_rollup", "Rss:"); }

class EachMemory : public ::testing::TestWithParam<JdkAndCollector> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
    std::vector<std::string> flags = GetParam().jdk.collector_flags(GetParam().collector);
    flags.insert(flags.end(), {"-Xms64m", "-Xmx256m", "-Xss1m"});
    jvm_ = must(JvmProcess::start(GetParam().jdk, "MemoryOwners", attachable(GetParam().jdk, flags)));
  }
  json look() const {
    std::vector<std::string> words = {"inspect", jvm_->pid_text(), "memory", "--format", "json"};
    const CommandOutput done = must(run_jtrace(words));
    EXPECT_EQ(done.status, 0) << done.err;
    if (!json::accept(done.out)) end_test("not JSON: " + done.out + done.err, __FILE__, __LINE__);
    return json::parse(done.out);
  }
  std::unique_ptr<JvmProcess> jvm_;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachMemory);
INSTANTIATE_TEST_SUITE_P(Jdks, EachMemory, ::testing::ValuesIn(jdks_and_collectors()), NameOf());

TEST_P(EachMemory, HasAnOwnerForWhatIsInMemory) {
  for (const char* command : {"heap 40", "direct 10", "threads 5"}) must(jvm_->ask(command));
  const std::uint64_t before = rss_of(*jvm_);
  const json document = look();
  const std::uint64_t after = rss_of(*jvm_);
  const json& memory = document["memory"];
  std::uint64_t sum = 0;
  double shares = 0;
  for (const json& row : document["data"]) {
    sum += row["resident"].get<std::uint64_t>();
    shares += row["share"].get<double>();
    EXPECT_LE(row["resident"], row["bytes"]) << row;
  }
  EXPECT_EQ(sum, memory["resident"]);
  EXPECT_EQ(sum + memory["countedAgain"].get<std::uint64_t>(), memory["rss"]);
  EXPECT_NEAR(shares, 1, 1e-6);
  EXPECT_GE(memory["rss"], std::min(before, after) - 2 * kMiB);
  EXPECT_LE(memory["rss"], std::max(before, after) + 2 * kMiB);
  EXPECT_LE(resident(document, "not attributed") * 50, sum) << document;
  for (const char* part : {"metaspace", "code cache", "thread stacks, Java", "thread stacks, others",
                           "shared libraries", "malloc, arenas", "hsperfdata"})
    EXPECT_GT(resident(document, part), 0u) << part;
  record_support(GetParam().jdk, to_string(GetParam().collector), "live", "memory: 98 % of RSS has an owner");
}

TEST_P(EachMemory, CountsTheHeapAsTheJvmDoes) {
  must(jvm_->ask("heap 40"));
  const json document = look();
  std::istringstream pools(must(jvm_->ask("pools")));
  std::uint64_t used = 0, committed = 0, survivor = 0;
  pools >> used >> committed >> survivor;
  // Two survivor spaces are committed, of which the pools have one.
  const bool two = GetParam().collector == Collector::kSerial || GetParam().collector == Collector::kParallel;
  const auto of_jvm = static_cast<double>(committed + (two ? survivor : 0));
  const std::uint64_t ours = bytes(document, "Java heap, used") + bytes(document, "Java heap, committed and not used");
  // The ZGC of JDK 11 keeps pages committed that it has freed.
  const bool z_of_11 = GetParam().collector == Collector::kZ && GetParam().jdk.version == 11;
  const double least = z_of_11 ? 40 * kMiB : of_jvm - 4 * kMiB;
  EXPECT_GE(static_cast<double>(ours), least) << document;
  EXPECT_LE(static_cast<double>(ours), of_jvm + 4 * kMiB) << document;
  EXPECT_GE(bytes(document, "Java heap, used"), 40 * kMiB);
  const std::uint64_t in_memory =
      resident(document, "Java heap, used") + resident(document, "Java heap, committed and not used");
  EXPECT_GE(in_memory, 40 * kMiB);
  EXPECT_LE(in_memory, ours);
}

TEST_P(EachMemory, HasEachAllocationInItsRow) {
  must(jvm_->ask("direct 1"));
  must(jvm_->ask("threads 1"));
  must(jvm_->ask("map 1"));
  const json before = look();
  must(jvm_->ask("direct 24"));
  must(jvm_->ask("threads 20"));
  must(jvm_->ask("map 16"));
  const json after = look();
  EXPECT_EQ(after["memory"]["direct"]["buffers"], 25);
  EXPECT_EQ(after["memory"]["direct"]["capacity"], 25 * kMiB);
  // The JVM's compiler takes some MiB of malloc's memory too when it likes.
  EXPECT_GE(resident(after, "malloc, large blocks"), resident(before, "malloc, large blocks") + 24 * kMiB);
  EXPECT_GE(after["memory"]["malloc"]["largeBlocks"], 25);
  EXPECT_LE(in_malloc(after), in_malloc(before) + 40 * kMiB);
  EXPECT_NEAR(
      static_cast<double>(resident(after, "mapped files")) - static_cast<double>(resident(before, "mapped files")),
      15 * kMiB, 2 * kMiB)
      << "the second mapping is of the same file";
  const std::uint64_t stacks = bytes(after, "thread stacks, Java") - bytes(before, "thread stacks, Java");
  EXPECT_GE(stacks, 20 * kMiB);
  EXPECT_LE(stacks, 22 * kMiB);
  EXPECT_GE(resident(after, "thread stacks, Java"), resident(before, "thread stacks, Java") + 20 * 8192);
}

TEST_P(EachMemory, MakesNoPageAppear) {
  must(jvm_->ask("heap 10"));
  // The JVM's own threads (collections, compilers) touch pages too: until they have nothing to do.
  std::uint64_t rss = 0, tables = 0;
  for (int same = 0, tries = 0; same < 5 && tries < 200; ++tries) {
    const std::uint64_t now = rss_of(*jvm_);
    same = now == rss ? same + 1 : 0;
    rss = now;
    tables = kernel_figure(*jvm_, "status", "VmPTE:");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  look();
  EXPECT_LE(kernel_figure(*jvm_, "status", "VmPTE:"), tables + (64u << 10));
  EXPECT_LE(rss_of(*jvm_), rss + 2 * kMiB);
  EXPECT_TRUE(jvm_->alive());
}

class Memory : public ::testing::Test {
 protected:
  void start(const std::vector<std::string>& flags = {}) {
    const auto jdk = any_jdk();
    if (!jdk) JTRACE_SKIP("live", "no JDK on this machine");
    if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
    jvm_ = must(JvmProcess::start(*jdk, "MemoryOwners", attachable(*jdk, flags)));
  }
  std::unique_ptr<JvmProcess> jvm_;
};

TEST_F(Memory, IsATableWithATotalAndTheGroupsLimit) {
  start({"-Xmx64m"});
  if (!jvm_) return;
  const CommandOutput done = must(run_jtrace({"inspect", jvm_->pid_text(), "memory"}));
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, ::testing::ContainsRegex("bytes +resident +share"));
  EXPECT_THAT(done.out, ::testing::ContainsRegex("100.0 %.*  total\n"));
  EXPECT_THAT(done.out, HasSubstr("Java heap, used"));
  const json document = memory_of(jvm_->pid_text(), 0);
  const json& group = document["memory"]["cgroup"];
  if (group.is_null()) GTEST_SKIP() << "no control group with memory on this machine";
  EXPECT_THAT(done.out, HasSubstr("control group (version " + group["version"].dump()));
  const bool first = group["version"] == 1;
  const std::string folder = group["path"].get<std::string>();
  const auto used = read_file(folder + (first ? "/memory.usage_in_bytes" : "/memory.current"));
  ASSERT_TRUE(succeeded(used));
  EXPECT_GT(group["used"], 0);
  EXPECT_EQ(group.contains("limit"), done.out.find("; limit ") != done.out.npos);
}

TEST_F(Memory, OfZgcIsCountedOnceAlthoughTheHeapIsMappedThreeTimes) {
  const auto jdk = jdk_of_version(17) ? jdk_of_version(17) : jdk_of_version(21);
  if (!jdk) JTRACE_SKIP("zgc-views", "neither JDK 17 nor 21 is among those of this run");
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  jvm_ = must(JvmProcess::start(*jdk, "MemoryOwners", attachable(*jdk, {"-XX:+UseZGC", "-Xmx128m"})));
  must(jvm_->ask("heap 40"));
  must(jvm_->ask("gc 3"));  // the views of further colours are touched
  const json document = memory_of(jvm_->pid_text(), 0);
  const json& memory = document["memory"];
  EXPECT_EQ(memory["heapViews"], 3);
  EXPECT_GT(memory["countedAgain"], kMiB) << memory;
  const std::uint64_t heap =
      resident(document, "Java heap, used") + resident(document, "Java heap, committed and not used");
  EXPECT_GE(heap, 40 * kMiB);
  EXPECT_LE(heap, 128 * kMiB);
  EXPECT_THAT(must(run_jtrace({"inspect", jvm_->pid_text(), "memory"})).out, HasSubstr("maps its heap 3 times"));
}

TEST_F(Memory, OfACoreHasAddressesAndSaysWhatIsMissing) {
  const std::string no_core = why_no_kernel_core();
  if (!no_core.empty()) JTRACE_SKIP("live", no_core);
  start({"-Xmx64m"});
  if (!jvm_) return;
  must(jvm_->ask("heap 20"));
  const CoreFolder folder(*jvm_);
  jvm_->signal(SIGABRT);
  EXPECT_TRUE(succeeded(jvm_->wait_exit()));
  ASSERT_NE(folder.core(), "");
  const json document = memory_of(folder.core(), 9);
  EXPECT_GE(bytes(document, "Java heap, used"), 20 * kMiB);
  EXPECT_GT(bytes(document, "thread stacks, Java"), kMiB);
  EXPECT_GT(bytes(document, "shared libraries"), kMiB);
  EXPECT_FALSE(document["data"][0].contains("resident"));
  EXPECT_THAT(document["missing"].dump(), HasSubstr("only addresses, not what was in memory"));
}

}  // namespace
}  // namespace jtrace::test
