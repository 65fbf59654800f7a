// What cannot or must not be attached to: each case has its own message and status, at once, and the target is
// unharmed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>

#include "attach/attach_session.h"
#include "attach/freezer.h"
#include "base/file.h"
#include "tests/testlib/places.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"

extern char** environ;

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr uid_t kNobody = 65534;
constexpr uid_t kOther = 65533;

// Expects the status, one line on stderr with these words, and no waiting: 100 ms of processor time at most, however
// busy the machine is. (tests/bench/bench_attach.cpp measures the wall clock.)
void expect_refused(const std::string& who, int status, const std::vector<std::string>& says,
                    CommandOptions options = {}) {
  const auto done = must(run_jtrace({"cmd", who, "jcmd", "VM.version"}, options));
  EXPECT_EQ(done.status, status) << done.out << done.err;
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
  for (const std::string& word : says) EXPECT_THAT(done.err, HasSubstr(word));
  EXPECT_LT(done.cpu, std::chrono::milliseconds(100));
  EXPECT_LT(done.elapsed, std::chrono::seconds(3));
}

CommandOptions as_nobody() {
  CommandOptions options;
  options.in_child = [] {
    if (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(125);
  };
  return options;
}

#define NEED_ROOT() \
  if (::geteuid() != 0) JTRACE_SKIP("live", "needs root: it takes other users' ids")
#define NEED_JDK(name)                       \
  const std::optional<Jdk> name = any_jdk(); \
  if (!name) JTRACE_SKIP("live", "no JDK on this machine")

// A program that SIGQUIT would end.
class Sleeper {
 public:
  explicit Sleeper(const std::vector<std::string>& environment = {}) {
    std::vector<char*> pointers;
    for (const std::string& word : environment) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGQUIT);
    ::posix_spawnattr_setsigdefault(&attributes, &signals);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    const char* argv[] = {"sleep", "600", nullptr};
    EXPECT_EQ(::posix_spawnp(&pid_, "sleep", nullptr, &attributes, const_cast<char**>(argv),
                             environment.empty() ? environ : pointers.data()),
              0);
    ::posix_spawnattr_destroy(&attributes);
  }
  ~Sleeper() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  bool alive() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  pid_t pid_ = -1;
};

TEST(AttachRefusals, WordsThatAreNoProcess) {
  expect_refused("", 2, {"not a process id: ''"});
  expect_refused("0", 2, {"not a process id: '0'"});
  expect_refused("12abc", 3, {"'12abc'", "main class"});
  expect_refused("1099511627776", 3, {"no such process 1099511627776"});
  expect_refused("4194304", 3, {"no such process 4194304"});
}

TEST(AttachRefusals, AThreadAndAZombie) {
  std::async(std::launch::async, [] {
    expect_refused(std::to_string(::gettid()), 3, {"is a thread of process " + std::to_string(::getpid())});
  }).get();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  expect_refused(std::to_string(child), 3, {"zombie", "parent is " + std::to_string(::getpid())});
  ::waitpid(child, nullptr, 0);
  expect_refused(std::to_string(child), 3, {"no such process"});
}

TEST(AttachRefusals, NoJvmAndNoSignal) {
  const Sleeper sleeper;
  expect_refused(std::to_string(sleeper.pid()), 4, {"(sleep)", "no libjvm.so mapped", "no signal sent"});
  EXPECT_TRUE(sleeper.alive());
}

// Another VM with the same file names and another protocol.
TEST(AttachRefusals, Openj9IsNamed) {
  const ScratchDir folder;
  const std::string library = folder.file("libj9vm29.so");
  fs::copy_file(libraries_folder() + "/libattach_test_agent_ok.so", library);
  const Sleeper sleeper({"LD_PRELOAD=" + library, "PATH=/usr/bin:/bin"});
  const std::string maps = "/proc/" + std::to_string(sleeper.pid()) + "/maps";
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (read_file(maps).value_or("").find("libj9vm29.so") == std::string::npos &&
         std::chrono::steady_clock::now() < until)
    std::this_thread::yield();
  expect_refused(std::to_string(sleeper.pid()), 4, {"OpenJ9", "no signal sent"});
  EXPECT_TRUE(sleeper.alive());
}

