// Finds the right JVM's counters in every place: plain, in containers that share /tmp, in private memory, in a core;
// and changes nothing on the way.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/file.h"
#include "tests/live/perfdata_support.h"
#include "tests/testlib/require.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class EachJdkSomewhere : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdkSomewhere);

// The row of a JVM in hsperf list; null if it has none.
json listed(pid_t pid) {
  const auto done = run_hsperf({"list", "--format", "json"});
  const json view = done ? json::parse(done->out, nullptr, false) : json();
  if (!view.is_object()) return {};
  for (const json& row : view["data"])
    if (row["pid"] == pid) return row;
  return {};
}

void expect_counters_of(const JvmProcess& jvm, const std::string& word, const std::string& kind) {
  const auto done = must(run_hsperf({"snap", jvm.pid_text(), "--filter", "javaCommand", "--raw"}));
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out, "sun.rt.javaCommand=\"Workload " + word + "\"\n");
  const json row = listed(jvm.pid());
  ASSERT_TRUE(row.is_object()) << jvm.pid();
  EXPECT_EQ(row["counters"], kind);
  EXPECT_EQ(row["main"], "Workload");
}

TEST_P(EachJdkSomewhere, EachPidHasItsOwnNumbersInNamespacesOfAllKinds) {
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("live", why);
  auto plain = must(JvmProcess::start(GetParam(), "Workload", {.arguments = {"plain"}}));
  auto mount =
      must(JvmProcess::start(GetParam(), "Workload", {.arguments = {"mount"}, .isolation = Isolation::kMount}));
  auto container =
      must(JvmProcess::start(GetParam(), "Workload", {.arguments = {"container"}, .isolation = Isolation::kContainer}));
  expect_counters_of(*plain, "plain", "file");
  expect_counters_of(*mount, "mount", "file");
  expect_counters_of(*container, "container", "file");
  EXPECT_EQ(listed(container->pid())["nspid"], 1);
  EXPECT_EQ(listed(plain->pid())["nspid"], plain->pid());
  record_support(GetParam(), "any", "live", "hsperf: mount and pid namespaces");
}

// A /tmp for several JVMs.
class SharedTmp {
 public:
  SharedTmp() { ::chmod(folder_.path().c_str(), 01777); }
  JvmOptions container(const std::string& word) const {
    return {.arguments = {word}, .isolation = Isolation::kContainer, .tmp_folder = folder_.path()};
  }

 private:
  ScratchDir folder_;
};

TEST_P(EachJdkSomewhere, TwoPidNamespacesOverOneTmpAreDistinguished) {
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("live", why);
  const SharedTmp tmp;
  auto first = must(JvmProcess::start(GetParam(), "Workload", tmp.container("first")));
  auto second = must(JvmProcess::start(GetParam(), "Workload", tmp.container("second")));
  expect_counters_of(*second, "second", listed(second->pid())["counters"]);
  expect_counters_of(*first, "first", "file");
  EXPECT_EQ(listed(first->pid())["nspid"], 1);
  EXPECT_EQ(listed(second->pid())["nspid"], 1);
  record_support(GetParam(), "any", "live", "hsperf: two pid namespaces over one /tmp");
}

TEST_P(EachJdkSomewhere, CountersInPrivateMemoryAreReadFromTheProcess) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  for (const CollectorChoice& choice : collector_choices(GetParam())) {
    SCOPED_TRACE(choice.name);
    std::vector<std::string> flags = choice.flags;
    flags.push_back("-XX:+PerfDisableSharedMem");
    auto jvm = must(JvmProcess::start(GetParam(), "Workload", {.flags = flags, .arguments = {"hidden"}}));
    const auto counts = must(jvm->ask("counts"));
    expect_counters_of(*jvm, "hidden", "memory");
    const auto started = must(run_hsperf({"snap", jvm->pid_text(), "--filter", "java.threads.started", "--raw"}));
    EXPECT_EQ(started.out, "java.threads.started=" + std::to_string(value_in(counts, "started")) + "\n");
    EXPECT_EQ(run_hsperf({"stat", "-gcutil", jvm->pid_text()})->status, 0);
  }
  record_support(GetParam(), "any", "live", "hsperf: -XX:+PerfDisableSharedMem");
}

std::string core_in(const std::string& folder) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("core")) return entry.path().string();
  return {};
}

