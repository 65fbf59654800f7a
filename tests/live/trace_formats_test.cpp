// Uses of the traces of real JVMs: checked, merged with those of counters, converted to every format and back, shown as
// a page; and the remains of a killed trace, read directly.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <map>

#include "base/file.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class TraceFormats : public ::testing::TestWithParam<Jdk> {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }
  // Runs jtrace and expects `status`; returns its output.
  std::string run(const std::vector<std::string>& arguments, int status = 0) {
    const auto done = run_jtrace(arguments);
    if (!done) {
      ADD_FAILURE() << done.error().message();
      return {};
    }
    EXPECT_EQ(done->status, status) << ::testing::PrintToString(arguments) << "\n" << done->err << done->out;
    return done->out + done->err;
  }
  static std::map<std::string, std::size_t> counts(const std::string& path) {
    const auto document = TraceDocument::read(path);
    EXPECT_TRUE(document) << path;
    return document ? document->counts() : std::map<std::string, std::size_t>();
  }
  ScratchDir folder_{"jtrace-formats"};
};
JTRACE_ON_EACH_JDK(TraceFormats);

TEST_P(TraceFormats, EveryFormatAndBack) {
  auto jvm = JvmProcess::start(GetParam(), "Workload", attachable(GetParam()));
  ASSERT_TRUE(jvm) << jvm.error().message();
  auto trace = TraceRun::start((*jvm)->pid(), {"--events", "all"});
  ASSERT_TRUE(trace) << trace.error().message();
  for (const char* command : {"threads 3", "contend 2", "wait 2", "gc 2", "garbage 20"}) (void)(*jvm)->ask(command);
  ASSERT_TRUE((*trace)->stop());
  const std::string in = (*trace)->path();
  EXPECT_THAT(run({"validate", in}), HasSubstr(", 0 faults"));

  // XML comes back byte by byte, compressed or not; fragments as the document from which they are.
  run({"convert", in, "-o", file("a.trcxml.zst")});
  run({"convert", file("a.trcxml.zst"), "-o", file("b.trcxml")});
  EXPECT_EQ(*read_file(in), *read_file(file("b.trcxml")));
  run({"convert", in, "-o", file("f.xml"), "--to", "fragments"});
  run({"merge", file("f.xml"), "-o", file("g.trcxml")});
  EXPECT_EQ(*read_file(in), *read_file(file("g.trcxml")));

  for (const char* format : {"jsonl", "chrome", "speedscope", "collapsed", "sqlite"})
    run({"convert", in, "-o", file(std::string("out.") + format), "--to", format});
  run({"report", in, "-o", file("report.html")});
  EXPECT_LT(fs::file_size(file("report.html")), 2'000'000u);

  // SDDF keeps threads, blocking, pauses.
  run({"convert", in, "-o", file("t.sddf")});
  run({"convert", file("t.sddf"), "-o", file("back.trcxml")});
  auto before = counts(in), after = counts(file("back.trcxml"));
  for (const char* kept :
       {"node", "processCreate", "agentCreate", "traceStart", "threadStart", "threadEnd", "gcStart", "gcFinish",
        "monWait", "monWaited", "monContendedEnter", "monContendedEntered", "traceEnd", "agentDestroy"})
    EXPECT_EQ(before[kept], after[kept]) << kept;
  EXPECT_EQ(before["option"] + 1, after["option"]) << "that SDDF does not have the calls";
  EXPECT_GT(before["gcStart"], 0u);

  // The counters of the same JVM are added as an agent of the same process.
  const auto hsperf = run_command({(fs::path(jtrace_binary()).parent_path() / "hsperf").string(), "snap",
                                   std::to_string((*jvm)->pid()), "--format", "xml"});
  if (hsperf && hsperf->status == 0) {
    ASSERT_TRUE(
        write_whole(open_file(file("counters.xml"), O_CREAT | O_WRONLY, 0600)->get(), hsperf->out, "counters.xml"));
    run({"merge", in, file("counters.xml"), "-o", file("all.trcxml")});
    EXPECT_THAT(run({"validate", file("all.trcxml")}), HasSubstr(", 0 faults"));
    auto merged = counts(file("all.trcxml"));
    EXPECT_EQ(merged["processCreate"], 1u);
    EXPECT_EQ(merged["node"], 1u);
    EXPECT_EQ(merged["agentCreate"], 2u);
    EXPECT_THAT(run({"stats", file("all.trcxml"), "--rows", "5"}), HasSubstr("counters (by hsperf)"));
  }
}

