// Redacted cores: the answers of a whole core of the same moment about threads, locks, classes, flags, code and the
// sizes of objects, and nowhere the word that the program keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "target/process.h"
#include "target/standstill.h"
#include "tests/live/planted_word.h"
#include "tests/testlib/must.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class RedactedCore : public ::testing::TestWithParam<JdkAndCollector> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RedactedCore);
INSTANTIATE_TEST_SUITE_P(Jdks, RedactedCore, ::testing::ValuesIn(jdks_and_collectors()), NameOf());

void hold(const JvmProcess& jvm) {
  jvm.signal(SIGSTOP);
  const auto process = must(target::Process::open(jvm.pid()));
  target::Standstill still(process);
  for (int i = 0; i < 1000 && !still.is_still(); ++i) ::usleep(10'000);
}

void write_core(const JvmProcess& jvm, const std::string& path, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {"core", jvm.pid_text(), "-o", path, "--max-stop", "10000"});
  const auto done = must(run_jtrace(options, {.timeout = std::chrono::minutes(3)}));
  EXPECT_EQ(done.status, 0) << done.err;
}

// A whole core and a redacted one of the same moment.
struct Cores {
  explicit Cores(const JvmProcess& jvm) {
    hold(jvm);
    write_core(jvm, whole);
    write_core(jvm, redacted, {"--redact"});
    jvm.signal(SIGCONT);
  }
  const ScratchDir folder{"jtrace-redacted"};
  const std::string whole = folder.file("whole.core"), redacted = folder.file("redacted.core");
};

std::vector<std::string> flags_of(const JdkAndCollector& of) {
  auto flags = of.jdk.collector_flags(of.collector);
  flags.push_back("-Xmx64m");
  return flags;
}

// Without `root` no file of the JVM may be needed. What a frame holds may lead into a file that is mapped
// (lib/modules), which a core has not.
json data(const std::string& core, std::vector<std::string> view, const std::string& root = "/proc/self/fdinfo") {
  std::vector<std::string> words = {"inspect", core};
  words.insert(words.end(), view.begin(), view.end());
  words.insert(words.end(), {"--format", "json", "--sysroot", root});
  const auto done = must(run_jtrace(words));
  EXPECT_EQ(done.status, 0) << view.front() << ": " << done.err;
  json rows = json::parse(done.out, nullptr, false)["data"];
  for (json& row : rows)
    if (row.is_object()) row.erase("cpu");  // a stop costs a stopped thread some
  return rows;
}

void expect_refused(const std::string& core) {
  for (const std::vector<std::string>& view :
       {std::vector<std::string>{"properties"}, {"args"}, {"counters"}, {"statics", "Secrets"}, {"object", "0x1000"}}) {
    std::vector<std::string> words = {"inspect", core};
    words.insert(words.end(), view.begin(), view.end());
    const auto done = must(run_jtrace(words));
    EXPECT_EQ(done.status, 1) << view.front();
    EXPECT_THAT(done.err, HasSubstr("the core is redacted: it has no " + view.front()));
  }
  EXPECT_EQ(must(run_jtrace({"inspect", core, "strings", "*"})).status, 1);
  EXPECT_EQ(must(run_jtrace({"inspect", core, "values", "0"})).status, 1);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"diagnose", core}, {"stack", core, "--locals"}, {"debug", core}}) {
    const auto done = must(run_jtrace(words));
    EXPECT_EQ(done.status, words.front() == "diagnose" ? 4 : 1) << done.err;  // 4: there is no verdict
    EXPECT_THAT(done.err, HasSubstr("the core is redacted")) << words.front();
  }
}

TEST_P(RedactedCore, HasTheSameAnswersAndNoContents) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  const auto flags = flags_of(GetParam());
  const auto jvm = start_with_word(GetParam().jdk, flags);
  const Cores cores(*jvm);
  const std::string &whole = cores.whole, &redacted = cores.redacted;
  EXPECT_FALSE(places_of_word(whole).empty());
  EXPECT_EQ(places_of_word(redacted), std::vector<std::string>());
  for (const char* view :
       {"threads", "locks", "classes", "loaders", "flags", "heap", "codecache", "vmstructs", "histogram"})
    EXPECT_EQ(data(whole, {view}), data(redacted, {view})) << view;
  const std::string root = GetParam().jdk.root.value_or("/");
  for (const std::vector<std::string>& view : {std::vector<std::string>{"retained"}, {"refs", "Secrets$Account"}})
    EXPECT_EQ(data(whole, view, root), data(redacted, view, root)) << view.front();
  expect_refused(redacted);
  must(jvm->ask("gc"));
}

// Locks of all kinds, compiled frames, and stacks of virtual threads in the heap.
TEST_P(RedactedCore, KnowsThreadsAndLocks) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  const auto flags = flags_of(GetParam());
  const auto jvm = must(JvmProcess::start(GetParam().jdk, "Standing", attachable(GetParam().jdk, flags)));
  if (GetParam().jdk.version >= 21) must(jvm->ask("virtual 5"));
  const Cores cores(*jvm);
  const std::string &whole = cores.whole, &redacted = cores.redacted;
  for (const char* view : {"threads", "locks"}) {
    const json rows = data(redacted, {view});
    EXPECT_FALSE(rows.empty()) << view;
    EXPECT_EQ(data(whole, {view}), rows) << view;
  }
  must(jvm->ask("states"));
}

}  // namespace
}  // namespace jtrace::test
