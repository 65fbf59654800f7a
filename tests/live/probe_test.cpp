// `jtrace probe` on JVMs without preparation, except for the flag that monitor probes need: no agent, no attach.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <map>
#include <sstream>

#include "base/file.h"
#include "tests/live/probe_run.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

using ::testing::AnyOf;
using ::testing::Ge;
using ::testing::HasSubstr;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

std::string uprobes_of_the_kernel() {
  for (const char* path : {"/sys/kernel/tracing/uprobe_events", "/sys/kernel/debug/tracing/uprobe_events"})
    if (auto text = read_file(path)) return *text;
  return "";
}

TEST_P(EachJdk, ReportsThreadsMonitorsClassesAndCollections) {
  NEED_PROBES(GetParam());
  auto jvm = must(JvmProcess::start(GetParam(), "Workload", {.flags = {"-XX:+DTraceMonitorProbes"}}));
  const std::string before = uprobes_of_the_kernel();
  const ScratchDir folder;
  const std::string path = folder.file("probe.xml");
  START_PROBE(probe, {jvm->pid_text(), "-o", path});
  for (const char* command : {"threads 30", "contend 5", "wait 3", "load 5", "gc 2"}) must(jvm->ask(command));
  stop(probe);
  auto trace = must(TraceDocument::read(path));
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_TRUE(valid(path));
  EXPECT_EQ(count_by_thread(trace, "threadEnd", "worker-"), 30);
  EXPECT_THAT(count_by_thread(trace, "monContendedEnter", "contender-"), Ge(5));
  EXPECT_THAT(count_by_thread(trace, "monContendedEntered", "contender-"), Ge(5));
  EXPECT_THAT(count_by_thread(trace, "monWait", "waiter-"), Ge(3));
  EXPECT_THAT(trace.count("gcStart"), Ge(2u));
  EXPECT_EQ(count_classes(trace, "Workload$Plugin"), 5);
  EXPECT_EQ(jvm->err(), "");
  EXPECT_TRUE(jvm->ask("threads 2"));
  EXPECT_EQ(uprobes_of_the_kernel(), before);
  record_support(GetParam(), "G1", "live", "trace by USDT probes");
}

const TraceElement* only(const TraceDocument& trace, std::string_view element, std::string_view attribute,
                         const std::string& value) {
  const TraceElement* found = nullptr;
  for (const TraceElement* one : trace.all(element)) {
    if (one->get(attribute) != value) continue;
    EXPECT_EQ(found, nullptr) << element << " " << value << " is there twice";
    found = one;
  }
  return found;
}

// Threads and classes that no probe has announced: from the JVM's own tables.
TEST_P(EachJdk, KnowsTheThreadsAndClassesFromBefore) {
  NEED_PROBES(GetParam());
  auto jvm = must(JvmProcess::start(GetParam(), "Workload", {.flags = {"-XX:+DTraceMonitorProbes"}}));
  must(jvm->ask("hold 5"));
  const auto threads = must(jvm->ask("threadids"));
  const ScratchDir folder;
  const std::string path = folder.file("probe.xml");
  START_PROBE(probe, {jvm->pid_text(), "-o", path});
  for (const char* command : {"wait 1", "load 1", "release"}) must(jvm->ask(command));
  stop(probe);
  auto trace = must(TraceDocument::read(path));
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_TRUE(valid(path));
  std::istringstream words(threads);
  std::string first_id;
  int seen = 0;
  for (std::string word; words >> word; ++seen) {
    const std::string id = word.substr(0, word.find('=')), name = word.substr(id.size() + 1);
    const TraceElement* thread = only(trace, "threadStart", "threadId", id);
    ASSERT_TRUE(thread) << word;
    std::string its = thread->get("threadName");
    std::replace(its.begin(), its.end(), ' ', '_');
    EXPECT_EQ(its, name);
    EXPECT_EQ(thread->get("groupName"),
              name == "main" || name.starts_with("held-") ? "main" : thread->get("groupName"));
    EXPECT_NE(thread->get("groupName"), "") << word;
    if (name == "main") first_id = id;
  }
  EXPECT_GE(seen, 6) << threads;
  EXPECT_EQ(count_by_thread(trace, "threadEnd", "held-"), 5);
  EXPECT_THAT(count_by_thread(trace, "monWait", "main"), Ge(1)) << "the wait that times out";
  EXPECT_TRUE(only(trace, "threadStart", "threadId", first_id));
  const TraceElement* object = only(trace, "classDef", "name", "java/lang/Object");
  ASSERT_TRUE(object) << "that of the monitor";
  EXPECT_EQ(object->get("access"), "public");
  EXPECT_EQ(object->get("classLoader"), "");
  EXPECT_THAT(object->number("numMethods"), Ge(11u));
  const TraceElement* plugin = only(trace, "classDef", "name", "Workload$Plugin");
  ASSERT_TRUE(plugin);
  EXPECT_EQ(plugin->get("superclass"), "java/lang/Object");
  EXPECT_EQ(plugin->get("interfaceNames"), "java/lang/Runnable");
  EXPECT_EQ(plugin->get("classLoader"), "Workload$PluginLoader");
  EXPECT_EQ(plugin->get("sourceName"), "Workload.java");
  EXPECT_EQ(plugin->get("access"), "public");
  EXPECT_EQ(plugin->get("numMethods"), "2");
  EXPECT_EQ(plugin->get("numStaticFields"), "1");
  EXPECT_EQ(plugin->get("numInstanceFields"), "0");
  EXPECT_EQ(jvm->err(), "");
}

