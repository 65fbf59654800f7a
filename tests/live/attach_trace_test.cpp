// The main job: `jtrace attach PID` on a JVM that nobody prepared. One body over all JDKs and their collectors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <map>
#include <set>

#include "base/file.h"
#include "tests/testlib/require.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

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
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachJdk);
INSTANTIATE_TEST_SUITE_P(Jdks, EachJdk, ::testing::ValuesIn(jdks()), NameOf());

// The default events and classDef of every class that is prepared from now on.
const std::vector<std::string> kWithClasses{"--events", "threads,classes,gc,monitors,runtime"};

std::set<std::string> names_of_threads(const TraceDocument& trace) {
  std::set<std::string> names;
  for (const TraceElement* thread : trace.all("threadStart")) names.insert(thread->get("threadName"));
  return names;
}

// ZGC learned to unload classes in JDK 12 (JDK-8214897).
bool unloads_classes(const Jdk& jdk, Collector collector) { return to_string(collector) != "Z" || jdk.version >= 12; }

TEST_P(EachCollector, traces_what_the_program_does) {
  const auto& [jdk, collector] = GetParam();
  auto jvm = JvmProcess::start(jdk, "Workload", attachable(jdk, jdk.collector_flags(collector)));
  ASSERT_TRUE(succeeded(jvm));
  auto run = TraceRun::start((*jvm)->pid(), kWithClasses);
  ASSERT_TRUE(succeeded(run));
  for (const char* command : {"threads 50", "contend 5", "wait 3", "load 20"})
    ASSERT_TRUE(succeeded((*jvm)->ask(command))) << command;
  if (unloads_classes(jdk, collector)) {
    ASSERT_TRUE(succeeded((*jvm)->ask("unload 20")));
  }
  for (const char* command : {"gc 2", "garbage 100"}) ASSERT_TRUE(succeeded((*jvm)->ask(command))) << command;
  auto trace = (*run)->finish();
  ASSERT_TRUE(succeeded(trace));

  EXPECT_TRUE(none(trace->faults()));
  EXPECT_TRUE(valid((*run)->path()));
  EXPECT_THAT(count_by_thread(*trace, "threadEnd", "worker-"), 50);
  EXPECT_THAT(count_by_thread(*trace, "monContendedEnter", "contender-"), Ge(5));
  EXPECT_THAT(count_by_thread(*trace, "monContendedEntered", "contender-"), Ge(5));
  EXPECT_THAT(count_by_thread(*trace, "monWait", "waiter-"), Ge(3));
  EXPECT_THAT(count_by_thread(*trace, "monWaited", "waiter-"), Ge(3));
  EXPECT_THAT(count_classes(*trace, "Workload$Plugin"), 20);
  EXPECT_THAT(trace->count("gcFinish"), Ge(3u));
  EXPECT_THAT(trace->option("jtrace.dropped"), ::testing::AnyOf("", "0"));
  EXPECT_EQ((*jvm)->err(), "");
  EXPECT_TRUE((*jvm)->ask("counts"));
  record_support(jdk, to_string(collector), "live", "trace by attach");
}

TEST_P(EachCollector, unloads_exactly_the_classes_that_went) {
  const auto& [jdk, collector] = GetParam();
  if (!unloads_classes(jdk, collector)) {
    record_support(jdk, to_string(collector), "live", "classUnload", "the ZGC of JDK 11 unloads no classes");
    GTEST_SKIP() << "JDK 11's ZGC unloads no classes";
  }
  auto jvm = JvmProcess::start(jdk, "Workload", attachable(jdk, jdk.collector_flags(collector)));
  ASSERT_TRUE(succeeded(jvm));
  auto run = TraceRun::start((*jvm)->pid(), kWithClasses);
  ASSERT_TRUE(succeeded(run));
  ASSERT_TRUE(succeeded((*jvm)->ask("load 30")));
  ASSERT_TRUE(succeeded((*jvm)->ask("unload 30")));
  auto trace = (*run)->finish();
  ASSERT_TRUE(succeeded(trace));
  std::set<std::string> plugins;
  for (const TraceElement* definition : trace->all("classDef"))
    if (definition->get("name") == "Workload$Plugin") plugins.insert(definition->get("classId"));
  int unloaded = 0;
  for (const TraceElement* event : trace->all("classUnload")) unloaded += plugins.contains(event->get("classIdRef"));
  EXPECT_EQ(plugins.size(), 30u);
  EXPECT_EQ(unloaded, 30);
  record_support(jdk, to_string(collector), "live", "classUnload");
}

