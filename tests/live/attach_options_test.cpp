// What the options of `jtrace attach` promise, on real JVMs: forms of output, limits, filters, samples.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachJdk);
INSTANTIATE_TEST_SUITE_P(Jdks, EachJdk, ::testing::ValuesIn(jdks()), NameOf());

::testing::AssertionResult valid_fragments(const std::string& path) {
  const auto verdict = judge_fragments(path);
  if (!verdict) return succeeded(verdict);
  if (verdict->valid) return ::testing::AssertionSuccess();
  return none(verdict->faults) << "\nnot valid: " << path;
}

TEST_P(EachJdk, every_fragment_of_strict_dtd_is_valid_by_the_original) {
  auto jvm = JvmProcess::start(GetParam(), "Workload", attachable(GetParam()));
  ASSERT_TRUE(succeeded(jvm));
  auto run = TraceRun::start((*jvm)->pid(), {"--strict-dtd", "--events", "all", "--loaded-classes", "all", "--filter",
                                             "java.util.* * exclude", "--monitor-owner"});
  ASSERT_TRUE(succeeded(run));
  for (const char* command : {"threads 10", "contend 5", "wait 3", "load 10", "garbage 20", "gc 2"})
    ASSERT_TRUE(succeeded((*jvm)->ask(command))) << command;
  auto trace = (*run)->finish();
  ASSERT_TRUE(succeeded(trace));
  EXPECT_GT(trace->count("classDef"), 300u);
  EXPECT_GT(trace->count("monContendedEntered"), 0u);
  EXPECT_TRUE(valid_fragments((*run)->path()));
  record_support(GetParam(), "G1", "live", "fragments valid by trace.dtd");
}

TEST_P(EachJdk, says_every_option_and_the_filters_in_order) {
  auto jvm = JvmProcess::start(GetParam(), "Workload", attachable(GetParam()));
  ASSERT_TRUE(succeeded(jvm));
  auto run = TraceRun::start((*jvm)->pid(), {"--filter", "java.util.* include", "--filter", "*Test main exclude",
                                             "--agent-options", "stack-depth=3"});
  ASSERT_TRUE(succeeded(run));
  auto trace = (*run)->finish();
  ASSERT_TRUE(succeeded(trace));
  EXPECT_TRUE(none(trace->faults()));
  EXPECT_TRUE(valid((*run)->path()));
  const auto filters = trace->all("filter");
  ASSERT_EQ(filters.size(), 2u);
  EXPECT_EQ(filters[0]->get("pattern"), "java.util.*");
  EXPECT_EQ(filters[1]->get("pattern"), "*Test");
  EXPECT_EQ(filters[1]->get("methodPattern"), "main");
  EXPECT_EQ(trace->option("stack-depth"), "3");
  EXPECT_NE(trace->option("events"), "");
  EXPECT_NE(trace->option("ring-memory"), "");
  EXPECT_THAT(trace->option("jtrace.vm"), HasSubstr("pid="));
  EXPECT_EQ(trace->all("agentCreate").front()->get("agentParameters"), "stack-depth=3");
}

TEST_P(EachJdk, samples_allocations_with_their_stacks) {
  if (GetParam().version < 11) GTEST_SKIP() << "JVM TI tells of allocations from JDK 11 on (JEP 331)";
  auto jvm = JvmProcess::start(GetParam(), "Workload", attachable(GetParam()));
  ASSERT_TRUE(succeeded(jvm));
  auto run = TraceRun::start((*jvm)->pid(), {"--events", "objects,gc"});
  ASSERT_TRUE(succeeded(run));
  ASSERT_TRUE(succeeded((*jvm)->ask("garbage 64")));
  auto trace = (*run)->finish();
  ASSERT_TRUE(succeeded(trace));
  EXPECT_TRUE(none(trace->faults()));
  EXPECT_TRUE(valid((*run)->path()));
  EXPECT_THAT(trace->all("methodDef"), ::testing::Contains(::testing::ResultOf(
                                           [](const TraceElement* method) { return method->get("name"); }, "garbage")));
  // At a mean distance of 512 KiB most of its 57 pieces of 1 MiB are sampled, and few others are.
  std::size_t from_there = 0;
  for (const TraceElement* object : trace->all("objAlloc"))
    from_there += object->get("contextData").starts_with("Workload.garbage:");
  EXPECT_GT(from_there, 25u);
  EXPECT_LT(from_there, 200u);
}

TEST(RingMemory, counts_exactly_what_found_no_room) {
  JTRACE_NEED_JDK(jdk);
  // Of this JVM only the program's own threads end.
  auto jvm = JvmProcess::start(*jdk, "Workload", attachable(*jdk, {"-XX:-UseDynamicNumberOfCompilerThreads"}));
  ASSERT_TRUE(succeeded(jvm));
  auto run = TraceRun::start((*jvm)->pid(), {"--events", "threadEnd", "--ring-memory", "1M"});
  ASSERT_TRUE(succeeded(run));
  (*run)->command().signal(SIGSTOP);
  constexpr int kThreads = 3000;
  ASSERT_TRUE(succeeded((*jvm)->ask("threads " + std::to_string(kThreads))));
  (*run)->command().signal(SIGCONT);
  auto trace = (*run)->finish(9);
  ASSERT_TRUE(succeeded(trace));
  EXPECT_TRUE(valid((*run)->path()));
  EXPECT_TRUE(none(trace->collation_faults()));
  std::uint64_t dropped = 0;
  for (const TraceElement* option : trace->all("option"))
    if (option->get("key") == "jtrace.dropped") dropped += option->number("value");
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(trace->count("threadEnd") + dropped, static_cast<std::size_t>(kThreads));
  EXPECT_THAT((*run)->command().err(), HasSubstr(std::to_string(dropped) + " events were lost"));
}