TEST_P(EachJdk, LeavesNothingWhenItIsKilled) {
  NEED_PROBES(GetParam());
  auto jvm = must(JvmProcess::start(GetParam(), "Workload"));
  const std::string before = uprobes_of_the_kernel();
  const ScratchDir folder;
  START_PROBE(probe, {jvm->pid_text(), "-o", folder.file("x.xml")});
  stop(probe, 128 + SIGKILL, SIGKILL);
  must(jvm->ask("threads 30"));
  EXPECT_EQ(uprobes_of_the_kernel(), before);
  EXPECT_EQ(jvm->err(), "");
}

TEST_P(EachJdk, EndsWithTheJvm) {
  NEED_PROBES(GetParam());
  auto jvm = must(JvmProcess::start(GetParam(), "Workload"));
  const ScratchDir folder;
  const std::string path = folder.file("x.xml");
  START_PROBE(probe, {jvm->pid_text(), "-o", path});
  jvm->close_input();
  const auto status = must(probe.wait_exit());
  EXPECT_EQ(status, 0) << probe.err();
  auto trace = must(TraceDocument::read(path));
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_EQ(trace.count("runtimeShutdown"), 1u);
}

// Whether the flag of a probe is on, according to `jtrace probes`.
bool is_enabled(const JvmProcess& jvm, const std::string& probe) {
  const auto done = run_jtrace({"probes", jvm.pid_text(), "hotspot:" + probe, "--format", "json"});
  EXPECT_TRUE(succeeded(done));
  return done && done->out.find("\"enabled\":true") != std::string::npos;
}

TEST_P(EachJdk, SwitchesFlagsOnAndOffAgain) {
  NEED_PROBES(GetParam());
  auto jvm = must(JvmProcess::start(GetParam(), "Workload"));
  const ScratchDir folder;
  const std::string path = folder.file("probe.xml");
  std::vector<std::string> words{jvm->pid_text(), "monitor__contended__enter", "monitor__contended__entered", "-o",
                                 path};
  std::vector<std::string> without(words);
  without.insert(without.begin(), "probe");
  const auto refused = must(run_jtrace(without));
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("-XX:+DTraceMonitorProbes"));
  EXPECT_THAT(refused.err, HasSubstr("--enable-flags"));

  words.push_back("--enable-flags");
  for (const int end : {SIGINT, SIGKILL}) {
    START_PROBE(probe, words);
    EXPECT_TRUE(is_enabled(*jvm, "monitor__contended__enter"));
    must(jvm->ask("contend 5"));
    stop(probe, end == SIGKILL ? 128 + SIGKILL : 0, end);
    // The guard does it; it outlives a killed tool for a moment.
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (is_enabled(*jvm, "monitor__contended__enter") && std::chrono::steady_clock::now() < limit) {
    }
    EXPECT_FALSE(is_enabled(*jvm, "monitor__contended__enter"));
    if (end == SIGKILL) continue;
    auto trace = must(TraceDocument::read(path));
    EXPECT_TRUE(none(trace.faults()));
    EXPECT_THAT(count_by_thread(trace, "monContendedEnter", "contender-"), Ge(5));
  }
  EXPECT_EQ(jvm->err(), "");
  record_support(GetParam(), "G1", "live", "probes switched on");
}

TEST_P(EachJdk, CountsMethodsInTheKernel) {
  NEED_PROBES(GetParam());
  auto jvm = must(JvmProcess::start(GetParam(), "ProbeCalls", {.flags = {"-XX:+DTraceMethodProbes"}}));
  const ScratchDir folder;
  const std::string path = folder.file("counts.xml");
  START_PROBE(probe, {jvm->pid_text(), "method__entry", "--count-methods", "-o", path});
  must(jvm->ask("run 20000"));
  stop(probe);
  auto trace = must(TraceDocument::read(path));
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_TRUE(valid(path));
  EXPECT_EQ(trace.count("methodEntry"), 0u);
  std::string called;
  for (const TraceElement* method : trace.all("methodDef"))
    if (method->get("name") == "called") called = method->get("methodId");
  std::uint64_t count = 0;
  for (const TraceElement* counted : trace.all("methodCount"))
    if (counted->get("methodIdRef") == called) count += counted->number("count");
  EXPECT_EQ(count, 20000u);
}

