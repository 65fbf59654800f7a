// `jtrace doctor PID` against what the commands really do: as root, as the JVM's own user, as a user without rights,
// with the JVM on the host and in a container. What doctor reports must happen, whatever this machine allows.
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <ostream>

#include "base/file.h"
#include "base/strings.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using ::testing::HasSubstr;

constexpr uid_t kNobody = 65534;

struct Row {
  std::string ability, finding;
  std::string text;  // with the lines below it: what it blocks, what would help
};
struct Said {
  std::map<std::string, Row> machine, jvm;
};

// "  partly  core files        kernel.core_pattern is ..."
bool add_row(std::map<std::string, Row>& rows, std::string_view line) {
  constexpr std::size_t kName = 10, kFinding = 28;
  if (line.size() <= kFinding || !line.starts_with("  ") || line[2] == ' ') return false;
  const std::string name(trimmed(line.substr(kName, kFinding - kName)));
  rows[name] = {std::string(trimmed(line.substr(2, kName - 2))), std::string(line.substr(kFinding)), std::string(line)};
  return true;
}

Said parse(const std::string& text) {
  Said said;
  std::map<std::string, Row>* rows = &said.machine;
  std::string* last = nullptr;
  for (std::string_view line : split(text, '\n')) {
    if (line.starts_with("process ")) rows = &said.jvm;
    const std::size_t before = rows->size();
    if (add_row(*rows, line)) {
      EXPECT_EQ(rows->size(), before + 1) << "said twice: " << line;
      last = &(*rows)[std::string(trimmed(line.substr(10, 18)))].text;
    } else if (last != nullptr) {
      *last += "\n" + std::string(line);
    }
  }
  return said;
}

struct Case {
  const char* name;
  Isolation isolation;
  uid_t jvm;   // the JVM's user
  uid_t asks;  // jtrace's
};
std::ostream& operator<<(std::ostream& stream, const Case& each) { return stream << each.name; }

class Doctor : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "users are taken by root only";
    if (GetParam().isolation != Isolation::kNone)
      if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("live", why);
    ::chmod(folder_.path().c_str(), 01777);
  }

  // A command as the user that asks.
  CommandOutput run(std::vector<std::string> words) const {
    CommandOptions options;
    options.timeout = std::chrono::minutes(3);
    options.directory = folder_.path();
    options.environment = {"XDG_RUNTIME_DIR="};
    options.in_child = [user = GetParam().asks] {
      if (user != 0 && (::setgroups(0, nullptr) != 0 || ::setgid(user) != 0 || ::setuid(user) != 0)) ::_exit(125);
    };
    const std::string program = words.front();
    words.front() = (std::filesystem::path(jtrace_binary()).parent_path() / program).string();
    auto done = run_command(words, options);
    EXPECT_TRUE(succeeded(done));
    return done ? *done : CommandOutput{};
  }
  Said ask(const std::string& pid) const {
    const CommandOutput done = run({"jtrace", "doctor", pid});
    EXPECT_EQ(done.status, 0) << done.err;
    return parse(done.out);
  }
  std::unique_ptr<JvmProcess> start(const Jdk& jdk, std::vector<std::string> flags = {}) const {
    JvmOptions options = flags.empty() ? attachable(jdk) : JvmOptions{.flags = std::move(flags)};
    options.isolation = GetParam().isolation;
    options.uid = options.gid = GetParam().jvm;
    auto jvm = JvmProcess::start(jdk, "Workload", options);
    EXPECT_TRUE(succeeded(jvm)) << jdk.name;
    return jvm ? std::move(*jvm) : nullptr;
  }

  ScratchDir folder_{"jtrace-doctor"};
};

// After a line with yes the command works. After a line with no it is refused, and the line names the command and what
// would help.
void agree(const Row& row, const CommandOutput& done, std::string_view command) {
  if (row.ability == "yes") {
    EXPECT_EQ(done.status, 0) << row.text << "\nbut " << command << ": " << done.err;
    return;
  }
  EXPECT_EQ(row.ability, "no") << row.text;
  EXPECT_NE(done.status, 0) << row.text << "\nbut " << command << " works";
  EXPECT_THAT(row.text, HasSubstr(std::string(command)));
  EXPECT_THAT(row.text, HasSubstr("would help"));
}

