// What keeps memory, in a heap of which it is known: live, in a dump of ours, and in one that the JVM wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/live/heap_peers.h"
#include "tests/testlib/must.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr std::uint64_t kHolders = 1000, kLinks = 200'000;

class HeapGraph : public ::testing::TestWithParam<JdkAndCollector> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
    auto flags = GetParam().jdk.collector_flags(GetParam().collector);
    flags.push_back("-Xmx256m");
    jvm_ = must(JvmProcess::start(GetParam().jdk, "Keeps", attachable(GetParam().jdk, flags)));
  }
  json ask(const std::string& target, std::vector<std::string> words) {
    return inspect_heap(target, target == jvm_->pid_text(), std::move(words));
  }
  // The row of a class.
  static json row(const json& document, const std::string& name) {
    for (const json& each : document["data"])
      if (each["class"] == name) return each;
    ADD_FAILURE() << "no " << name;
    return {{"objects", 0}, {"shallow", 0}, {"retained", 0}, {"instances", 0}};
  }
  void expect_what_it_keeps(const std::string& target) {
    SCOPED_TRACE(target);
    const json document = ask(target, {"retained", "--filter", "Keeps*"});
    const json holders = row(document, "Keeps$Holder");
    EXPECT_EQ(holders["objects"], kHolders);
    const auto own = holders["shallow"].get<std::uint64_t>(), all = holders["retained"].get<std::uint64_t>();
    EXPECT_GE(all - own, kHolders * 1008) << "an array of 1,000 bytes with its header";
    EXPECT_LE(all - own, kHolders * 1024);
    const json links = row(document, "Keeps$Link");
    EXPECT_EQ(links["objects"], kLinks);
    EXPECT_EQ(links["retained"], links["shallow"]) << "each link retains the rest: counted once";
    const json shared = row(document, "Keeps$Shared");
    EXPECT_EQ(shared["retained"], shared["shallow"]) << "neither of the two retains what both refer to";
    EXPECT_GE(row(document, "Keeps$Common")["retained"].get<std::uint64_t>(), 5000u);
    expect_held(target, "Keeps$Softly", "soft");
    expect_held(target, "Keeps$Weakly", "weak");
    expect_held(target, "Keeps$Common", "strong");
    expect_paths(target);
  }
  // Roots of frames are conservative: a word that a frame has not written may still refer to an object.
  void expect_held(const std::string& target, const std::string& name, const std::string& how) {
    const json path = ask(target, {"paths", name})["data"][0];
    EXPECT_TRUE(path["held"] == how || path["path"].back().value("field", "") == "<local>") << path;
  }
  void expect_paths(const std::string& target) {
    const json holder = ask(target, {"paths", "Keeps$Holder", "--top", "1"})["data"][0];
    std::vector<std::string> fields;
    for (const json& step : holder["path"])
      if (step.contains("field")) fields.push_back(step["field"]);
    EXPECT_THAT(fields, ::testing::Contains("static CACHE"));
    EXPECT_EQ(holder["path"].back()["class"], "Keeps$Holder");
    EXPECT_EQ(holder["root"], "class of the app loader");
    EXPECT_EQ(holder["heldBy"], "static Keeps.CACHE");
    EXPECT_GE(holder["objects"], kHolders - 10) << "a frame may hold one";
    const json local = ask(target, {"paths", "Keeps$Local"})["data"][0];
    EXPECT_THAT(local["root"].get<std::string>(), HasSubstr("thread"));
    EXPECT_EQ(local["path"].back()["field"], "<local>");
  }
  // Files of heap dumps.
  std::string dump_of_ours(const ScratchDir& folder);
  std::string dump_of_the_jvm(const ScratchDir& folder);
  void expect_what_a_collection_leaves();

  std::unique_ptr<JvmProcess> jvm_;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HeapGraph);
INSTANTIATE_TEST_SUITE_P(Jvms, HeapGraph, ::testing::ValuesIn(jdks_and_collectors()), NameOf());

// The JVM frees what is not reachable before it counts.
void HeapGraph::expect_what_a_collection_leaves() {
  const json ours = ask(jvm_->pid_text(), {"histogram", "--reachable"});
  const auto told = must(run_jtrace({"cmd", jvm_->pid_text(), "inspectheap"}));
  ASSERT_EQ(told.status, 0) << told.err;
  const Histogram theirs = parse_class_histogram(told.out);
  std::uint64_t all = 0, differ = 0;
  const Histogram mine = histogram_of_json(ours);
  for (const auto& [name, count] : without_fillers(theirs)) {
    const auto found = mine.find(name);
    const std::uint64_t here = found == mine.end() ? 0 : found->second.instances;
    all += count.instances;
    differ += here > count.instances ? here - count.instances : count.instances - here;
    // A concurrent collector may keep what only a weak reference holds until its next cycle.
    const bool exact = name.starts_with("Keeps$") && name.find("Lambda") == name.npos && name != "Keeps$Weakly";
    EXPECT_TRUE(!exact || here == count.instances) << name << ": " << here << ", " << count;
    // Objects of one class have one size, also if it has padding (Thread) or fields of the VM (ClassLoader).
    const bool one_size = name.front() != '[' && name != "java.lang.Class" && !name.ends_with("StackChunk");
    EXPECT_TRUE(!one_size || here != count.instances || found->second.bytes == count.bytes)
        << name << ": " << found->second.bytes << " bytes, " << count;
  }
  EXPECT_GE(all, kLinks);
  // Before 17 some of the VM's own references are in no table, nor do archived strings need any.
  EXPECT_LE(differ, all / (GetParam().jdk.version < 17 ? 10 : 100));
}

std::string HeapGraph::dump_of_ours(const ScratchDir& folder) {
  std::string path = folder.file("ours.hprof");
  const auto done = must(run_jtrace({"inspect", jvm_->pid_text(), "heapdump", "-o", path, "--max-stop", "20000"}));
  EXPECT_EQ(done.status, 0) << done.err;
  return path;
}

std::string HeapGraph::dump_of_the_jvm(const ScratchDir& folder) {
  const std::string inside = "/tmp/theirs-" + jvm_->pid_text() + ".hprof";
  const auto done = must(run_jtrace({"cmd", jvm_->pid_text(), "dumpheap", inside, "-all"}));
  EXPECT_EQ(done.status, 0) << done.err;
  std::string path = folder.file("theirs.hprof");
  const std::string seen = jvm_->inside(inside);
  EXPECT_TRUE(std::filesystem::copy_file(seen, path));
  std::filesystem::remove(seen);
  return path;
}

// One JVM for all: what takes the time is its start. The collection comes last: it frees what is held softly or weakly.
TEST_P(HeapGraph, OfAJvmAndOfItsDumpsKnowsWhoKeepsWhat) {
  const ScratchDir folder;
  expect_what_it_keeps(jvm_->pid_text());
  expect_what_it_keeps(dump_of_ours(folder));
  expect_what_it_keeps(dump_of_the_jvm(folder));
  expect_what_a_collection_leaves();
  record_support(GetParam().jdk, to_string(GetParam().collector), "live", "heap: retained sizes, dominators, paths");
}

}  // namespace
}  // namespace jtrace::test