TEST_P(EachJdkSomewhere, CountersOfACoreAreThoseTheJvmHad) {
  const auto pattern = read_file("/proc/sys/kernel/core_pattern");
  if (!pattern || !pattern->starts_with("core")) JTRACE_SKIP("core", "the kernel puts cores elsewhere: core_pattern");
  JvmOptions options{.flags = {"-XX:+UseSerialGC", "-Xmx32m", "-Xshare:auto"}};
  options.in_child = [](const std::string&) {
    const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
    return ::setrlimit(RLIMIT_CORE, &unlimited) == 0;
  };
  auto jvm = must(JvmProcess::start(GetParam(), "Workload", options));
  must(jvm->ask("gc 1"));
  // Counters that do not change while it waits for its input.
  const std::string still =
      "^(sun\\.gc\\.(?!tlab)|java\\.property|java\\.rt|java\\.threads|sun\\.rt\\.j|sun\\.os\\.hrt\\.f)";
  jvm->signal(SIGSTOP);  // the JVM's own threads allocate in the meantime
  const auto live = run_hsperf({"snap", jvm->pid_text(), "--raw", "--filter", still});
  const UniqueFd folder(::open(("/proc/" + jvm->pid_text() + "/cwd").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  jvm->signal(SIGABRT);
  jvm->signal(SIGCONT);
  must(jvm->wait_exit());
  const std::string core = core_in("/proc/self/fd/" + std::to_string(folder.get()));
  ASSERT_NE(core, "") << "no core was written";
  // Its folder is in a mount namespace that is gone: it has no path, but one can be given.
  const auto dead = must(run_hsperf(
      {"snap", "./" + fs::path(core).filename().string(), "--libjvm", GetParam().libjvm(), "--raw", "--filter", still},
      {.in_child = [fd = folder.get()] {
        if (::fchdir(fd) != 0) ::_exit(99);
      }}));
  if (GetParam().version == 8 && dead.status == 8) {  // it does not ask the kernel to dump shared mappings
    EXPECT_THAT(dead.err, HasSubstr("coredump_filter"));
    record_support(GetParam(), "Serial", "core", "hsperf: counters", "its cores leave shared mappings out");
    return;
  }
  EXPECT_EQ(dead.status, 0) << dead.err;
  EXPECT_GT(std::count(live->out.begin(), live->out.end(), '\n'), 70);
  EXPECT_EQ(dead.out, live->out);
  record_support(GetParam(), "Serial", "core", "hsperf: counters");
}

// System calls that change a file, a lock or a process, and open calls with flags that must not be used.
std::vector<std::string> writes_in(const std::string& strace) {
  static const std::regex kChange(
      R"((flock|unlink\w*|rename\w*|mkdir\w*|rmdir|link\w*|symlink\w*|mknod\w*|f?truncate\w*|f?chmod\w*|f?chown\w*|utime\w*|)"
      R"(kill|t?g?kill|pidfd_send_signal|rt_\w*sigqueueinfo|ptrace|process_vm_\w+|setxattr|fallocate)\()");
  static const std::regex kOpen(R"(open\w*\(.*O_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE))");
  static const std::regex kLock(R"(fcntl\(.*F_(OFD_)?SETLK)");
  std::vector<std::string> found;
  std::istringstream lines(strace);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of("0123456789 "));
    if (line.starts_with("kill(") && line.find(", 0)") != line.npos) continue;  // asks whether it is there
    for (const std::regex* what : {&kChange, &kOpen, &kLock})
      if (std::regex_search(line, *what, std::regex_constants::match_continuous)) found.push_back(line);
  }
  return found;
}

TEST(ReadOnly, SystemCallsThatWriteAreFound) {
  EXPECT_EQ(writes_in("123 openat(3, \"a\", O_RDONLY) = 4\n123 pread64(4, \"\", 5, 0) = 5\n123 exit_group(0)\n").size(),
            0U);
  EXPECT_EQ(writes_in("123 openat(3, \"a\", O_RDWR) = 4\n5 flock(4, LOCK_EX) = 0\n5 kill(1, SIGTERM) = 0\n"
                      "5 fcntl(3, F_SETLK, {}) = 0\n")
                .size(),
            4U);
}

TEST(ReadOnly, NothingIsCreatedLockedDeletedOrSignalledInFileMode) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  const auto strace = run_command({"strace", "-V"});
  if (!strace || strace->status != 0) JTRACE_SKIP("strace", "strace is not installed");
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("live", why);
  // A /tmp of its own: any JVM that starts in the same /tmp would delete stale files.
  auto jvm = must(JvmProcess::start(*jdk, "Workload", {.isolation = Isolation::kMount}));
  const std::string file = counter_file(*jvm);
  const fs::path folder = fs::path(file).parent_path();
  // Files that the start of a jps or jstat here would delete.
  const std::string stale = (folder / "4194303").string(), notes = (folder / "jtrace-test-notes").string();
  for (const std::string& path : {stale, notes}) std::ofstream(path) << "x";
  struct stat before {
  }, after{};
  ::stat(folder.c_str(), &before);
  const ScratchDir scratch;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"list"},
                                                {"snap", jvm->pid_text()},
                                                {"stat", "-gcutil", jvm->pid_text(), "5", "3"},
                                                {"poll", jvm->pid_text(), "-i", "10ms", "-n", "3"},
                                                {"check", jvm->pid_text(), "threads.live >= 0"},
                                                {"top", "-n", "1", "-i", "20ms"}}) {
    const std::string log = scratch.file(words[0]);
    std::vector<std::string> argv{"strace", "-f", "-o", log, hsperf_binary()};
    argv.insert(argv.end(), words.begin(), words.end());
    const auto done = must(run_command(argv));
    EXPECT_EQ(done.status, 0) << words[0] << done.err;
    const auto calls = must(read_file(log, std::size_t{1} << 28));
    EXPECT_THAT(calls, HasSubstr("exit_group"));
    // If other JVMs keep their counters in private memory, list and top read that.
    auto writes = writes_in(calls);
    if (words[0] == "list" || words[0] == "top")
      std::erase_if(writes, [](const std::string& line) { return line.starts_with("process_vm_readv"); });
    EXPECT_TRUE(none(writes)) << words[0];
  }
  ::stat(folder.c_str(), &after);
  EXPECT_EQ(before.st_ctim.tv_nsec, after.st_ctim.tv_nsec);
  for (const std::string& path : {stale, notes}) {
    EXPECT_TRUE(fs::exists(path)) << path;
    fs::remove(path);
  }
}

}  // namespace
}  // namespace jtrace::test
