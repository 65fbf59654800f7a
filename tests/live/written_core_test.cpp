// `jtrace core`: the core of a JVM that stands still has the answers that the JVM itself gives: whole, and small on a
// machine without any of its files. The JDK's own jhsdb opens it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "target/process.h"
#include "target/standstill.h"
#include "tests/live/inspect_peers.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class EachJvm : public ::testing::TestWithParam<JdkAndCollector> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachJvm);
INSTANTIATE_TEST_SUITE_P(Jdks, EachJvm, ::testing::ValuesIn(jdks_and_collectors()), NameOf());

// No part of a file may be needed: libraries are looked for in a folder that has none.
const std::vector<std::string> kNoFiles = {"--sysroot", "/proc/self/fdinfo"};
// The answers of a small core. `safepoint` and `info` name the target, and times.
const std::vector<std::string> kViews = {"threads",   "locks",   "flags",   "properties", "args",     "counters",
                                         "codecache", "classes", "loaders", "heap",       "vmstructs"};

std::string answer(const std::string& target, const std::string& view, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"inspect", target, view, "--format", "json"};
  words.insert(words.end(), more.begin(), more.end());
  const auto done = must(run_jtrace(words));
  EXPECT_EQ(done.status, 0) << target << " " << view << ": " << done.err;
  return done.out;
}

// Without the times of threads: a stop costs a stopped thread some, too.
json data(const std::string& text) {
  json rows = json::parse(text, nullptr, false)["data"];
  for (json& row : rows)
    if (row.is_object()) row.erase("cpu");
  return rows;
}

void write_core(const JvmProcess& jvm, const std::string& path, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {"core", jvm.pid_text(), "-o", path, "--max-stop", "10000"});
  const auto done = must(run_jtrace(options, {.timeout = std::chrono::minutes(3)}));
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("threads; stopped"));
}

// A JVM that SIGSTOP holds: its memory is that of one moment until SIGCONT.
class HeldJvm {
 public:
  explicit HeldJvm(const JdkAndCollector& which) {
    auto flags = which.jdk.collector_flags(which.collector);
    flags.insert(flags.end(), {"-Xmx64m", "-Dtest.text=a=b"});
    jvm_ = must(JvmProcess::start(which.jdk, "Standing", attachable(which.jdk, flags)));
    jvm_->signal(SIGSTOP);
    const auto process = must(target::Process::open(jvm_->pid()));
    target::Standstill still(process);
    for (int i = 0; i < 1000 && !still.is_still(); ++i) ::usleep(10'000);
  }
  ~HeldJvm() { jvm_->signal(SIGCONT); }
  const JvmProcess& operator*() const { return *jvm_; }
  JvmProcess* operator->() const { return jvm_.get(); }

 private:
  std::unique_ptr<JvmProcess> jvm_;
};

// All bytes are in the core, but names of native frames are in the files.
void expect_symbols_only_of_its_files(const std::string& core, const Jdk& jdk) {
  const ScratchDir empty;
  const auto stack = [&](const std::string& sysroot, const std::string& format) {
    return must(run_jtrace({"stack", core, "--sysroot", sysroot, "--format", format}));
  };
  const auto named = stack(jdk.root.value_or("/"), "text");
  EXPECT_THAT(named.err, ::testing::Not(HasSubstr("symbols"))) << named.err;
  const auto unnamed = stack(empty.path(), "json");
  EXPECT_EQ(unnamed.status, 9) << unnamed.err;
  EXPECT_THAT(unnamed.err, ::testing::AllOf(HasSubstr("missing: symbols of libjvm.so: "), HasSubstr("build id"),
                                            HasSubstr(empty.path())));
  const json document = json::parse(unnamed.out, nullptr, false);
  EXPECT_FALSE(document["complete"]);
  EXPECT_THAT(document["missing"].dump(), HasSubstr("symbols of libjvm.so"));
  const auto found = must(run_jtrace({"diagnose", core, "--sysroot", empty.path()}));
  EXPECT_THAT(found.err, HasSubstr("missing: symbols of libjvm.so: ")) << found.out;
  EXPECT_THAT(found.out, HasSubstr("symbols of libjvm.so: ")) << "why it is skipped";
  // What needs no symbols is whole.
  const auto info = must(run_jtrace({"inspect", core, "info", "--sysroot", empty.path()}));
  EXPECT_EQ(info.status, 0) << info.err;
  EXPECT_THAT(info.err, HasSubstr("is not used for libjvm.so: ")) << info.err;
}

TEST_P(EachJvm, WholeAndSmallSayTheSame) {
  const HeldJvm jvm(GetParam());
  const ScratchDir folder("jtrace-core");
  const std::string whole = folder.file("whole.core"), small = folder.file("small.core");
  write_core(*jvm, whole);
  write_core(*jvm, small, {"--small"});
  EXPECT_LT(std::filesystem::file_size(small), 24u << 20);
  for (const std::string& view : kViews)
    EXPECT_EQ(data(answer(whole, view, kNoFiles)), data(answer(small, view, kNoFiles))) << view;
  // What is left of the heap would give counts that look like an answer.
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"histogram"}, {"values", "1"}, {"regions"}, {"leaks"}, {"instances", "String"}}) {
    std::vector<std::string> asked = {"inspect", small};
    asked.insert(asked.end(), words.begin(), words.end());
    const auto refused = must(run_jtrace(asked));
    EXPECT_EQ(refused.status, 1) << words.front();
    EXPECT_EQ(refused.out, "") << words.front();
    EXPECT_THAT(refused.err, HasSubstr("the core is a small one (jtrace core --small): it has no " + words.front() +
                                       "; it has stack, info, flags"));
  }
  const Dump live = dump_of_json(answer(jvm->pid_text(), "threads"));
  EXPECT_GE(live.size(), 14u);
  EXPECT_EQ(dump_of_json(answer(small, "threads", kNoFiles)), live);
  EXPECT_EQ(data(answer(whole, "histogram", kNoFiles)), data(answer(jvm->pid_text(), "histogram")));
  expect_symbols_only_of_its_files(whole, GetParam().jdk);
  jvm->signal(SIGCONT);
  must(jvm->ask("states"));
  record_support(GetParam().jdk, to_string(GetParam().collector), "live", "core");
}

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