TEST_P(EachJdk, names_the_threads_that_ran_before) {
  auto jvm = JvmProcess::start(GetParam(), "Workload", attachable(GetParam()));
  ASSERT_TRUE(succeeded(jvm));
  ASSERT_TRUE(succeeded((*jvm)->ask("hold 10")));
  auto run = TraceRun::start((*jvm)->pid());
  ASSERT_TRUE(succeeded(run));
  auto ids = (*jvm)->ask("threadids");
  ASSERT_TRUE(succeeded(ids));
  auto trace = (*run)->finish();
  ASSERT_TRUE(succeeded(trace));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(names_of_threads(*trace).contains("held-" + std::to_string(i))) << i;
  // threadId is java.lang.Thread's own id.
  for (const TraceElement* thread : trace->all("threadStart"))
    if (thread->get("threadName").rfind("held-", 0) == 0) {
      EXPECT_THAT(*ids, HasSubstr(thread->get("threadId") + "=" + thread->get("threadName")));
    }
}

TEST_P(EachJdk, can_be_traced_again_and_again_and_nothing_stays) {
  auto jvm = JvmProcess::start(GetParam(), "Workload", attachable(GetParam()));
  ASSERT_TRUE(succeeded(jvm));
  std::vector<std::string> threads;
  for (int i = 0; i < 5; ++i) {
    auto run = TraceRun::start((*jvm)->pid());
    ASSERT_TRUE(succeeded(run)) << "attach " << i;
    ASSERT_TRUE(succeeded((*jvm)->ask("threads 3")));
    auto trace = (*run)->finish();
    ASSERT_TRUE(succeeded(trace)) << "attach " << i;
    EXPECT_TRUE(none(trace->faults()));
    EXPECT_TRUE(valid((*run)->path()));
    EXPECT_EQ(count_by_thread(*trace, "threadEnd", "worker-"), 3);
    // The first attach starts the JVM's own listener thread; after that the threads stay the same.
    if (i == 0) threads = threads_of((*jvm)->pid());
  }
  for (const std::string& thread : threads_of((*jvm)->pid())) EXPECT_THAT(thread, ::testing::Not(HasSubstr("jtrace")));
  std::set<std::string> mapped;
  auto maps = read_file("/proc/" + (*jvm)->pid_text() + "/maps");
  ASSERT_TRUE(succeeded(maps));
  EXPECT_THAT(*maps, ::testing::Not(HasSubstr("jtrace-pool")));
  EXPECT_EQ((*jvm)->err(), "");
  EXPECT_TRUE((*jvm)->alive());
}

TEST_P(EachJdk, refuses_a_second_trace_at_the_same_time) {
  auto jvm = JvmProcess::start(GetParam(), "Workload", attachable(GetParam()));
  ASSERT_TRUE(succeeded(jvm));
  auto run = TraceRun::start((*jvm)->pid());
  ASSERT_TRUE(succeeded(run));
  const ScratchDir folder;
  auto second = run_jtrace({"attach", (*jvm)->pid_text(), "-o", folder.file("second.xml"), "--duration", "1"});
  ASSERT_TRUE(succeeded(second));
  EXPECT_NE(second->status, 0);
  EXPECT_THAT(second->err, HasSubstr((*jvm)->pid_text()));
  ASSERT_TRUE(succeeded((*jvm)->ask("threads 2")));
  auto trace = (*run)->finish();
  ASSERT_TRUE(succeeded(trace));
  EXPECT_EQ(count_by_thread(*trace, "threadEnd", "worker-"), 2);
}

