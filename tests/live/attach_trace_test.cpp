// The main use: `jtrace attach PID` on a JVM that was not prepared for it. Each test runs on all JDKs and their
// collectors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "base/file.h"
#include "tests/testlib/require.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class EachCollector : public ::testing::TestWithParam<JdkAndCollector> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachCollector);
INSTANTIATE_TEST_SUITE_P(Jdks, EachCollector, ::testing::ValuesIn(jdks_and_collectors()), NameOf());

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

// The default events and classDef of every class that is prepared from now on; contentions of any length.
const std::vector<std::string> kWithClasses{"--events", "threads,classes,gc,monitors,runtime", "--min-contention", "0"};

std::set<std::string> names_of_threads(const TraceDocument& trace) {
  std::set<std::string> names;
  for (const TraceElement* thread : trace.all("threadStart")) names.insert(thread->get("threadName"));
  return names;
}

// ZGC unloads classes from JDK 12 on (JDK-8214897).
bool unloads_classes(const Jdk& jdk, Collector collector) { return to_string(collector) != "Z" || jdk.version >= 12; }

TEST_P(EachCollector, TracesWhatTheProgramDoes) {
  const auto& [jdk, collector] = GetParam();
  TracedJvm jvm(jdk, "Workload", kWithClasses, attachable(jdk, jdk.collector_flags(collector)));
  jvm.ask_each({"threads 50", "contend 5", "wait 3", "load 20"});
  if (unloads_classes(jdk, collector)) {
    jvm.ask("unload 20");
  }
  jvm.ask_each({"gc 2", "garbage 100"});
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_THAT(count_by_thread(trace, "threadEnd", "worker-"), 50);
  EXPECT_THAT(count_by_thread(trace, "monContendedEnter", "contender-"), Ge(5));
  EXPECT_THAT(count_by_thread(trace, "monContendedEntered", "contender-"), Ge(5));
  EXPECT_THAT(count_by_thread(trace, "monWait", "waiter-"), Ge(3));
  EXPECT_THAT(count_by_thread(trace, "monWaited", "waiter-"), Ge(3));
  EXPECT_THAT(count_classes(trace, "Workload$Plugin"), 20);
  EXPECT_THAT(trace.count("gcFinish"), Ge(3u));
  EXPECT_THAT(trace.option("jtrace.dropped"), ::testing::AnyOf("", "0"));
  EXPECT_EQ(jvm.err(), "");
  EXPECT_TRUE(jvm.process().ask("counts"));
  record_support(jdk, to_string(collector), "live", "trace by attach");
}

TEST_P(EachCollector, UnloadsExactlyTheClassesThatWent) {
  const auto& [jdk, collector] = GetParam();
  if (!unloads_classes(jdk, collector)) {
    record_support(jdk, to_string(collector), "live", "classUnload", "the ZGC of JDK 11 unloads no classes");
    GTEST_SKIP() << "JDK 11's ZGC unloads no classes";
  }
  TracedJvm jvm(jdk, "Workload", kWithClasses, attachable(jdk, jdk.collector_flags(collector)));
  jvm.ask("load 30");
  jvm.ask("unload 30");
  const TraceDocument trace = jvm.finish();
  std::set<std::string> plugins;
  for (const TraceElement* definition : trace.all("classDef"))
    if (definition->get("name") == "Workload$Plugin") plugins.insert(definition->get("classId"));
  int unloaded = 0;
  for (const TraceElement* event : trace.all("classUnload")) unloaded += plugins.contains(event->get("classIdRef"));
  EXPECT_EQ(plugins.size(), 30u);
  EXPECT_EQ(unloaded, 30);
  record_support(jdk, to_string(collector), "live", "classUnload");
}

TEST_P(EachJdk, NamesTheThreadsThatRanBefore) {
  auto jvm = must(JvmProcess::start(GetParam(), "Workload", attachable(GetParam())));
  must(jvm->ask("hold 10"));
  auto run = must(TraceRun::start(jvm->pid()));
  auto ids = must(jvm->ask("threadids"));
  auto trace = must(run->finish());
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(names_of_threads(trace).contains("held-" + std::to_string(i))) << i;
  // threadId is java.lang.Thread's own id.
  for (const TraceElement* thread : trace.all("threadStart"))
    if (thread->get("threadName").rfind("held-", 0) == 0) {
      EXPECT_THAT(ids, HasSubstr(thread->get("threadId") + "=" + thread->get("threadName")));
    }
}