// Words that no JVM would understand as intended: refused before anything is sent.
TEST(AttachRefusals, WordsThatCannotBeSent) {
  NEED_JDK(jdk);
  auto jvm = must(JvmProcess::start(*jdk, "Idle", {}));
  const std::string pid = jvm->pid_text();
  const auto refused = [&](std::vector<std::string> words, std::string_view input, const std::string& says) {
    words.insert(words.begin(), {"cmd", pid});
    const auto done = run_jtrace(words, {.input = input});
    EXPECT_EQ(done->status, 2) << done->err;
    EXPECT_THAT(done->err, HasSubstr(says));
    EXPECT_EQ(std::count(done->err.begin(), done->err.end(), '\n'), 1) << done->err;
    EXPECT_LT(done->cpu, std::chrono::milliseconds(100));
  };
  refused({""}, "", "the operation is empty");
  refused({"seventeen-letters"}, "", "17 bytes long; every JVM takes 16");
  refused({"jcmd", "VM.version\nVM.uptime"}, "", "argument 1 contains a NUL or a newline");
  refused({"--batch", "-"}, std::string_view("printflag A\0B\n", 14), "contains a NUL");
  refused({"--batch", "-"}, "printflag 'A\n", "a quote is not closed");
  refused({"--batch", "-"}, "# nothing\n", "no command");
  refused({"--batch", "-", "datadump"}, "", "do not go together");
  refused({}, "", "no operation given");
  refused({"--timeout", "-1", "datadump"}, "", "--timeout");
  EXPECT_FALSE(fs::exists(jvm->inside("/tmp/.java_pid" + pid))) << "something was sent";
  EXPECT_EQ(jvm->out(), "READY\n");
}

TEST(AttachRefusals, AllNeedsAYesForWhatChanges) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"cmd", "all", "jcmd", "GC.run"},
                                             {"cmd", "all", "setflag", "HeapDumpOnOutOfMemoryError", "1"},
                                             {"cmd", "all", "inspectheap"},
                                             {"load", "all", libraries_folder() + "/libattach_test_agent_ok.so"},
                                             {"jmx", "all"}}) {
    const auto done = run_jtrace(words);
    EXPECT_EQ(done->status, 2) << words[0];
    EXPECT_THAT(done->err, HasSubstr("--yes"));
  }
}

class RefusingJdk : public ::testing::TestWithParam<Jdk> {
 protected:
  static void expect_unharmed(const JvmProcess& jvm) {
    EXPECT_TRUE(jvm.alive());
    EXPECT_EQ(jvm.out(), "READY\n");
    EXPECT_EQ(jvm.err(), "");
    for (const auto& entry : fs::directory_iterator(jvm.inside("/tmp")))
      EXPECT_NE(entry.path().filename(), ".attach_pid" + jvm.pid_text());
  }
  std::unique_ptr<JvmProcess> start(std::vector<std::string> flags, JvmOptions options = {}) {
    options.flags = std::move(flags);
    auto jvm = JvmProcess::start(GetParam(), "Idle", options);
    EXPECT_TRUE(succeeded(jvm));
    return jvm ? std::move(*jvm) : nullptr;
  }
};
JTRACE_ON_EACH_JDK(RefusingJdk);

TEST_P(RefusingJdk, Stopped) {
  const auto jvm = start({});
  ASSERT_TRUE(jvm);
  for (const bool warm : {false, true}) {
    if (warm) {
      ASSERT_EQ(run_jtrace({"cmd", jvm->pid_text(), "jcmd", "VM.version"})->status, 0);
    }
    jvm->signal(SIGSTOP);
    siginfo_t info;
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(jvm->pid()), &info, WSTOPPED | WNOWAIT), 0);
    expect_refused(jvm->pid_text(), 4, {"is stopped", "jtrace stack " + jvm->pid_text()});
    jvm->signal(SIGCONT);
  }
  EXPECT_EQ(run_jtrace({"cmd", jvm->pid_text(), "jcmd", "VM.version"})->status, 0);
  expect_unharmed(*jvm);
}

TEST_P(RefusingJdk, AttachDisabled) {
  for (const char* perf : {"-XX:+UsePerfData", "-XX:-UsePerfData"}) {
    const auto jvm = start({"-XX:+DisableAttachMechanism", perf});
    ASSERT_TRUE(jvm);
    expect_refused(jvm->pid_text(), 4, {"attach is disabled", "DisableAttachMechanism", "no signal sent"});
    expect_unharmed(*jvm);
  }
}

TEST_P(RefusingJdk, ReducedSignals) {
  const auto jvm = start({"-Xrs"});
  ASSERT_TRUE(jvm);
  // The listener exists from the start, and needs no signal.
  EXPECT_EQ(run_jtrace({"cmd", jvm->pid_text(), "jcmd", "VM.version"})->status, 0);
  ASSERT_TRUE(fs::remove(jvm->inside("/tmp/.java_pid" + jvm->pid_text())));
  expect_refused(jvm->pid_text(), 4, {"SIGQUIT is not caught", "-Xrs", "no signal sent"});
  expect_unharmed(*jvm);
}