TEST_P(EachJdk, loses_nothing_when_the_JVM_is_killed) {
  auto jvm = JvmProcess::start(GetParam(), "Workload", attachable(GetParam()));
  ASSERT_TRUE(succeeded(jvm));
  auto run = TraceRun::start((*jvm)->pid());
  ASSERT_TRUE(succeeded(run));
  ASSERT_TRUE(succeeded((*jvm)->ask("threads 40")));
  (*jvm)->signal(SIGKILL);
  auto status = (*run)->command().wait_exit();
  ASSERT_TRUE(succeeded(status));
  EXPECT_THAT(*status, ::testing::AnyOf(0, 9)) << (*run)->command().err();
  EXPECT_THAT((*run)->command().err(), HasSubstr("JVM " + (*jvm)->pid_text() + " was killed"));
  auto trace = (*run)->document();
  ASSERT_TRUE(succeeded(trace));
  EXPECT_TRUE(none(trace->faults()));
  EXPECT_TRUE(valid((*run)->path()));
  EXPECT_EQ(count_by_thread(*trace, "threadEnd", "worker-"), 40);
}

TEST_P(EachJdk, ends_with_the_JVM) {
  auto jvm = JvmProcess::start(GetParam(), "Workload", attachable(GetParam()));
  ASSERT_TRUE(succeeded(jvm));
  auto run = TraceRun::start((*jvm)->pid());
  ASSERT_TRUE(succeeded(run));
  (*jvm)->close_input();
  auto status = (*run)->command().wait_exit();
  ASSERT_TRUE(succeeded(status));
  EXPECT_EQ(*status, 0) << (*run)->command().err();
  EXPECT_THAT((*run)->command().err(), HasSubstr("JVM " + (*jvm)->pid_text() + " ended"));
  auto trace = (*run)->document();
  ASSERT_TRUE(succeeded(trace));
  EXPECT_TRUE(none(trace->faults()));
  EXPECT_TRUE(valid((*run)->path()));
  EXPECT_EQ(trace->count("runtimeShutdown"), 1u);
  auto exit = (*jvm)->wait_exit();
  ASSERT_TRUE(succeeded(exit));
  EXPECT_EQ(*exit, 0);
}

TEST_P(EachJdk, survives_the_death_of_jtrace) {
  auto jvm = JvmProcess::start(GetParam(), "Workload", attachable(GetParam()));
  ASSERT_TRUE(succeeded(jvm));
  {
    auto run = TraceRun::start((*jvm)->pid());
    ASSERT_TRUE(succeeded(run));
    (*run)->command().signal(SIGKILL);
    ASSERT_TRUE(succeeded((*run)->command().wait_exit()));
  }
  // The program goes on, the agent cleans up by itself, and the next attach is welcome.
  for (const char* command : {"threads 20", "contend 3", "gc 1"})
    ASSERT_TRUE(succeeded((*jvm)->ask(command))) << command;
  auto again = TraceRun::start((*jvm)->pid());
  ASSERT_TRUE(succeeded(again));
  ASSERT_TRUE(succeeded((*jvm)->ask("threads 4")));
  auto trace = (*again)->finish();
  ASSERT_TRUE(succeeded(trace));
  EXPECT_TRUE(none(trace->faults()));
  EXPECT_TRUE(valid((*again)->path()));
  EXPECT_EQ(count_by_thread(*trace, "threadEnd", "worker-"), 4);
  EXPECT_EQ((*jvm)->err(), "");
}

TEST_P(EachJdk, takes_a_hundred_thousand_virtual_threads) {
  if (GetParam().version < 21) GTEST_SKIP() << "no virtual threads before JDK 21";
  auto jvm = JvmProcess::start(GetParam(), "Workload", attachable(GetParam()));
  ASSERT_TRUE(succeeded(jvm));
  auto run = TraceRun::start((*jvm)->pid(), {"--virtual-threads"});
  ASSERT_TRUE(succeeded(run));
  ASSERT_TRUE(succeeded((*jvm)->ask("virtual 100000")));
  ASSERT_TRUE(succeeded((*run)->stop(0)));
  auto trace = (*run)->document();
  ASSERT_TRUE(succeeded(trace));
  EXPECT_TRUE(none(trace->faults()));
  EXPECT_TRUE(valid((*run)->path()));
  EXPECT_GE(trace->count("threadStart"), 100000u);
  EXPECT_GE(trace->count("threadEnd"), 100000u);
  record_support(GetParam(), "G1", "live", "virtual threads");
}

