// Messages of `jtrace probe` if it cannot work, or only in part: one line that names what is missing and what helps.
#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/file.h"
#include "tests/live/probe_run.h"

namespace jtrace::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

CommandOutput probe(std::vector<std::string> words, const CommandOptions& options = {}) {
  words.insert(words.begin(), {jtrace_binary(), "probe", "--duration", "0.1s"});
  auto done = run_command(words, options);
  EXPECT_TRUE(succeeded(done));
  return done ? *done : CommandOutput{};
}

// A child for which bpf(2) and perf_event_open(2) fail with these errors; 0: they work.
CommandOptions with_errors(unsigned bpf, unsigned perf) {
  CommandOptions options;
  options.in_child = [bpf, perf] {
    const auto answer = [](unsigned error) { return error == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | error; };
    sock_filter code[] = {
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},  // seccomp_data.nr
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_bpf},
        {BPF_RET | BPF_K, 0, 0, answer(bpf)},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_perf_event_open},
        {BPF_RET | BPF_K, 0, 0, answer(perf)},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
    };
    const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) ::_exit(126);
  };
  options.timeout = std::chrono::minutes(2);
  return options;
}

class ProbeRefusals : public ::testing::Test {
 protected:
  void SetUp() override {
    JTRACE_NEED_JDK(jdk);
    jdk_ = *jdk;
    auto jvm = must(JvmProcess::start(jdk_, "Workload"));
    jvm_ = std::move(jvm);
    const auto tried = probe({pid(), "gc__begin", "-o", "/dev/null"});
    if (tried.status == 5) JTRACE_SKIP("bpf", tried.err);
    ASSERT_EQ(tried.status, 0) << tried.err;
  }
  void TearDown() override {
    if (jvm_) {
      EXPECT_EQ(jvm_->err(), "");
    }
  }
  std::string pid() const { return jvm_->pid_text(); }

  Jdk jdk_;
  std::unique_ptr<JvmProcess> jvm_;
};

TEST_F(ProbeRefusals, WithoutBpfPerfEventsDo) {
  const auto done = probe({pid(), "thread__start", "-o", "/dev/null"}, with_errors(ENOSYS, 0));
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, AllOf(HasSubstr("by perf, set in"), HasSubstr("uprobe_multi: "), HasSubstr("no bpf(2)")));
}

TEST_F(ProbeRefusals, NameTheCapabilityOrWhatTheKernelLacks) {
  const auto refused = probe({pid(), "thread__start", "-o", "/dev/null"}, with_errors(EPERM, EACCES));
  EXPECT_EQ(refused.status, 5) << refused.err;
  EXPECT_THAT(refused.err, AllOf(HasSubstr("CAP_BPF"), HasSubstr("CAP_PERFMON"), HasSubstr("perf_event_paranoid")));
  const auto lacking = probe({pid(), "thread__start", "-o", "/dev/null"}, with_errors(ENOSYS, ENOSYS));
  EXPECT_EQ(lacking.status, 1) << lacking.err;
  EXPECT_THAT(lacking.err, AllOf(HasSubstr("no bpf(2)"), HasSubstr("perf event")));
  const auto asked = probe({pid(), "thread__start", "--backend", "perf_bpf", "-o", "/dev/null"}, with_errors(EPERM, 0));
  EXPECT_EQ(asked.status, 5) << asked.err;
  EXPECT_THAT(asked.err, HasSubstr("CAP_BPF"));
}

// With the rights to trace, but not to read another user's memory.
TEST_F(ProbeRefusals, AJvmOfAnotherUserTakesTheRightToReadIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "takes root to be another user";
  const auto done =
      must(run_command({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all,+bpf,+perfmon",
                        "--ambient-caps=-all,+bpf,+perfmon", jtrace_binary(), "probe", pid(), "thread__start",
                        "--duration", "0.1s", "-o", "/dev/null"}));
  if (done.err.find("setpriv:") != std::string::npos) GTEST_SKIP() << done.err;
  EXPECT_EQ(done.status, 5) << done.err;
  EXPECT_THAT(done.err, HasSubstr("CAP_SYS_PTRACE"));
}

TEST_F(ProbeRefusals, StacksAreNoUseAtMethodProbes) {
  const auto done = probe({pid(), "method__entry", "--enable-flags", "--stack", "-o", "/dev/null"});
  EXPECT_EQ(done.status, 2) << done.err;
  EXPECT_THAT(done.err, HasSubstr("methodEntry"));
}

TEST_F(ProbeRefusals, AnOutputThatTakesNothingEndsTheTrace) {
  const auto full = probe({pid(), "thread__start", "-o", "/dev/full"});
  EXPECT_EQ(full.status, 1) << full.err;
  EXPECT_THAT(full.err, HasSubstr("No space left on device"));
  const auto pipe =
      must(run_command({"sh", "-c", "\"$0\" probe \"$1\" thread__start -o - --duration 60s | head -c 1 > /dev/null",
                        jtrace_binary(), pid()}));
  EXPECT_LT(pipe.elapsed, std::chrono::seconds(50)) << "it continued to write without a reader";
}

