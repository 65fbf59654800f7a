// Options of `jtrace attach` on real JVMs: output formats, limits, filters, samples.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

::testing::AssertionResult valid_fragments(const std::string& path) {
  const auto verdict = judge_fragments(path);
  if (!verdict) return succeeded(verdict);
  if (verdict->valid) return ::testing::AssertionSuccess();
  return none(verdict->faults) << "\nnot valid: " << path;
}

TEST_P(EachJdk, EveryFragmentOfStrictDtdIsValidByTheOriginal) {
  TracedJvm jvm(GetParam(), "Workload",
                {"--strict-dtd", "--events", "all", "--loaded-classes", "all", "--filter", "java.util.* * exclude",
                 "--monitor-owner", "--min-contention", "0"});
  jvm.ask_each({"threads 10", "contend 5", "wait 3", "load 10", "garbage 20", "gc 2"});
  const TraceDocument trace = jvm.finish();
  EXPECT_GT(trace.count("classDef"), 300u);
  EXPECT_GT(trace.count("monContendedEntered"), 0u);
  EXPECT_TRUE(valid_fragments(jvm.path()));
  record_support(GetParam(), "G1", "live", "fragments valid by trace.dtd");
}

// Contentions with an owner in a trace that was not asked for owners.
std::size_t owned_unasked(const Jdk& jdk, const char* events, const std::vector<std::string>& before) {
  TracedJvm jvm(jdk, "Workload", {"--events", events, "--min-contention", "0"});
  for (const std::string& command : before) jvm.ask(command);
  jvm.ask("contend 40");
  const TraceDocument trace = jvm.finish_valid();
  const auto all = trace.all("monContendedEnter");
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const auto* enter) { return enter->get("threadOwner") != ""; }));
}

// The first is within any budget. The agent looks at the class of virtual threads for sleeps, and must
// not initialize it.
TEST_P(EachJdk, SomeContentionsHaveTheirOwnerUnasked) {
  for (const char* events : {"threads,monitors", "threads,monitors,sleeps,parks,gc,exceptions"})
    EXPECT_GE(owned_unasked(GetParam(), events, {}), 1u) << events;
}

TEST_P(EachJdk, NoneHasItWhereJvmTiMayHaveToWaitForVirtualThreads) {
  if (GetParam().version < 21) GTEST_SKIP() << "no virtual threads before JDK 21";
  EXPECT_EQ(owned_unasked(GetParam(), "threads,monitors", {"virtual 1"}), 0u);
}

TEST_P(EachJdk, HasEveryOptionAndTheFiltersInOrder) {
  TracedJvm jvm(GetParam(), "Workload",
                {"--events", "gc", "--filter", "java.util.* include", "--filter", "*Test main exclude",
                 "--agent-options", "stack-depth=3"});
  const TraceDocument trace = jvm.finish_valid();
  const auto filters = trace.all("filter");
  ASSERT_EQ(filters.size(), 2u);
  EXPECT_EQ(filters[0]->get("pattern"), "java.util.*");
  EXPECT_EQ(filters[1]->get("pattern"), "*Test");
  EXPECT_EQ(filters[1]->get("methodPattern"), "main");
  EXPECT_EQ(trace.option("stack-depth"), "3");
  EXPECT_NE(trace.option("events"), "");
  EXPECT_NE(trace.option("ring-memory"), "");
  EXPECT_THAT(trace.option("jtrace.vm"), HasSubstr("pid="));
  EXPECT_EQ(trace.all("agentCreate").front()->get("agentParameters"), "stack-depth=3");
}

TEST_P(EachJdk, AFilterAloneTracesTheCallsOfItsClasses) {
  TracedJvm jvm(GetParam(), "Workload", {"--filter", "Workload*"});
  jvm.wait_rewritten();
  jvm.ask("threads 3");
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_FALSE(trace.all("methodEntry").empty());
  EXPECT_FALSE(trace.all("threadStart").empty()) << "beside what is traced without a filter";
}

TEST_P(EachJdk, FiltersThatSelectNothingAreNamedAtTheEnd) {
  for (const char* events : {"methods", "counts"}) {
    TracedJvm jvm(GetParam(), "Workload", {"--events", events, "--filter", "no.such.*"});
    jvm.ask("threads 2");
    jvm.finish_valid();
    EXPECT_THAT(jvm.command().err(), HasSubstr("warning: no method of a class that was loaded has callouts"));
  }
  TracedJvm jvm(GetParam(), "Workload", {"--events", "methods", "--filter", "Workload*"});
  jvm.ask("threads 2");
  jvm.finish_valid();
  EXPECT_THAT(jvm.command().err(), Not(HasSubstr("has callouts")));
}

TEST_P(EachJdk, SamplesAllocationsWithTheirStacks) {
  if (GetParam().version < 11) GTEST_SKIP() << "JVM TI tells of allocations from JDK 11 on (JEP 331)";
  TracedJvm jvm(GetParam(), "Workload", {"--events", "objects,gc"});
  jvm.ask("garbage 64");
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_THAT(trace.all("methodDef"), ::testing::Contains(::testing::ResultOf(
                                          [](const TraceElement* method) { return method->get("name"); }, "garbage")));
  // At an average interval of 512 KiB most of its 57 pieces of 1 MiB are sampled, and few other objects.
  std::size_t from_there = 0;
  for (const TraceElement* object : trace.all("objAlloc"))
    from_there += object->get("contextData").starts_with("Workload.garbage:");
  EXPECT_GT(from_there, 25u);
  EXPECT_LT(from_there, 200u);
}