TEST_P(EachJdk, CanBeTracedAgainAndAgainAndNothingStays) {
  auto jvm = must(JvmProcess::start(GetParam(), "Workload", attachable(GetParam())));
  std::vector<std::string> threads;
  for (int i = 0; i < 5; ++i) {
    SCOPED_TRACE("attach " + std::to_string(i));
    auto run = must(TraceRun::start(jvm->pid()));
    must(jvm->ask("threads 3"));
    auto trace = must(run->finish());
    EXPECT_TRUE(none(trace.faults()));
    EXPECT_TRUE(valid(run->path()));
    EXPECT_EQ(count_by_thread(trace, "threadEnd", "worker-"), 3);
    // The first attach starts the JVM's own listener thread; later attaches start no more threads.
    if (i == 0) threads = threads_of(jvm->pid());
  }
  for (const std::string& thread : threads_of(jvm->pid())) EXPECT_THAT(thread, ::testing::Not(HasSubstr("jtrace")));
  std::set<std::string> mapped;
  auto maps = must(read_file("/proc/" + jvm->pid_text() + "/maps"));
  EXPECT_THAT(maps, ::testing::Not(HasSubstr(".pool")));
  EXPECT_EQ(jvm->err(), "");
  EXPECT_TRUE(jvm->alive());
}

// While it starts it takes commands before it can be traced: the trace begins a moment later.
TEST_P(EachJdk, TracesAJvmThatIsStarting) {
  const ScratchDir folder;
  for (int age = 0; age < 160; age += 20) {
    JvmOptions options = attachable(GetParam(), {"-Xmx32m"});
    options.wait_ready = false;
    const auto jvm = must(JvmProcess::start(GetParam(), "Idle", options));
    std::this_thread::sleep_for(std::chrono::milliseconds(age));
    const std::vector<std::string> attach = {"attach", jvm->pid_text(), "-o", folder.file("t.xml"), "--duration",
                                             "0.1"};
    CommandOutput done = must(run_jtrace(attach));
    for (int tries = 200; done.status == 4 && tries > 0; --tries) done = must(run_jtrace(attach));  // no JVM yet
    EXPECT_EQ(done.status, 0) << age << " ms old: " << done.err;
    EXPECT_TRUE(jvm->wait_line("READY", std::chrono::seconds(60)));
    EXPECT_THAT(must(read_file("/proc/" + jvm->pid_text() + "/maps")), ::testing::Not(HasSubstr(".pool")));
  }
}

TEST_P(EachJdk, RefusesASecondTraceAtTheSameTime) {
  TracedJvm jvm(GetParam(), "Workload");
  const ScratchDir folder;
  auto second = must(run_jtrace({"attach", jvm.pid_text(), "-o", folder.file("second.xml"), "--duration", "1"}));
  EXPECT_NE(second.status, 0);
  EXPECT_THAT(second.err, HasSubstr(jvm.pid_text()));
  jvm.ask("threads 2");
  const TraceDocument trace = jvm.finish();
  EXPECT_EQ(count_by_thread(trace, "threadEnd", "worker-"), 2);
}

TEST_P(EachJdk, LosesNothingWhenTheJvmIsKilled) {
  TracedJvm jvm(GetParam(), "Workload");
  jvm.ask("threads 40");
  jvm.process().signal(SIGKILL);
  auto status = jvm.wait_exit();
  EXPECT_THAT(status, ::testing::AnyOf(0, 9)) << jvm.command().err();
  EXPECT_THAT(jvm.command().err(), HasSubstr("JVM " + jvm.pid_text() + " was killed"));
  const TraceDocument trace = jvm.document();
  jvm.expect_valid(trace);
  EXPECT_EQ(count_by_thread(trace, "threadEnd", "worker-"), 40);
}

// Threads die within calls, waits and collections, and jtrace learns of it later.
TEST_P(EachJdk, IsSoundWhereTheJvmIsKilledAtWork) {
  JvmOptions options = attachable(GetParam(), {"-Xmx200m"});
  options.arguments = {"2"};
  TracedJvm jvm(GetParam(), "LastingWork",
                {"--events", "threads,gc,monitors,exceptions,methods", "--filter", "LastingWork$Table include",
                 "--filter", "* exclude"},
                options);
  jvm.wait_rewritten();
  for (const long first = std::stol(jvm.ask("rounds")); std::stol(jvm.ask("rounds")) < first + 20;) usleep(1000);
  jvm.process().signal(SIGKILL);
  EXPECT_THAT(jvm.wait_exit(), ::testing::AnyOf(0, 9)) << jvm.command().err();
  const auto checked = must(run_jtrace({"validate", jvm.path()}));
  EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
  EXPECT_GT(jvm.document().count("methodEntry"), 0u);
}

TEST_P(EachJdk, EndsWithTheJvm) {
  TracedJvm jvm(GetParam(), "Workload");
  jvm.process().close_input();
  auto status = jvm.wait_exit();
  EXPECT_EQ(status, 0) << jvm.command().err();
  EXPECT_THAT(jvm.command().err(), HasSubstr("JVM " + jvm.pid_text() + " ended"));
  const TraceDocument trace = jvm.document();
  jvm.expect_valid(trace);
  EXPECT_EQ(trace.count("runtimeShutdown"), 1u);
  auto exit = must(jvm.process().wait_exit());
  EXPECT_EQ(exit, 0);
}