TEST_F(ProbeRefusals, AJvmThatIsDeadIsNoProcess) {
  jvm_->signal(SIGKILL);
  const auto done = probe({pid(), "thread__start", "-o", "/dev/null"});
  // 0: it died while it was traced; 4: it was ending, and had no memory any more.
  EXPECT_THAT(done.status, ::testing::AnyOf(3, 0, 4)) << done.err;
  must(jvm_->wait_exit());
  EXPECT_EQ(probe({pid(), "thread__start", "-o", "/dev/null"}).status, 3);
}

// The trace has the number of lost hits; recorded and lost hits together are the kernel's own count.
TEST_F(ProbeRefusals, WhatIsLostAndWhatIsThereIsWhatTheKernelCounted) {
  auto calls = must(JvmProcess::start(jdk_, "ProbeCalls", {.flags = {"-XX:+DTraceMethodProbes"}}));
  const ScratchDir folder;
  const std::string path = folder.file("calls.xml");
  START_PROBE(tracer, {calls->pid_text(), "method__entry", "--ring-memory", "1M", "--summary", "-o", path});
  tracer.signal(SIGSTOP);  // now the ring is not emptied
  must(calls->ask("run 200000"));
  tracer.signal(SIGCONT);
  stop(tracer, 9);
  std::istringstream row(tracer.out().substr(tracer.out().find("hotspot:method__entry")));
  std::string name;
  std::uint64_t hits = 0, lost = 0;
  row >> name >> hits >> lost;
  auto trace = must(TraceDocument::read(path));
  EXPECT_TRUE(none(trace.faults()));
  std::uint64_t said = 0;
  for (const TraceElement* option : trace.all("option"))
    if (option->get("key") == "jtrace.dropped") said += option->number("value");
  EXPECT_GE(hits, 200'000u) << tracer.out();
  EXPECT_GT(lost, 0u) << tracer.out();
  EXPECT_EQ(trace.count("methodEntry") + lost, hits) << tracer.out();
  EXPECT_GE(said, lost);
  EXPECT_THAT(tracer.err(), HasSubstr(std::to_string(said) + " hits were lost: --ring-memory makes room"));
}

TEST_F(ProbeRefusals, ATextThatIsTooLongIsCutAndCounted) {
  const ScratchDir folder;
  const std::string path = folder.file("named.xml");
  START_PROBE(tracer, {pid(), "thread__start", "-o", path});
  must(jvm_->ask("named 10000"));
  stop(tracer);
  EXPECT_THAT(tracer.err(), HasSubstr("1 text was cut"));
  auto trace = must(TraceDocument::read(path));
  EXPECT_TRUE(none(trace.faults()));
  const auto threads = trace.all("threadStart");
  EXPECT_TRUE(std::any_of(threads.begin(), threads.end(), [](const TraceElement* thread) {
    return thread->get("threadName") == std::string(8192, 'n');
  }));
}

// Two traces of one JVM that need the same flag: it stays on until the last one ends, in whatever way the first one
// ends.
TEST_F(ProbeRefusals, AFlagStaysOnAsLongAsSomebodyNeedsIt) {
  const std::vector<std::string> probes{"monitor__contended__enter", "monitor__contended__entered"};
  const ScratchDir folder;
  const auto words = [&](const char* name, bool enable) {
    std::vector<std::string> all{pid(), probes[0], probes[1], "-o", folder.file(name)};
    if (enable) all.push_back("--enable-flags");
    return all;
  };
  for (const int end : {SIGINT, SIGKILL}) {
    START_PROBE(first, words("first.xml", true));
    START_PROBE(second, words("second.xml", end == SIGINT));  // it is on already, so no request is needed
    EXPECT_THAT(first.err() + second.err(), HasSubstr("DTraceMonitorProbes"));
    stop(first, end == SIGKILL ? 128 + SIGKILL : 0, end);
    if (end == SIGKILL) {
      // Its guard lives a moment longer: it has ended when a third trace's guard exists.
      START_PROBE(third, words("third.xml", true));
      stop(third);
    }
    must(jvm_->ask("contend 3"));
    stop(second);
    auto trace = must(TraceDocument::read(folder.file("second.xml")));
    EXPECT_GE(count_by_thread(trace, "monContendedEnter", "contender-"), 3);
    const auto off = probe({pid(), probes[0], "-o", "/dev/null"});
    EXPECT_EQ(off.status, 1) << "the flag is on though no trace needs it\n" << off.err;
  }
}

TEST(ProbeRefusalsOfFiles, AJdkWithoutProbesIsNamed) {
  const auto all = jdks();
  const auto old = std::find_if(all.begin(), all.end(), [](const Jdk& jdk) { return jdk.version == 8; });
  if (old == all.end()) GTEST_SKIP() << "no JDK 8 on this machine";
  auto jvm = must(JvmProcess::start(*old, "Workload"));
  const auto done = probe({jvm->pid_text(), "gc__begin", "-o", "/dev/null"});
  if (done.status == 0) GTEST_SKIP() << "this JDK 8 has probes";
  EXPECT_EQ(done.status, 1);
  EXPECT_THAT(done.err, AllOf(HasSubstr("--enable-dtrace"), HasSubstr("libjvm.so")));
}

TEST(ProbeRefusalsOfFiles, AFlagThatIsGoneIsNamedBeforeJavaStarts) {
  bool seen = false;
  for (const Jdk& jdk : jdks()) {
    if (jdk.root || jdk.version < 9) continue;
    const auto done = probe(
        {"method__entry", "-o", "/dev/null", "--", jdk.host_path("bin/java"), "-XX:+ExtendedDTraceProbes", "-version"});
    if (done.status == 5) JTRACE_SKIP("bpf", done.err);
    EXPECT_EQ(done.status, jdk.version >= 20 ? 2 : 0) << jdk.name << done.err;
    if (jdk.version >= 20) {
      EXPECT_THAT(done.err, HasSubstr("-XX:+DTraceMethodProbes"));
    }
    const auto silent = probe({"method__entry", "-o", "/dev/null", "--", jdk.host_path("bin/java"), "-version"});
    EXPECT_THAT(silent.err, HasSubstr("they will not fire: method__entry; give java -XX:+DTraceMethodProbes"));
    seen = true;
  }
  if (!seen) JTRACE_SKIP("live", "no JDK on this machine");
}

// An update replaces the libjvm.so of the running JVM by another, or deletes it.
TEST(ProbeRefusalsOfFiles, ALibjvmThatWasReplacedOrDeletedIsTracedAllTheSame) {
  JTRACE_NEED_JDK(jdk);
  if (jdk->root) JTRACE_SKIP("live", "no JDK outside of a tree on this machine");
  const ScratchDir folder;
  Jdk copy = *jdk;
  copy.home = folder.file("jdk");
  const std::string lib = copy.home + "/lib", libjvm = lib + "/server/libjvm.so";
  // The files that the launcher expects in its own folder; the large one by a link.
  const auto copied =
      must(run_command({"sh", "-c",
                        "set -e; cd '" + jdk->home + "'; mkdir -p '" + lib + "/server'; cp -rL bin conf '" + copy.home +
                            "'; for f in lib/*; do case $f in lib/modules) ln -s \"$PWD/$f\" '" + lib +
                            "';; *.zip|*.sym|lib/server) ;; *) cp -rL $f '" + lib +
                            "';; esac; done; cp -L lib/server/libjvm.so '" + libjvm + "'"}));
  ASSERT_EQ(copied.status, 0) << copied.err;
  JvmOptions options;
  options.arguments = {"busy"};
  const auto jvm = must(JvmProcess::start(copy, "Workload", options));
  for (const std::string& change :
       std::vector<std::string>{"cp '" + libjvm + "' '" + libjvm + ".new' && mv '" + libjvm + ".new' '" + libjvm + "'",
                                "rm '" + libjvm + "'"}) {
    ASSERT_EQ(run_command({"sh", "-c", change})->status, 0) << change;
    START_PROBE(tracer, {jvm->pid_text(), "gc__begin", "--count", "1", "-o", folder.file("trace.xml")});
    const auto status = must(tracer.wait_exit(std::chrono::minutes(1)));
    EXPECT_EQ(status, 0) << tracer.err();
    EXPECT_THAT(read_file(folder.file("trace.xml")).value_or(""), HasSubstr("<gcStart "));
  }
  EXPECT_TRUE(jvm->alive());
}

// A process with a libjvm.so that becomes another program.
TEST(ProbeRefusalsOfFiles, AProcessThatBecomesAnotherProgramEndsTheTrace) {
  JTRACE_NEED_JDK(jdk);
  if (jdk->root) JTRACE_SKIP("live", "no JDK outside of a tree on this machine");
  const std::string script =
      "import ctypes,os,signal,sys\n"
      "ctypes.CDLL(sys.argv[1])\n"
      "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
      "print('READY', flush=True)\n"
      "signal.sigwait([signal.SIGUSR1])\n"
      "os.execv('/bin/sleep', ['sleep', '1000'])\n";
  auto process = must(BackgroundCommand::start({"python3", "-c", script, jdk->libjvm()}));
  if (!process->wait_out_line("READY", std::chrono::seconds(60))) GTEST_SKIP() << process->err();
  START_PROBE(tracer, {std::to_string(process->pid()), "gc__begin", "-o", "/dev/null"});
  process->signal(SIGUSR1);
  const auto status = must(tracer.wait_exit(std::chrono::minutes(1)));
  EXPECT_EQ(status, 0) << tracer.err();
  EXPECT_THAT(tracer.err(), HasSubstr("has become another program"));
}

}  // namespace
}  // namespace jtrace::test