const Row& worse(const Row& one, const Row& other) { return one.ability == "yes" ? other : one; }

TEST_P(Doctor, ReportsWhatThenHappens) {
  for (const Jdk& jdk : jdks()) {
    SCOPED_TRACE(jdk.name);
    const auto jvm = start(jdk);
    ASSERT_TRUE(jvm);
    const std::string pid = jvm->pid_text();
    Said said = ask(pid);
    ASSERT_EQ(said.jvm.count("attach") + said.jvm.count("agent file") + said.jvm.count("counters"), 3u);

    agree(said.jvm["attach"], run({"jtrace", "cmd", pid, "jcmd", "VM.version"}), "jtrace cmd");
    agree(said.jvm["counters"], run({"hsperf", "snap", pid}), "hsperf");
    ASSERT_EQ(said.jvm.count("memory"), 1u);
    const Row& looks = worse(said.jvm["memory"], said.jvm["stop"]);
    agree(looks, run({"jtrace", "stack", pid}), "jtrace stack");
    agree(looks, run({"jtrace", "inspect", pid, "threads"}), "jtrace inspect");
    const Row& traces = worse(worse(said.jvm["attach"], said.jvm["agent file"]), said.machine["ring memory"]);
    if (traces.ability != "partly")
      agree(traces, run({"jtrace", "attach", pid, "--duration", "0.2", "-o", "t.xml"}), "jtrace attach");
    if (traces.ability == "yes") {
      // "into its /tmp": the JVM has loaded a file of jtrace's from there.
      const std::string place = said.jvm["agent file"].finding.substr(std::string("into its ").size());
      const std::string maps = read_file("/proc/" + pid + "/maps").value_or("");
      EXPECT_NE(maps.find(place + "/libjtrace_agent"), maps.npos) << said.jvm["agent file"].text;
    }
    EXPECT_TRUE(jvm->alive());
    EXPECT_EQ(jvm->err(), "");
  }
}

// The machine's lines for this user are true for a JVM of the user's own.
TEST_P(Doctor, ReportsForTheMachineWhatHoldsForAnOwnJvm) {
  if (GetParam().jvm != GetParam().asks) GTEST_SKIP() << "another user's JVM";
  JTRACE_NEED_JDK(jdk);
  const auto jvm = start(*jdk);
  ASSERT_TRUE(jvm);
  const std::string pid = jvm->pid_text();
  Said said = ask(pid);
  agree(worse(said.machine["ptrace"], said.machine["process_vm_readv"]), run({"jtrace", "stack", pid}), "jtrace stack");
  const Row& sets = worse(said.machine["bpf"], said.machine["uprobes"]);
  if (said.jvm["probes"].ability == "yes")
    agree(sets, run({"jtrace", "probe", pid, "gc__begin", "--duration", "0.1", "-o", "p.xml"}), "jtrace probe");
}

TEST_P(Doctor, ReportsThatAgentsAreNotTaken) {
  JTRACE_NEED_JDK(jdk);
  const auto jvm = start(*jdk, {"-XX:-EnableDynamicAgentLoading", "-XX:-UsePerfData"});
  ASSERT_TRUE(jvm);
  const std::string pid = jvm->pid_text();
  Said said = ask(pid);
  agree(said.jvm["counters"], run({"hsperf", "snap", pid}), "hsperf");
  if (said.jvm["attach"].ability == "no") return;  // another user's
  EXPECT_EQ(said.jvm["attach"].ability, "partly");
  EXPECT_EQ(run({"jtrace", "cmd", pid, "jcmd", "VM.version"}).status, 0);
  EXPECT_NE(run({"jtrace", "attach", pid, "--duration", "0.2", "-o", "t.xml"}).status, 0);
}

INSTANTIATE_TEST_SUITE_P(Users, Doctor,
                         ::testing::Values(Case{"root", Isolation::kNone, 0, 0},
                                           Case{"root_of_nobody", Isolation::kNone, kNobody, 0},
                                           Case{"nobody_of_nobody", Isolation::kNone, kNobody, kNobody},
                                           Case{"nobody_of_root", Isolation::kNone, 0, kNobody},
                                           Case{"root_of_container", Isolation::kContainer, 0, 0},
                                           Case{"nobody_of_container", Isolation::kContainer, kNobody, kNobody}),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace jtrace::test