// "hotspot:gc__begin 12 0" of a summary, "@[gc__begin]: 12" of bpftrace.
std::map<std::string, std::uint64_t> counts_of(const std::string& text, bool summary) {
  std::map<std::string, std::uint64_t> counts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (summary && line.starts_with("DURATION")) break;  // a second table with the same names
    const std::string begin = summary ? "hotspot:" : "@[";
    if (!line.starts_with(begin)) continue;
    const std::size_t end = line.find(summary ? " " : "]");
    if (end == line.npos) continue;
    counts[line.substr(begin.size(), end - begin.size())] = std::stoull(line.substr(end + (summary ? 1 : 2)));
  }
  return counts;
}

// The kernel's own count of each probe is between jtrace's counts of a shorter and of a longer time: equal if nothing
// else fires in between.
TEST_P(EachJdk, CountsWhatBpftraceCounts) {
  NEED_PROBES(GetParam());
  if (const auto there = run_command({"bpftrace", "--version"}); !there || there->status != 0)
    GTEST_SKIP() << "bpftrace is not here to compare with";
  auto jvm = must(JvmProcess::start(
      GetParam(), "Workload",
      {.flags = {"-XX:+DTraceMonitorProbes", "-XX:+DTraceAllocProbes", "-XX:+UseSerialGC", "-Xmx64m"}}));
  const std::vector<std::string> fired{"thread__start",
                                       "thread__stop",
                                       "class__loaded",
                                       "gc__begin",
                                       "gc__end",
                                       "mem__pool__gc__begin",
                                       "mem__pool__gc__end",
                                       "monitor__contended__enter",
                                       "monitor__wait",
                                       "monitor__waited",
                                       "monitor__contended__exit",
                                       "object__alloc",
                                       "monitor__notify",
                                       "monitor__notifyAll",
                                       "thread__park__begin",
                                       "thread__unpark"};
  const ScratchDir folder;
  const auto ours = [&](const char* name) {
    std::vector<std::string> words{jvm->pid_text(), "--summary", "-o", folder.file(name)};
    words.insert(words.begin() + 1, fired.begin(), fired.end());
    return words;
  };
  std::string script = "interval:ms:100 { printf(\"tick\\n\"); }";
  for (const std::string& name : fired)
    script += " usdt:" + GetParam().libjvm() + ":hotspot:" + name + " /pid == " + jvm->pid_text() + "/ { @[\"" + name +
              "\"] = count(); }";
  START_PROBE(outer, ours("outer.xml"));
  auto peer = must(BackgroundCommand::start({"bpftrace", "-e", script}));
  if (!peer->wait_out_line("tick", std::chrono::seconds(60)))
    GTEST_SKIP() << "bpftrace does not work here: " << peer->err();
  START_PROBE(inner, ours("inner.xml"));
  for (const char* command : {"threads 20", "contend 5", "wait 3", "load 3", "alloc 1000", "gc 2", "park 2"})
    must(jvm->ask(command));
  for (BackgroundCommand* tracer : {&inner, peer.get(), &outer}) stop(*tracer);
  auto least = counts_of(inner.out(), true), theirs = counts_of(peer->out(), false),
       most = counts_of(outer.out(), true);
  std::size_t seen = 0;
  for (const std::string& name : fired) {
    EXPECT_LE(least[name], theirs[name]) << name;
    EXPECT_LE(theirs[name], most[name]) << name << "\n" << outer.out() << inner.out() << peer->out();
    seen += least[name] > 0;
  }
  EXPECT_GE(seen, 11u) << inner.out();
  EXPECT_EQ(jvm->err(), "");
}

TEST(ProbeRights, NamesTheCapabilitiesAndNeedsNoOthers) {
  JTRACE_NEED_JDK(jdk);
  if (::geteuid() != 0) JTRACE_SKIP("bpf", "takes root to be another user");
  constexpr unsigned kNobody = 65534;
  auto jvm = JvmProcess::start(*jdk, "Workload", {.uid = kNobody, .gid = kNobody});
  if (!jvm) GTEST_SKIP() << "no JVM as another user: " << jvm.error().message();
  const auto as_nobody = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {jtrace_binary(), "probe", (*jvm)->pid_text(), "thread__start", "--duration", "0.2s",
                               "-o", "/dev/null"});
    return run_command(words, {.timeout = std::chrono::minutes(2)});
  };
  const auto refused = must(as_nobody({}));
  if (refused.err.find("setpriv:") != std::string::npos) GTEST_SKIP() << refused.err;
  EXPECT_EQ(refused.status, 5) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("CAP_BPF"));
  EXPECT_THAT(refused.err, HasSubstr("CAP_PERFMON"));
  const auto allowed = must(as_nobody({"--inh-caps=-all,+bpf,+perfmon", "--ambient-caps=-all,+bpf,+perfmon"}));
  if (allowed.err.find("needs Linux") != std::string::npos) JTRACE_SKIP("bpf", allowed.err);
  EXPECT_EQ(allowed.status, 0) << allowed.err;
}