TEST_P(EachJdk, is_sound_under_everything_at_once) {
  auto jvm = JvmProcess::start(GetParam(), "Workload", [] {
    JvmOptions options = attachable(GetParam());
    options.arguments = {"busy"};
    return options;
  }());
  ASSERT_TRUE(succeeded(jvm));
  std::vector<std::string> arguments{"--events",         "all", "--free", "nested", "--monitor-owner",
                                     "--loaded-classes", "all"};
  if (GetParam().version >= 21) arguments.push_back("--virtual-threads");
  auto run = TraceRun::start((*jvm)->pid(), arguments);
  ASSERT_TRUE(succeeded(run));
  for (int i = 0; i < 5; ++i)
    for (const char* command :
         {"hold 50", "threads 50", "contend 20", "load 50", "garbage 200", "gc 2", "wait 10", "release"})
      ASSERT_TRUE(succeeded((*jvm)->ask(command))) << command;
  auto trace = (*run)->finish();
  ASSERT_TRUE(succeeded(trace));
  EXPECT_TRUE(none(trace->faults()));
  EXPECT_TRUE(valid((*run)->path()));
  EXPECT_EQ(count_by_thread(*trace, "threadEnd", "held-"), 250);
  EXPECT_EQ((*jvm)->err(), "");
}

TEST_P(EachJdk, says_every_object_on_request) {
  if (GetParam().version < 11) GTEST_SKIP() << "JVM TI tells of allocations from JDK 11 on (JEP 331)";
  auto jvm = JvmProcess::start(GetParam(), "Workload", attachable(GetParam()));
  ASSERT_TRUE(succeeded(jvm));
  auto run = TraceRun::start((*jvm)->pid(), {"--events", "objects,gc", "--sample-interval", "0"});
  ASSERT_TRUE(succeeded(run));
  // HotSpot has chosen the next byte to sample at before the interval was set (ThreadHeapSampler): a thread that ran
  // before passes it first.
  ASSERT_TRUE(succeeded((*jvm)->ask("garbage 64")));
  ASSERT_TRUE(succeeded((*jvm)->ask("alloc 1000")));
  ASSERT_TRUE(succeeded((*jvm)->ask("gc 2")));
  auto trace = (*run)->finish();
  ASSERT_TRUE(succeeded(trace));
  EXPECT_TRUE(none(trace->faults()));
  EXPECT_TRUE(valid((*run)->path()));
  std::set<std::string> sample_class;
  for (const TraceElement* definition : trace->all("classDef"))
    if (definition->get("name") == "Workload$Sample") sample_class.insert(definition->get("classId"));
  std::set<std::string> samples;
  for (const TraceElement* object : trace->all("objAlloc"))
    if (sample_class.contains(object->get("classIdRef"))) samples.insert(object->get("objId"));
  std::size_t freed = 0;
  for (const TraceElement* object : trace->all("objFree")) freed += samples.contains(object->get("objIdRef"));
  if (GetParam().version < 17) {
    // The sampler of these JDKs passes over objects even at interval 0, by hundreds.
    record_support(GetParam(), "G1", "live", "every object", "JVM TI's sampler passes over objects even at interval 0");
    EXPECT_GT(trace->count("objAlloc"), 0u);
    return;
  }
  EXPECT_GE(samples.size(), 999u);       // JDK 17's does so once in a million
  EXPECT_GE(freed + 1, samples.size());  // the last one is still in a field
  record_support(GetParam(), "G1", "live", "every object");
}

TEST_P(EachJdk, traces_into_a_container) {
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("live", why);
  for (const Isolation isolation : {Isolation::kMount, Isolation::kContainer}) {
    JvmOptions options = attachable(GetParam());
    options.isolation = isolation;
    auto jvm = JvmProcess::start(GetParam(), "Workload", options);
    ASSERT_TRUE(succeeded(jvm));
    auto run = TraceRun::start((*jvm)->pid());
    ASSERT_TRUE(succeeded(run));
    ASSERT_TRUE(succeeded((*jvm)->ask("threads 5")));
    auto trace = (*run)->finish();
    ASSERT_TRUE(succeeded(trace));
    EXPECT_TRUE(none(trace->faults()));
    EXPECT_TRUE(valid((*run)->path()));
    EXPECT_EQ(count_by_thread(*trace, "threadEnd", "worker-"), 5);
    EXPECT_EQ((*jvm)->err(), "");
  }
  record_support(GetParam(), "G1", "live", "JVM in a mount and pid namespace");
}

}  // namespace
}  // namespace jtrace::test
