// The agent from the start of the JVM: -agentpath without a waiting jtrace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "tests/testlib/places.h"
#include "tests/testlib/require.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class EachJdk : public ::testing::TestWithParam<Jdk> {
 protected:
  // JVM options with the agent and these words for it. A JDK of the tree sees the build folder and the scratch folder
  // below /srv and /media of its root.
  JvmOptions with_agent(const std::string& words) {
    JvmOptions options;
    const std::string library = (chrooted() ? "/srv" : build_folder()) + std::string("/lib/libjtrace_agent.so");
    options.flags = {"-agentpath:" + library + "=" + words};
    if (chrooted())
      options.in_child = [folder = folder_.path()](const std::string& root) {
        return ::mount(build_folder().c_str(), (root + "/srv").c_str(), nullptr, MS_BIND, nullptr) == 0 &&
               ::mount(folder.c_str(), (root + "/media").c_str(), nullptr, MS_BIND, nullptr) == 0;
      };
    return options;
  }
  bool chrooted() const { return GetParam().root.has_value(); }
  std::string file_for_jvm() const { return chrooted() ? "/media/trace.xml" : path_; }

  ScratchDir folder_;
  std::string path_ = folder_.file("trace.xml");
};
JTRACE_ON_EACH_JDK(EachJdk);

#define NEED_TOOLS_IN_THE_ROOT()          \
  if (chrooted() && !JTRACE_STATIC_TOOLS) \
  GTEST_SKIP() << "the tools of this build are not static: they do not run in the chroot"

// The thread main has its allocation buffer before the agent can have samples.
TEST_P(EachJdk, SamplesFromTheFirstObjectOnOrSaysThatItDoesNot) {
  NEED_TOOLS_IN_THE_ROOT();
  if (GetParam().version < 11) GTEST_SKIP() << "JVM TI tells of allocations from JDK 11 on (JEP 331)";
  auto jvm = must(
      JvmProcess::start(GetParam(), "Workload", with_agent("events=objects,sample-interval=0,file=" + file_for_jvm())));
  must(jvm->ask("alloc 1000"));
  jvm->close_input();
  must(jvm->wait_exit());
  must(wait_for_bytes(path_, "</TRACE>", std::chrono::seconds(30), [] { return true; }));
  const auto trace = must(TraceDocument::read(path_));
  std::set<std::string> sample_class;
  for (const TraceElement* definition : trace.all("classDef"))
    if (definition->get("name") == "Workload$Sample") sample_class.insert(definition->get("classId"));
  std::size_t samples = 0;
  for (const TraceElement* object : trace.all("objAlloc")) samples += sample_class.contains(object->get("classIdRef"));
  std::size_t told = 0;
  for (const TraceElement* option : trace.all("option"))
    if (option->get("key") == "jtrace.unavailable" && option->get("value").starts_with("objAlloc: threads that run"))
      ++told;
  EXPECT_EQ(told, GetParam().version < 25 ? 1u : 0u);
  EXPECT_GE(samples, told == 0 ? 999u : 0u);
}

TEST_P(EachJdk, TracesFromStartToEnd) {
  NEED_TOOLS_IN_THE_ROOT();
  auto jvm = must(JvmProcess::start(GetParam(), "Workload", with_agent("file=" + file_for_jvm())));
  for (const char* command : {"threads 20", "contend 2", "wait 2", "load 5", "gc 2"}) must(jvm->ask(command));
  jvm->close_input();
  auto status = must(jvm->wait_exit());
  EXPECT_EQ(status, 0);
  EXPECT_EQ(jvm->err(), "");
  must(wait_for_bytes(path_, "</TRACE>", std::chrono::seconds(30), [] { return true; }));
  auto trace = must(TraceDocument::read(path_));
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_TRUE(valid(path_));
  EXPECT_EQ(trace.count("runtimeInitDone"), 1u);
  EXPECT_EQ(trace.count("runtimeShutdown"), 1u);
  EXPECT_GE(trace.count("threadStart"), 20u);
  EXPECT_GE(trace.count("gcFinish"), 2u);
  // jtrace finds the JVM's counters just after the start, long before the command.
  const auto finishes = trace.all("gcFinish");
  EXPECT_EQ(std::count_if(finishes.begin(), finishes.end(),
                          [](const TraceElement* finish) { return finish->get("cause") == "System.gc()"; }),
            2);
  record_support(GetParam(), "G1", "startup", "trace by -agentpath");
}

TEST_P(EachJdk, GoesOnUntracedWithOneLineWhereThereIsNoJtrace) {
  auto jvm = must(
      JvmProcess::start(GetParam(), "Workload", with_agent("file=" + file_for_jvm() + ",jtrace=/nonexistent/jtrace")));
  EXPECT_TRUE(succeeded(jvm->ask("threads 3")));
  const std::string said = jvm->err();
  EXPECT_THAT(said, HasSubstr("/nonexistent/jtrace"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_FALSE(fs::exists(path_));
}

TEST_P(EachJdk, EndsTheStartOnlyWhereAWrongOptionIsStrict) {
  NEED_TOOLS_IN_THE_ROOT();
  auto jvm = must(JvmProcess::start(GetParam(), "Workload", with_agent("file=" + file_for_jvm() + ",evnts=gc")));
  EXPECT_THAT(jvm->err(), HasSubstr("evnts"));
  EXPECT_TRUE(succeeded(jvm->ask("threads 3")));
  JvmOptions strict = with_agent("file=" + file_for_jvm() + ",evnts=gc,strict");
  strict.wait_ready = false;
  auto refused = must(JvmProcess::start(GetParam(), "Workload", strict));
  auto status = must(refused->wait_exit());
  EXPECT_NE(status, 0);
  EXPECT_THAT(refused->err(), HasSubstr("evnts"));
}

}  // namespace
}  // namespace jtrace::test