TEST_P(EachJdk, SurvivesTheDeathOfJtrace) {
  auto jvm = must(JvmProcess::start(GetParam(), "Workload", attachable(GetParam())));
  {
    auto run = must(TraceRun::start(jvm->pid()));
    run->command().signal(SIGKILL);
    must(run->command().wait_exit());
  }
  // The program continues, the agent cleans up by itself, and the next attach works.
  for (const char* command : {"threads 20", "contend 3", "gc 1"}) must(jvm->ask(command));
  auto again = must(TraceRun::start(jvm->pid()));
  must(jvm->ask("threads 4"));
  auto trace = must(again->finish());
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_TRUE(valid(again->path()));
  EXPECT_EQ(count_by_thread(trace, "threadEnd", "worker-"), 4);
  EXPECT_EQ(jvm->err(), "");
}

TEST_P(EachJdk, TakesAHundredThousandVirtualThreads) {
  if (GetParam().version < 21) GTEST_SKIP() << "no virtual threads before JDK 21";
  TracedJvm jvm(GetParam(), "Workload", {"--virtual-threads"});
  jvm.ask("virtual 100000");
  const TraceDocument trace = jvm.finish();
  jvm.expect_valid(trace);
  EXPECT_GE(trace.count("threadStart"), 100000u);
  EXPECT_GE(trace.count("threadEnd"), 100000u);
  record_support(GetParam(), "G1", "live", "virtual threads");
}

TEST_P(EachJdk, IsSoundUnderEverythingAtOnce) {
  std::vector<std::string> arguments{"--events",         "all", "--free", "nested", "--monitor-owner",
                                     "--loaded-classes", "all"};
  if (GetParam().version >= 21) arguments.push_back("--virtual-threads");
  TracedJvm jvm(GetParam(), "Workload", arguments, [] {
    JvmOptions options = attachable(GetParam());
    options.arguments = {"busy"};
    return options;
  }());
  for (int i = 0; i < 5; ++i)
    jvm.ask_each({"hold 50", "threads 50", "contend 20", "load 50", "garbage 200", "gc 2", "wait 10", "release"});
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_EQ(count_by_thread(trace, "threadEnd", "held-"), 250);
  EXPECT_EQ(jvm.err(), "");
}

TEST_P(EachJdk, ReportsEveryObjectOnRequest) {
  if (GetParam().version < 11) GTEST_SKIP() << "JVM TI tells of allocations from JDK 11 on (JEP 331)";
  TracedJvm jvm(GetParam(), "Workload", {"--events", "objects,gc", "--sample-interval", "0"});
  // HotSpot chose the byte at which it samples next before the interval was set (ThreadHeapSampler): a thread that ran
  // before must first allocate up to that byte.
  jvm.ask("garbage 64");
  jvm.ask("alloc 1000");
  jvm.ask("gc 2");
  const TraceDocument trace = jvm.finish_valid();
  // The user is told of it.
  std::size_t told = 0;
  for (const TraceElement* option : trace.all("option"))
    if (option->get("key") == "jtrace.unavailable" && option->get("value").starts_with("objAlloc: threads that run"))
      ++told;
  EXPECT_EQ(told, 1u);
  std::set<std::string> sample_class;
  for (const TraceElement* definition : trace.all("classDef"))
    if (definition->get("name") == "Workload$Sample") sample_class.insert(definition->get("classId"));
  std::set<std::string> samples;
  for (const TraceElement* object : trace.all("objAlloc"))
    if (sample_class.contains(object->get("classIdRef"))) samples.insert(object->get("objId"));
  std::size_t freed = 0;
  for (const TraceElement* object : trace.all("objFree")) freed += samples.contains(object->get("objIdRef"));
  if (GetParam().version < 17) {
    // The sampler of these JDKs misses objects even at interval 0, by hundreds.
    record_support(GetParam(), "G1", "live", "every object", "JVM TI's sampler passes over objects even at interval 0");
    EXPECT_GT(trace.count("objAlloc"), 0u);
    return;
  }
  EXPECT_GE(samples.size(), 999u);       // JDK 17's misses one in a million
  EXPECT_GE(freed + 1, samples.size());  // the last one is still in a field
  record_support(GetParam(), "G1", "live", "every object");
}

TEST_P(EachJdk, TracesIntoAContainer) {
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("live", why);
  for (const Isolation isolation : {Isolation::kMount, Isolation::kContainer}) {
    JvmOptions options = attachable(GetParam());
    options.isolation = isolation;
    TracedJvm jvm(GetParam(), "Workload", {}, options);
    jvm.ask("threads 5");
    const TraceDocument trace = jvm.finish_valid();
    EXPECT_EQ(count_by_thread(trace, "threadEnd", "worker-"), 5);
    EXPECT_EQ(jvm.err(), "");
  }
  record_support(GetParam(), "G1", "live", "JVM in a mount and pid namespace");
}

}  // namespace
}  // namespace jtrace::test
