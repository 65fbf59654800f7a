// Further forms of the answers about a heap: events, a page, comparisons by what holds the memory, a dump without
// garbage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/live/heap_peers.h"
#include "tests/testlib/must.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class HeapForms : public ::testing::TestWithParam<Jdk> {
 protected:
  void start(std::vector<std::string> leaks) {
    if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
    JvmOptions options = attachable(GetParam(), {"-Xmx256m", "-XX:+UseSerialGC"});
    options.arguments = std::move(leaks);
    jvm_ = must(JvmProcess::start(GetParam(), "Leaks", options));
  }
  std::string run(std::vector<std::string> words, const std::string& file = "") {
    words.insert(words.end(), {"--max-stop", "20000"});
    if (!file.empty()) words.insert(words.end(), {"-o", folder_.file(file)});
    const auto done = must(run_jtrace(words, {.timeout = std::chrono::minutes(3)}));
    EXPECT_EQ(done.status, 0) << done.err;
    return file.empty() ? done.out : folder_.file(file);
  }
  ScratchDir folder_;
  std::unique_ptr<JvmProcess> jvm_;
};
JTRACE_ON_EACH_JDK(HeapForms);

std::size_t values_in(const std::string& path) {
  const std::string text = must(read_file(path, 1u << 30));
  std::size_t count = 0;
  for (std::size_t at = text.find("<value "); at != text.npos; at = text.find("<value ", at + 1)) ++count;
  return count;
}

TEST_P(HeapForms, AnswersAreValuesOfTheEventLanguage) {
  start({"map"});
  const std::string dump = run({"inspect", jvm_->pid_text(), "heapdump"}, "ours.hprof");
  for (const std::string& target : {jvm_->pid_text(), dump})
    for (const std::vector<std::string>& words : {std::vector<std::string>{"retained"},
                                                  {"dominators"},
                                                  {"leaks"},
                                                  {"waste", "--rows", "5"},
                                                  {"histogram", "--reachable"}}) {
      SCOPED_TRACE(target + " " + words.front());
      std::vector<std::string> asked = {"inspect", target};
      asked.insert(asked.end(), words.begin(), words.end());
      asked.insert(asked.end(), {"--format", "xml"});
      const std::string path = run(asked, "answer.xml");
      const auto valid = must(run_jtrace({"validate", path}));
      EXPECT_EQ(valid.status, 0) << valid.out << valid.err;
      const std::size_t rows = inspect_heap(target, target != dump, words)["data"].size();
      // Of a JVM that runs, a class may have come or gone between the two.
      EXPECT_NEAR(static_cast<double>(values_in(path)), static_cast<double>(rows), target == dump ? 0 : 20);
      EXPECT_GE(values_in(path), 1u);
    }
  const std::string leaks = must(read_file(run({"inspect", dump, "leaks", "--format", "xml"}, "leaks.xml"), 1u << 20));
  EXPECT_THAT(leaks, HasSubstr("<value name=\"accumulation\""));
  EXPECT_THAT(leaks, HasSubstr("leaks holder=&quot;static Leaks.SESSIONS&quot; class=java.util.HashMap"));
}

TEST_P(HeapForms, APageIsMadeOfALiveHeap) {
  start({"map", "loaders"});
  const std::string page = run({"heap", jvm_->pid_text()}, "heap.html");
  const std::string text = must(read_file(page, 1u << 30));
  EXPECT_LT(text.size(), 5'000'000u);
  for (const char* part : {"held by static Leaks.SESSIONS", "Leaks$PluginLoader", "static SESSIONS", "byObject"})
    EXPECT_THAT(text, HasSubstr(part));
}

json row_of(const json& document, const std::string& key, const std::string& end) {
  for (const json& row : document["data"])
    if (row[key].get<std::string>().ends_with(end)) return row;
  ADD_FAILURE() << "no " << end;
  return {};
}

TEST_P(HeapForms, ComparedByLoaderAndByWhatKeepsIt) {
  start({"listeners"});
  const std::string before = run({"inspect", jvm_->pid_text(), "heapdump"}, "before.hprof");
  must(jvm_->ask("map"));
  must(jvm_->ask("loaders"));
  const auto diff = [&](const std::string& by) {
    return json::parse(run({"heap", "diff", before, jvm_->pid_text(), "--by", by, "--format", "json"}));
  };
  const json loader = row_of(diff("loader"), "loader", "Leaks$PluginLoader");
  EXPECT_EQ(loader["loaders"], 12);
  EXPECT_EQ(loader["before"]["loaders"], 0);
  EXPECT_GE(loader["retained"], 12 * 300'000) << "the load of each plug-in";
  const json paths = diff("path");
  const json path = row_of(paths, "path", "Leaks$Session");
  EXPECT_THAT(path["path"].get<std::string>(), HasSubstr("java.util.HashMap > "));
  EXPECT_EQ(path["before"]["retained"], 0);
  EXPECT_GE(path["retained"], 1'000'000);
  std::string last;
  for (const json& row : paths["data"]) {
    if (const std::string own = row["path"]; row["depth"] > 0) {
      const std::string above = own.substr(0, own.rfind(" > "));
      EXPECT_TRUE(last.starts_with(above)) << own << " stands below " << last;
    }
    last = row["path"];
  }
  const json package = diff("package");
  EXPECT_GE(row_of(package, "package", "(no package)")["retained"], 20'000 * 1000);
  const json threads = inspect_heap(jvm_->pid_text(), true, {"retained", "--by", "thread"});
  EXPECT_GE(row_of(threads, "thread", "plugin-3")["retained"], 16) << "itself";
}

// Classes always stay in a dump.
std::uint64_t unreachable_classes(const std::string& dump) {
  std::uint64_t count = 0;
  for (const bool reachable : {false, true}) {
    std::vector<std::string> words = {"histogram", "--class", "java.lang.Class"};
    if (reachable) words.emplace_back("--reachable");
    const json document = inspect_heap(dump, false, words);
    for (const json& row : document["data"])
      if (row["class"] == "java.lang.Class")
        count = reachable ? count - row["instances"].get<std::uint64_t>() : row["instances"].get<std::uint64_t>();
  }
  return count;
}

TEST_P(HeapForms, ADumpOfWhatIsReachableHasNoGarbage) {
  start({"listeners"});
  const std::string all = run({"inspect", jvm_->pid_text(), "heapdump"}, "all.hprof"),
                    live = run({"inspect", jvm_->pid_text(), "heapdump", "--reachable"}, "live.hprof"),
                    again = run({"inspect", all, "heapdump", "--reachable"}, "again.hprof");
  const json before = inspect_heap(all, false, {"retained", "--rows", "1"});
  ASSERT_GT(before["held"]["garbage"]["objects"], 0);
  for (const std::string& path : {live, again}) {
    const json after = inspect_heap(path, false, {"retained", "--rows", "1"});
    EXPECT_EQ(after["held"]["garbage"]["objects"], unreachable_classes(path)) << path;
    EXPECT_EQ(after["data"][0]["class"], before["data"][0]["class"]);
  }
  const json after = inspect_heap(again, false, {"retained"});
  EXPECT_EQ(after["held"]["strong"], before["held"]["strong"]);
  EXPECT_LT(std::filesystem::file_size(again), std::filesystem::file_size(all));
}

}  // namespace
}  // namespace jtrace::test
