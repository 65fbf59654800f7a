// `jtrace probe --stack`: the known frames of the program, between the native ones of the JVM and of the thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/strings.h"
#include "tests/live/probe_run.h"
#include "tests/testlib/must.h"
#include "tests/testlib/support_matrix.h"

namespace jtrace::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

// The frames of the stacks of a probe, innermost first, each after the thread's id.
std::vector<std::vector<std::string>> stacks_of(const TraceDocument& trace, const std::string& probe) {
  std::vector<std::vector<std::string>> stacks;
  for (const TraceElement* option : trace.all("option")) {
    const std::string value = option->get("value"), begin = "hotspot:" + probe + " ";
    if (option->get("key") != "jtrace.stack" || !value.starts_with(begin)) continue;
    const std::size_t blank = value.find(' ', begin.size());
    std::vector<std::string> frames{value.substr(begin.size(), blank - begin.size())};
    for (const std::string_view frame : split(std::string_view(value).substr(blank + 1), ';'))
      frames.emplace_back(frame);
    stacks.push_back(std::move(frames));
  }
  return stacks;
}

std::string joined(const std::vector<std::string>& frames) {
  std::string text;
  for (const std::string& frame : frames) text += frame + "\n";
  return text;
}

// The number of frames that begin with `prefix`.
std::ptrdiff_t count_frames(const std::vector<std::string>& frames, std::string_view prefix) {
  return std::count_if(frames.begin(), frames.end(), [&](const auto& frame) { return frame.starts_with(prefix); });
}

// The program's frames, without lines, are these, in this order; below them the stack continues to the thread's start.
void expect_frames(const std::vector<std::string>& frames, const std::vector<std::string>& wanted) {
  auto at = frames.begin();
  for (const std::string& want : wanted) {
    at = std::find_if(at, frames.end(), [&](const std::string& frame) { return frame.starts_with(want); });
    ASSERT_NE(at, frames.end()) << want << " is missing, or not in its place, in\n" << joined(frames);
  }
  EXPECT_TRUE(frames.back().starts_with("libc.so.6")) << joined(frames);
}

TEST_P(EachJdk, HasTheFramesOfTheProgram) {
  NEED_PROBES(GetParam());
  auto jvm = must(JvmProcess::start(GetParam(), "Workload", {.flags = {"-XX:+DTraceMonitorProbes"}}));
  const ScratchDir folder;
  const std::string path = folder.file("probe.xml");
  START_PROBE(probe, {jvm->pid_text(), "thread__park__begin", "monitor__contended__enter", "gc__begin", "thread__stop",
                      "--stack", "-o", path});
  for (const char* command : {"park 2", "contend 2", "gc 1", "deep 60"}) must(jvm->ask(command));
  stop(probe);
  EXPECT_THAT(probe.err(), Not(HasSubstr("could not be followed")));
  auto trace = must(TraceDocument::read(path));
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_TRUE(valid(path));

  auto parks = stacks_of(trace, "thread__park__begin");
  const std::string main = parks.empty() ? "" : parks.front().front();
  std::erase_if(parks, [&](const auto& frames) { return frames.front() != main; });  // the JVM's own threads park too
  ASSERT_EQ(parks.size(), 3u);
  for (const auto& frames : {parks[0], parks[1]})
    expect_frames(frames, {"libjvm.so!Unsafe_Park", "jdk/internal/misc/Unsafe.park:native",
                           "java/util/concurrent/locks/LockSupport.parkNanos:", "Workload.parks:", "Workload.answer:",
                           "Workload.main:", "~call_stub", "libjvm.so!JavaCalls::call_helper", "libjli.so!"});
  expect_frames(parks[2], {"libjvm.so!Unsafe_Park", "Workload.down:", "Workload.deep:", "Workload.main:"});
  EXPECT_EQ(count_frames(parks[2], "Workload.down:"), 61) << joined(parks[2]);

  const auto contended = stacks_of(trace, "monitor__contended__enter");
  ASSERT_GE(contended.size(), 2u);
  expect_frames(contended.front(), {"libjvm.so!ObjectMonitor::", "Workload.lambda$contend$", "Workload.lambda$start$",
                                    "java/lang/Thread.run:", "~call_stub", "libjvm.so!JavaThread::"});
  const auto collections = stacks_of(trace, "gc__begin");
  ASSERT_FALSE(collections.empty());
  expect_frames(collections.front(), {"libjvm.so!VMThread::run()"});
  EXPECT_EQ(count_frames(collections.front(), "Workload"), 0);
  // The stack comes before the element that ends the thread.
  EXPECT_FALSE(stacks_of(trace, "thread__stop").empty());
  EXPECT_EQ(jvm->err(), "");
  record_support(GetParam(), "G1", "live", "stacks at probes");
}

// All back ends give the same, also in a container.
TEST(ProbeStacks, AreTheSameByAllBackEndsInAContainer) {
  JTRACE_NEED_JDK(jdk);
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("ptrace", why);
  auto jvm = must(JvmProcess::start(*jdk, "Workload", {.isolation = Isolation::kContainer}));
  const ScratchDir folder;
  std::vector<std::string> first;
  for (const char* back_end : {"uprobe_multi", "perf_bpf", "perf"}) {
    const std::string path = folder.file(std::string(back_end) + ".xml");
    START_PROBE(probe, {jvm->pid_text(), "thread__park__begin", "--stack", "--backend", back_end, "-o", path});
    must(jvm->ask("park 1"));
    stop(probe);
    auto trace = must(TraceDocument::read(path));
    EXPECT_TRUE(none(trace.faults()));
    std::vector<std::string> frames;
    for (const auto& stack : stacks_of(trace, "thread__park__begin"))
      if (count_frames(stack, "Workload.parks:") == 1) frames = stack;
    ASSERT_FALSE(frames.empty()) << back_end;
    expect_frames(frames, {"libjvm.so!", "Workload.parks:", "Workload.main:", "~call_stub"});
    if (first.empty()) first = frames;
    EXPECT_EQ(frames, first) << back_end;
  }
}

}  // namespace
}  // namespace jtrace::test