// A SIGQUIT in its first milliseconds would kill it.
TEST_P(RefusingJdk, JustStarting) {
  for (int delay_ms = 0; delay_ms < 40; delay_ms += 4) {
    JvmOptions options;
    options.wait_ready = false;
    const auto jvm = start({}, options);
    ASSERT_TRUE(jvm);
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(delay_ms);
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    const auto done = run_jtrace({"cmd", jvm->pid_text(), "jcmd", "VM.version"});
    // Before its exec the process is this test's program; after it jtrace waits for the JVM.
    EXPECT_TRUE(done->status == 0 || (done->status == 4 && done->err.find("no libjvm.so") != std::string::npos))
        << done->err;
    must(jvm->wait_line("READY"));
    expect_unharmed(*jvm);
  }
}

// As a container's first process: opened before it enters its root directory. A trigger file in the old one would not
// be found, and the signal would print a thread dump.
TEST_P(RefusingJdk, OpenedBeforeItEntersItsRoot) {
  NEED_ROOT();
  int gate[2];
  ASSERT_EQ(::pipe2(gate, O_CLOEXEC), 0);
  const UniqueFd held(gate[0]);
  UniqueFd opens(gate[1]);
  JvmOptions options;
  options.wait_ready = false;
  options.isolation = Isolation::kMount;
  options.in_child = [&](const std::string& root) {
    char byte;
    ::close(gate[1]);
    return ::read(gate[0], &byte, 1) == 0 && (!root.empty() || ::unshare(CLONE_NEWNS) == 0);
  };
  const auto jvm = start({}, options);
  ASSERT_TRUE(jvm);
  const auto early = target::Process::open(jvm->pid());
  ASSERT_TRUE(early);
  opens.reset();
  must(jvm->wait_line("READY"));
  const auto session = attach::AttachSession::open(*early, {});
  ASSERT_FALSE(session);
  EXPECT_THAT(session.error().text, HasSubstr("has changed its root directory"));
  EXPECT_THAT(session.error().text, HasSubstr("no signal sent"));
  expect_unharmed(*jvm);
}

TEST_P(RefusingJdk, AnotherUsers) {
  NEED_ROOT();
  const auto jvm = start({});
  ASSERT_TRUE(jvm);
  expect_refused(jvm->pid_text(), 5, {"uid 0", "run as that user or root"}, as_nobody());
  expect_unharmed(*jvm);
}

TEST(AttachRefusals, AnImpostorsSocket) {
  NEED_ROOT();
  NEED_JDK(jdk);
  auto jvm = must(JvmProcess::start(*jdk, "Idle", {}));
  const std::string path = jvm->inside("/tmp/.java_pid" + jvm->pid_text());
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::strcpy(address.sun_path, path.c_str());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(socket.get(), 5), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  ASSERT_EQ(::chown(path.c_str(), kOther, kOther), 0);
  expect_refused(jvm->pid_text(), 5, {"uid 65533", "impostor"});
  ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  expect_refused(jvm->pid_text(), 5, {"process " + std::to_string(::getpid()) + " listens", "impostor"});
  fs::remove(path);
  EXPECT_EQ(jvm->out(), "READY\n");
}

// As `docker pause` leaves it: a signal would stay pending, and print a thread dump after the thaw.
TEST(AttachRefusals, Frozen) {
  NEED_ROOT();
  NEED_JDK(jdk);
  auto jvm = must(JvmProcess::start(*jdk, "Idle", {}));
  const std::string name = "/jtrace-test-" + jvm->pid_text();
  bool tried = false;
  for (const auto& [mount, file, freeze, thaw] :
       std::vector<std::array<std::string, 4>>{{"/sys/fs/cgroup", "/cgroup.freeze", "1", "0"},
                                               {"/sys/fs/cgroup/unified", "/cgroup.freeze", "1", "0"},
                                               {"/sys/fs/cgroup/freezer", "/freezer.state", "FROZEN", "THAWED"}}) {
    const std::string group = mount + name;
    if (::mkdir(group.c_str(), 0755) != 0) continue;
    if (fs::exists(group + file) && (std::ofstream(group + "/cgroup.procs") << jvm->pid_text()).flush()) {
      tried = true;
      (std::ofstream(group + file) << freeze).flush();
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      while (!attach::is_frozen(*target::Process::open(jvm->pid())) && std::chrono::steady_clock::now() < until)
        std::this_thread::yield();
      expect_refused(jvm->pid_text(), 4, {"frozen", "no signal sent"});
      (std::ofstream(group + file) << thaw).flush();
      EXPECT_EQ(run_jtrace({"cmd", jvm->pid_text(), "jcmd", "VM.version"})->status, 0);
      (std::ofstream(mount + "/cgroup.procs") << jvm->pid_text()).flush();
    }
    ::rmdir(group.c_str());
  }
  if (!tried) {
    GTEST_SKIP() << "no control group of this machine may be made and frozen";
  }
  EXPECT_EQ(jvm->out(), "READY\n");
}