// The agent, the probes, the counters and a snapshot from outside, all at the same time for one JVM.
TEST_P(TraceFormats, FourAgentsOfOneJvmAreOneProcess) {
  auto jvm = JvmProcess::start(GetParam(), "Workload", attachable(GetParam()));
  ASSERT_TRUE(jvm) << jvm.error().message();
  const std::string pid = (*jvm)->pid_text();
  auto trace = TraceRun::start((*jvm)->pid());
  ASSERT_TRUE(trace) << trace.error().message();
  auto probe = BackgroundCommand::start({jtrace_binary(), "probe", pid, "-o", file("probe.xml")});
  ASSERT_TRUE(probe) << probe.error().message();
  const bool probing = (*probe)->wait_err_line("jtrace: tracing", std::chrono::seconds(60)).has_value();
  if (!probing) {
    EXPECT_THAT((*probe)->err(), AnyOf(HasSubstr("--enable-dtrace"), HasSubstr("CAP_")));
  }
  const std::string hsperf = (fs::path(jtrace_binary()).parent_path() / "hsperf").string();
  auto poll = BackgroundCommand::start({hsperf, "poll", pid, "-i", "50ms", "-o", file("counters.xml")});
  ASSERT_TRUE(poll) << poll.error().message();
  ASSERT_TRUE(
      wait_for_bytes(file("counters.xml"), "<traceEnd", std::chrono::seconds(60), [&] { return (*poll)->alive(); }));
  for (const char* command : {"threads 5", "contend 2", "wait 2", "gc 2"}) (void)(*jvm)->ask(command);
  run({"inspect", pid, "events", "-o", file("inspect.xml")});
  for (BackgroundCommand* each : {probe->get(), poll->get()}) {
    each->signal(SIGINT);
    const auto status = each->wait_exit();
    ASSERT_TRUE(status) << status.error().message();
    if (probing || each == poll->get()) {
      EXPECT_EQ(*status, 0) << each->err();
    }
  }
  ASSERT_TRUE((*trace)->stop());

  std::vector<std::string> merge{"merge", (*trace)->path(), file("counters.xml"), file("inspect.xml")};
  if (probing) merge.push_back(file("probe.xml"));
  merge.insert(merge.end(), {"-o", file("all.trcxml")});
  run(merge);
  EXPECT_THAT(run({"validate", file("all.trcxml")}), HasSubstr(", 0 faults"));
  EXPECT_TRUE(valid(file("all.trcxml")));
  auto merged = counts(file("all.trcxml"));
  EXPECT_EQ(merged["node"], 1u);
  EXPECT_EQ(merged["processCreate"], 1u);
  EXPECT_EQ(merged["agentCreate"], probing ? 4u : 3u);
  EXPECT_EQ(merged["threadEnd"],
            counts((*trace)->path())["threadEnd"] + (probing ? counts(file("probe.xml"))["threadEnd"] : 0u));
}

TEST_P(TraceFormats, WhatAKilledTraceHasLeftIsAnInput) {
  if (GetParam().name != any_jdk()->name) GTEST_SKIP() << "one JDK is enough: nothing here depends on it";
  auto jvm = JvmProcess::start(GetParam(), "Workload", attachable(GetParam()));
  ASSERT_TRUE(jvm) << jvm.error().message();
  auto trace = TraceRun::start((*jvm)->pid(), {"--events", "all"});
  ASSERT_TRUE(trace) << trace.error().message();
  (void)(*jvm)->ask("threads 3");
  std::string pool;
  for (const auto& each : fs::directory_iterator("/dev/shm"))
    if (each.path().filename().string().starts_with("jtrace-" + std::to_string((*jvm)->pid()) + "-"))
      pool = each.path();
  ASSERT_FALSE(pool.empty());
  EXPECT_THAT(run({"convert", pool, "-o", file("in-use.trcxml")}, 1), HasSubstr("in use"));
  ASSERT_EQ(::kill((*trace)->command().pid(), SIGKILL), 0);
  ASSERT_TRUE((*trace)->command().wait_exit(std::chrono::seconds(30)));
  EXPECT_THAT(run({"validate", pool}), HasSubstr(", 0 faults"));
  run({"convert", pool, "-o", file("left.sqlite")});
  // Without the trace's own file there is only what the ring memory holds.
  fs::remove((*trace)->path());
  EXPECT_THAT(run({"convert", pool, "-o", file("rest.trcxml")}, 9), HasSubstr("truncated after"));
  fs::remove(pool);
}

}  // namespace
}  // namespace jtrace::test