TEST(RingMemory, loses_nothing_where_the_program_waits_for_room) {
  JTRACE_NEED_JDK(jdk);
  auto jvm = JvmProcess::start(*jdk, "Workload", attachable(*jdk));
  ASSERT_TRUE(succeeded(jvm));
  auto run = TraceRun::start(
      (*jvm)->pid(), {"--events", "threads", "--ring-memory", "1M", "--when-full", "block", "--block-limit", "10000"});
  ASSERT_TRUE(succeeded(run));
  ASSERT_TRUE(succeeded((*jvm)->ask("threads 3000")));
  auto trace = (*run)->finish();
  ASSERT_TRUE(succeeded(trace));
  EXPECT_TRUE(none(trace->faults()));
  EXPECT_EQ(count_by_thread(*trace, "threadEnd", "worker-"), 3000);
}

// What stood still for longer than the limit goes on, and what it lost is counted.
TEST(RingMemory, holds_the_program_up_no_longer_than_the_limit) {
  JTRACE_NEED_JDK(jdk);
  auto jvm = JvmProcess::start(*jdk, "Workload", attachable(*jdk, {"-XX:-UseDynamicNumberOfCompilerThreads"}));
  ASSERT_TRUE(succeeded(jvm));
  auto run = TraceRun::start(
      (*jvm)->pid(), {"--events", "threadEnd", "--ring-memory", "1M", "--when-full", "block", "--block-limit", "5"});
  ASSERT_TRUE(succeeded(run));
  (*run)->command().signal(SIGSTOP);
  ASSERT_TRUE(succeeded((*jvm)->ask("threads 3000")));
  (*run)->command().signal(SIGCONT);
  auto trace = (*run)->finish(9);
  ASSERT_TRUE(succeeded(trace));
  std::uint64_t dropped = 0;
  for (const TraceElement* option : trace->all("option"))
    if (option->get("key") == "jtrace.dropped") dropped += option->number("value");
  EXPECT_EQ(trace->count("threadEnd") + dropped, 3000u);
}

TEST(Rotate, keeps_whole_documents_of_the_size_asked_for) {
  JTRACE_NEED_JDK(jdk);
  auto jvm = JvmProcess::start(*jdk, "Workload", attachable(*jdk));
  ASSERT_TRUE(succeeded(jvm));
  auto run = TraceRun::start((*jvm)->pid(), {"--max-size", "256K", "--rotate", "3"});
  ASSERT_TRUE(succeeded(run));
  ASSERT_TRUE(succeeded((*jvm)->ask("hold 5")));
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(succeeded((*jvm)->ask("threads 100")));
  ASSERT_TRUE(succeeded((*run)->stop()));
  const fs::path last = (*run)->path();
  int documents = 0;
  for (const auto& entry : fs::directory_iterator(last.parent_path())) {
    ++documents;
    EXPECT_LE(entry.file_size(), 256u * 1024) << entry.path();
    EXPECT_TRUE(valid(entry.path()));
    const auto trace = TraceDocument::read(entry.path());
    ASSERT_TRUE(succeeded(trace)) << entry.path();
    EXPECT_TRUE(none(trace->faults())) << entry.path();
    // Each stands for itself: the threads that live are named in it.
    std::set<std::string> names;
    for (const TraceElement* thread : trace->all("threadStart")) names.insert(thread->get("threadName"));
    EXPECT_TRUE(names.contains("held-0")) << entry.path();
  }
  EXPECT_EQ(documents, 4);  // three beside the current one
}

// Standard output is a pipe that nobody reads: the trace goes on until a signal, which ends it all the same.
TEST(StuckReader, does_not_keep_a_signal_from_ending_the_trace) {
  JTRACE_NEED_JDK(jdk);
  auto jvm = JvmProcess::start(*jdk, "Workload", attachable(*jdk));
  ASSERT_TRUE(succeeded(jvm));
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  CommandOptions options;
  options.in_child = [fd = writer.get()] { ::dup2(fd, STDOUT_FILENO); };
  auto run = BackgroundCommand::start({jtrace_binary(), "attach", (*jvm)->pid_text(), "-o", "-"}, options);
  ASSERT_TRUE(succeeded(run));
  writer.reset();
  // More than the pipe takes.
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(succeeded((*jvm)->ask("threads 200")));
  (*run)->signal(SIGINT);
  auto status = (*run)->wait_exit();
  ASSERT_TRUE(succeeded(status));
  EXPECT_EQ(*status, 6) << (*run)->err();
  EXPECT_THAT((*run)->err(), HasSubstr("does not read"));
  EXPECT_TRUE(succeeded((*jvm)->ask("threads 2")));
}

TEST(Doctype, leads_a_validating_parser_to_the_dtd) {
  JTRACE_NEED_JDK(jdk);
  auto jvm = JvmProcess::start(*jdk, "Workload", attachable(*jdk));
  ASSERT_TRUE(succeeded(jvm));
  auto run = TraceRun::start((*jvm)->pid(), {"--doctype", "--names", "classic"});
  ASSERT_TRUE(succeeded(run));
  ASSERT_TRUE(succeeded((*run)->stop()));
  fs::copy_file(shared_file("jtrace.dtd"), fs::path((*run)->path()).parent_path() / "jtrace.dtd");
  const auto judged = run_command({"xmllint", "--noout", "--valid", (*run)->path()});
  ASSERT_TRUE(succeeded(judged));
  EXPECT_EQ(judged->status, 0) << judged->err;
}

}  // namespace
}  // namespace jtrace::test