TEST(AttachRefusals, ATriggerOfAnotherUser) {
  NEED_ROOT();
  NEED_JDK(jdk);
  JvmOptions options;
  options.uid = options.gid = kNobody;
  auto jvm = must(JvmProcess::start(*jdk, "Idle", options));
  const std::string cwd = "/proc/" + jvm->pid_text() + "/cwd";
  const std::string trigger = cwd + "/.attach_pid" + jvm->pid_text();
  fs::permissions(fs::read_symlink(cwd), fs::perms::all | fs::perms::sticky_bit);
  std::ofstream(trigger) << "";
  ASSERT_EQ(::chown(trigger.c_str(), kOther, kOther), 0);
  expect_refused(jvm->pid_text(), 5, {"uid 65533", ".attach_pid", "remove it"});
  fs::remove(trigger);
  EXPECT_EQ(run_jtrace({"cmd", jvm->pid_text(), "jcmd", "VM.version"})->status, 0);
  EXPECT_EQ(jvm->out(), "READY\n");
}

TEST(AttachRefusals, NowhereToPutTheTrigger) {
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("live", why);
  NEED_JDK(jdk);
  JvmOptions options;
  options.isolation = Isolation::kMount;
  options.in_child = [](const std::string& root) {
    return ::mount(nullptr, (root + "/tmp").c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  };
  options.flags = {"-XX:-UsePerfData", "-Xshare:off"};
  auto jvm = must(JvmProcess::start(*jdk, "Idle", options));
  expect_refused(jvm->pid_text(), 4, {"cannot create the trigger file", "/cwd/.attach_pid", "Read-only file system"});
  EXPECT_EQ(jvm->out(), "READY\n");
}

TEST(AttachRefusals, AStaleSocketIsClearedAway) {
  NEED_ROOT();
  NEED_JDK(jdk);
  auto jvm = must(JvmProcess::start(*jdk, "Idle", {}));
  const std::string path = jvm->inside("/tmp/.java_pid" + jvm->pid_text());
  {
    const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::strcpy(address.sun_path, path.c_str());
    ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  }
  const auto done = run_jtrace({"cmd", jvm->pid_text(), "jcmd", "VM.version"});
  EXPECT_EQ(done->status, 0) << done->err;
  EXPECT_EQ(jvm->out(), "READY\n");
}

// A target whose places for a library are full, or may not hold code.
TEST(AttachRefusals, DeliveryWithoutAPlace) {
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("live", why);
  NEED_JDK(jdk);
  for (const char* fault : {"noexec", "no room"}) {
    const bool noexec = std::string_view(fault) == "noexec";
    JvmOptions options = attachable(*jdk, {"-XX:-UsePerfData"});
    options.isolation = Isolation::kMount;
    options.own_root = true;
    options.in_child = [noexec](const std::string& root) {
      mount_attr read_only{};
      read_only.attr_set = MOUNT_ATTR_RDONLY;
      return ::mount_setattr(AT_FDCWD, root.c_str(), AT_RECURSIVE, &read_only, sizeof read_only) == 0 &&
             ::mount("tmpfs", (root + "/tmp").c_str(), "tmpfs", noexec ? MS_NOEXEC : 0,
                     noexec ? "mode=1777" : "mode=1777,size=16k") == 0;
    };
    auto jvm = must(JvmProcess::start(*jdk, "Idle", options));
    const auto loaded =
        run_jtrace({"load", jvm->pid_text(), libraries_folder() + "/libattach_test_agent_ok.so", "--deliver"});
    EXPECT_EQ(loaded->status, 7);
    EXPECT_THAT(loaded->err, HasSubstr(fault));
    EXPECT_EQ(jvm->out(), "READY\n");
  }
}

TEST(AttachRefusals, AMainClassOfSeveral) {
  NEED_JDK(jdk);
  auto one = must(JvmProcess::start(*jdk, "Idle", {}));
  auto two = must(JvmProcess::start(*jdk, "Idle", {}));
  const auto done = run_jtrace({"cmd", "Idle", "jcmd", "VM.version"});
  EXPECT_EQ(done->status, 2);
  EXPECT_THAT(done->err, HasSubstr(one->pid_text() + " Idle"));
  EXPECT_THAT(done->err, HasSubstr(two->pid_text() + " Idle"));
}

}  // namespace
}  // namespace jtrace::test