TEST_P(EachJdk, OpensInTheJdksOwnTool) {
  if (GetParam().root || GetParam().version < 9) GTEST_SKIP() << "no jhsdb of this JDK that could read the file";
  const HeldJvm jvm({GetParam(), Collector::kG1});
  const ScratchDir folder("jtrace-core");
  const std::string whole = folder.file("whole.core");
  write_core(*jvm, whole);
  const BciDump ours = bcis_of_json(answer(whole, "threads"));
  const std::string text =
      run_jdk_tool(*jvm, "jhsdb", {"jstack", "--exe", GetParam().home + "/bin/java", "--core", whole});
  const BciDump theirs = parse_jhsdb(text);
  EXPECT_GE(theirs.size(), 14u) << text;
  for (const auto& [name, frames] : theirs)
    if (ours.contains(name)) {
      EXPECT_EQ(frames, ours.at(name)) << name;
    }
}

TEST_P(EachJdk, OfABusyJvmIsWhole) {
  const auto jvm = must(JvmProcess::start(GetParam(), "LastingWork", attachable(GetParam(), {"-Xmx64m"})));
  const ScratchDir folder("jtrace-core");
  write_core(*jvm, folder.file("w.zst"));
  const auto stack = must(run_jtrace({"stack", folder.file("w.zst"), "--sysroot", "/proc/self/fdinfo"}));
  EXPECT_THAT(stack.status, ::testing::AnyOf(0, 9)) << stack.err;
  EXPECT_THAT(stack.out, HasSubstr("LastingWork"));
  must(jvm->ask("rounds"));
}

struct Refusal {
  const char* name;
  std::vector<std::string> words;
  int status;
  const char* said;
};
class Refused : public ::testing::TestWithParam<Refusal> {};
INSTANTIATE_TEST_SUITE_P(
    Core, Refused,
    ::testing::Values(Refusal{"Pid", {"4194304", "-o", "FILE"}, 3, "4194304"},
                      Refusal{"Folder", {"PID", "-o", "/nonexistent/x"}, 3, "/nonexistent/x"},
                      Refusal{"Gzip", {"PID", "-o", "FILE.gz"}, 2, "zstd"},
                      Refusal{"Time", {"PID", "-o", "FILE", "--max-stop", "1"}, 1, "--max-stop allows more"},
                      Refusal{"NoOutput", {"PID"}, 2, "output"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST_P(Refused, WithOneLineAndNoFile) {
  JTRACE_NEED_JDK(jdk);
  const auto jvm = must(JvmProcess::start(*jdk, "Idle", attachable(*jdk, {"-Xms256m", "-XX:+AlwaysPreTouch"})));
  const ScratchDir folder("jtrace-core");
  std::vector<std::string> words = {"core"};
  for (std::string word : GetParam().words) {
    if (word == "PID") word = jvm->pid_text();
    if (word.starts_with("FILE")) word = folder.file("x") + word.substr(4);
    words.push_back(word);
  }
  const auto done = must(run_jtrace(words));
  EXPECT_EQ(done.status, GetParam().status) << done.err;
  EXPECT_THAT(done.err, HasSubstr(GetParam().said));
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  must(jvm->ask("hello"));
}

}  // namespace
}  // namespace jtrace::test