// The other back ends give the same result; each hit is recorded once.
TEST(ProbeBackEnds, SayTheSame) {
  JTRACE_NEED_JDK(jdk);
  auto jvm = must(JvmProcess::start(*jdk, "Workload", {.flags = {"-XX:+DTraceMonitorProbes"}}));
  const ScratchDir folder;
  for (const char* back_end : {"uprobe_multi", "perf_bpf", "perf"}) {
    const std::string path = folder.file(std::string(back_end) + ".xml");
    START_PROBE(probe, {jvm->pid_text(), "--backend", back_end, "-o", path});
    for (const char* command : {"threads 7", "contend 3", "load 4", "gc 1"}) must(jvm->ask(command));
    probe.signal(SIGINT);
    auto status = must(probe.wait_exit(std::chrono::minutes(2)));
    // Without BPF the name of a thread is unknown if the thread has ended when its start is handled.
    const bool names = back_end != std::string("perf");
    EXPECT_THAT(status, AnyOf(0, names ? 0 : 9)) << back_end << probe.err();
    EXPECT_THAT(probe.err(), HasSubstr(std::string(" by ") + back_end));
    auto trace = must(TraceDocument::read(path));
    EXPECT_TRUE(none(trace.faults()));
    EXPECT_TRUE(valid(path));
    const char* worker = names ? "worker-" : "";
    EXPECT_THAT(count_by_thread(trace, "threadEnd", worker), Ge(7)) << back_end;
    EXPECT_THAT(count_by_thread(trace, "monContendedEnter", names ? "contender-" : ""), Ge(3)) << back_end;
    EXPECT_EQ(count_classes(trace, "Workload$Plugin"), 4) << back_end;
    EXPECT_THAT(trace.count("gcStart"), Ge(1u)) << back_end;
  }
  EXPECT_EQ(jvm->err(), "");
}

TEST(ProbeTargets, AreSeveralWithATraceEach) {
  JTRACE_NEED_JDK(jdk);
  std::vector<std::unique_ptr<JvmProcess>> jvms;
  for (int i = 0; i < 2; ++i) {
    auto jvm = must(JvmProcess::start(*jdk, "Workload"));
    jvms.push_back(std::move(jvm));
  }
  const ScratchDir folder;
  // Waits for the message that it traces the first JVM, then for that of the other.
  START_PROBE(probe, {jvms[0]->pid_text(), jvms[1]->pid_text(), "thread__start", "thread__stop"},
              {.directory = folder.path()});
  ASSERT_TRUE(probe.wait_err_line("jtrace: tracing", std::chrono::seconds(60))) << probe.err();
  must(jvms[0]->ask("threads 3"));
  must(jvms[1]->ask("threads 5"));
  stop(probe, 0, SIGTERM);
  for (int i = 0; i < 2; ++i) {
    auto trace =
        must(TraceDocument::read(folder.file("jtrace-" + jvms[static_cast<std::size_t>(i)]->pid_text() + ".xml")));
    EXPECT_TRUE(none(trace.faults()));
    EXPECT_EQ(count_by_thread(trace, "threadEnd", "worker-"), i == 0 ? 3 : 5);
  }
}

TEST(ProbeRights, RefusesWhatCannotWork) {
  JTRACE_NEED_JDK(jdk);
  auto jvm = must(JvmProcess::start(*jdk, "ProbeCalls", {.flags = {"-Xint"}}));
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "probe");
    const auto done = run_jtrace(words);
    return done ? *done : CommandOutput{.err = done.error().message()};
  };
  const std::string pid = jvm->pid_text();
  const auto unknown = run({pid, "gc__begun", "-o", "/dev/null"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("gc__begin")) << "the nearest name";
  EXPECT_EQ(run({"4194303", "gc__begin", "-o", "/dev/null"}).status, 3);
  EXPECT_EQ(run({std::to_string(::getpid()), "gc__begin", "-o", "/dev/null"}).status, 4);
  EXPECT_EQ(run({"--enable-flags", "method__entry", "-o", "/dev/null", "--", "java", "-version"}).status, 2);
  if (jdk->version < 24) return;
  const auto silent = run({pid, "method__entry", "--enable-flags", "--duration", "0.1s", "-o", "/dev/null"});
  EXPECT_EQ(silent.status, 1) << silent.err;
  EXPECT_THAT(silent.err, HasSubstr("-Xint"));
}

}  // namespace
}  // namespace jtrace::test