TEST(RingMemory, CountsExactlyWhatFoundNoRoom) {
  JTRACE_NEED_JDK(jdk);
  // In this JVM only the program's own threads end.
  TracedJvm jvm(*jdk, "Workload", {"--events", "threadEnd", "--ring-memory", "1M"},
                attachable(*jdk, {"-XX:-UseDynamicNumberOfCompilerThreads"}));
  jvm.command().signal(SIGSTOP);
  constexpr int kThreads = 3000;
  must(jvm.process().ask("threads " + std::to_string(kThreads)));
  jvm.command().signal(SIGCONT);
  const TraceDocument trace = jvm.finish(9);
  EXPECT_TRUE(valid(jvm.path()));
  EXPECT_TRUE(none(trace.collation_faults()));
  std::uint64_t dropped = 0;
  for (const TraceElement* option : trace.all("option"))
    if (option->get("key") == "jtrace.dropped") dropped += option->number("value");
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(trace.count("threadEnd") + dropped, static_cast<std::size_t>(kThreads));
  EXPECT_THAT(jvm.command().err(), HasSubstr(std::to_string(dropped) + " events were lost"));
}

TEST(RingMemory, LosesNothingWhereTheProgramWaitsForRoom) {
  JTRACE_NEED_JDK(jdk);
  TracedJvm jvm(*jdk, "Workload",
                {"--events", "threads", "--ring-memory", "1M", "--when-full", "block", "--block-limit", "10000"});
  jvm.ask("threads 3000");
  const TraceDocument trace = jvm.finish();
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_EQ(count_by_thread(trace, "threadEnd", "worker-"), 3000);
}

// A thread that was blocked for longer than the limit continues, and its lost events are counted.
TEST(RingMemory, HoldsTheProgramUpNoLongerThanTheLimit) {
  JTRACE_NEED_JDK(jdk);
  TracedJvm jvm(*jdk, "Workload",
                {"--events", "threadEnd", "--ring-memory", "1M", "--when-full", "block", "--block-limit", "5"},
                attachable(*jdk, {"-XX:-UseDynamicNumberOfCompilerThreads"}));
  jvm.command().signal(SIGSTOP);
  jvm.ask("threads 3000");
  jvm.command().signal(SIGCONT);
  const TraceDocument trace = jvm.finish(9);
  std::uint64_t dropped = 0;
  for (const TraceElement* option : trace.all("option"))
    if (option->get("key") == "jtrace.dropped") dropped += option->number("value");
  EXPECT_EQ(trace.count("threadEnd") + dropped, 3000u);
}

TEST(Rotate, KeepsWholeDocumentsOfTheSizeAskedFor) {
  JTRACE_NEED_JDK(jdk);
  TracedJvm jvm(*jdk, "Workload", {"--max-size", "256K", "--rotate", "3"});
  jvm.ask("hold 5");
  for (int i = 0; i < 60; ++i) jvm.ask("threads 100");
  jvm.stop();
  const fs::path last = jvm.path();
  int documents = 0;
  for (const auto& entry : fs::directory_iterator(last.parent_path())) {
    SCOPED_TRACE(entry.path());
    ++documents;
    EXPECT_LE(entry.file_size(), 256u * 1024) << entry.path();
    EXPECT_TRUE(valid(entry.path()));
    const auto trace = must(TraceDocument::read(entry.path()));
    EXPECT_TRUE(none(trace.faults())) << entry.path();
    // Each can be read alone: it defines the live threads.
    std::set<std::string> names;
    for (const TraceElement* thread : trace.all("threadStart")) names.insert(thread->get("threadName"));
    EXPECT_TRUE(names.contains("held-0")) << entry.path();
  }
  EXPECT_EQ(documents, 4);  // three and the current one
}

// The pipe that is standard output has no reader: the trace continues until a signal, which still ends it.
TEST(StuckReader, DoesNotKeepASignalFromEndingTheTrace) {
  JTRACE_NEED_JDK(jdk);
  auto jvm = must(JvmProcess::start(*jdk, "Workload", attachable(*jdk)));
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  CommandOptions options;
  options.in_child = [fd = writer.get()] { ::dup2(fd, STDOUT_FILENO); };
  auto run = must(BackgroundCommand::start({jtrace_binary(), "attach", jvm->pid_text(), "-o", "-"}, options));
  writer.reset();
  // More than the pipe takes.
  for (int i = 0; i < 10; ++i) must(jvm->ask("threads 200"));
  run->signal(SIGINT);
  auto status = must(run->wait_exit());
  EXPECT_EQ(status, 6) << run->err();
  EXPECT_THAT(run->err(), HasSubstr("does not read"));
  EXPECT_TRUE(succeeded(jvm->ask("threads 2")));
}

TEST(Doctype, LeadsAValidatingParserToTheDtd) {
  JTRACE_NEED_JDK(jdk);
  TracedJvm jvm(*jdk, "Workload", {"--doctype", "--names", "classic"});
  jvm.stop();
  fs::copy_file(shared_file("jtrace.dtd"), fs::path(jvm.path()).parent_path() / "jtrace.dtd");
  const auto judged = must(run_command({"xmllint", "--noout", "--valid", jvm.path()}));
  EXPECT_EQ(judged.status, 0) << judged.err;
}

}  // namespace
}  // namespace jtrace::test
