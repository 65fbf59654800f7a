// threadCpuTime: agrees with what the JVM reports for the thread, never goes back, and does not exceed the elapsed
// time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <map>

#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_calls.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

constexpr std::uint64_t kMilli = 1'000'000;

const std::vector<std::string> kOnlyCalls{"--cpu-time",     "--time",        "precise",  "--when-full",
                                          "block",          "--block-limit", "10000",    "--filter",
                                          "Calls* include", "--filter",      "* exclude"};

bool may_have(const TraceElement& event) {
  return event.name == "methodEntry" || event.name == "methodExit" || event.name == "line";
}

std::string thread_of(const TraceElement& event) {
  return event.get(event.name == "line" ? "threadId" : "threadIdRef");
}

// Events of platform threads without the attribute, or with less than the event before; those of virtual threads (which
// have no name) with it.
std::vector<std::string> cpu_faults(const TraceDocument& trace, std::size_t* virtual_events = nullptr) {
  std::map<std::string, bool> is_platform;
  std::map<std::string, std::uint64_t> last;
  std::vector<std::string> faults;
  for (const TraceElement& each : trace.events()) {
    if (each.name == "threadStart") is_platform[each.get("threadId")] = each.get("threadName") != "";
    if (!may_have(each)) continue;
    const std::string thread = thread_of(each);
    const std::string where = each.name + " of thread " + thread + " at " + each.get("time");
    if (!is_platform[thread]) {
      if (virtual_events != nullptr) ++*virtual_events;
      if (each.has("threadCpuTime")) faults.push_back(where + " has a time");
      continue;
    }
    if (!each.has("threadCpuTime")) faults.push_back(where + " has none");
    const std::uint64_t now = each.number("threadCpuTime");
    if (now < last[thread]) faults.push_back(where + " goes back");
    last[thread] = now;
  }
  if (faults.size() > 20) faults.resize(20);
  return faults;
}

struct Call {
  std::uint64_t elapsed = 0;  // ns
  std::uint64_t cpu = 0;
};
// Calls of the method on platform threads.
std::vector<Call> calls_of(const TraceDocument& trace, const std::string& method) {
  std::map<std::string, std::string> names = names_of_methods(trace);
  std::map<std::string, const TraceElement*> open;
  std::vector<Call> calls;
  for (const TraceElement& each : trace.events()) {
    if (names[each.get("methodIdRef")] != method || !each.has("threadCpuTime")) continue;
    const std::string key = thread_of(each) + "/" + each.get("ticket");
    if (each.name == "methodEntry") open[key] = &each;
    if (each.name == "methodExit")
      calls.push_back({nanoseconds_of(each.get("time")) - nanoseconds_of(open.at(key)->get("time")),
                       each.number("threadCpuTime") - open.at(key)->number("threadCpuTime")});
  }
  return calls;
}

TEST_P(EachJdk, IsBetweenTheTimesOfTheJvm) {
  std::vector<std::string> options{"--events", "methods,exceptions,lines,threads", "--objects", "--arguments"};
  options.insert(options.end(), kOnlyCalls.begin(), kOnlyCalls.end());
  TracedJvm jvm(GetParam(), "Calls", options);
  jvm.wait_rewritten();
  jvm.ask_each({"throws 3", "constructors 8", "values 5", "threads 2 8"});
  const bool has_virtual = GetParam().version >= 21;
  if (has_virtual) jvm.ask("virtual 3 8");
  const auto answer = jvm.ask("cpuTime 12");
  const TraceDocument trace = jvm.finish();
  EXPECT_TRUE(none(trace.id_faults()));
  EXPECT_TRUE(none(call_faults(trace)));
  EXPECT_TRUE(valid(jvm.path()));
  std::size_t virtual_events = 0;
  EXPECT_TRUE(none(cpu_faults(trace, &virtual_events)));
  EXPECT_EQ(virtual_events > 0, has_virtual);
  // The last calls of fib are between the two times that the JVM reported.
  const auto fibs = static_cast<std::size_t>(value_in(answer, "fib"));
  std::map<std::string, std::string> names = names_of_methods(trace);
  std::vector<std::uint64_t> times;
  for (const TraceElement& each : trace.events())
    if (may_have(each) && names[each.get("methodIdRef")] == "Calls.fib") times.push_back(each.number("threadCpuTime"));
  ASSERT_GE(times.size(), 3 * fibs);  // entry, line and exit of each
  const auto first = times.end() - static_cast<std::ptrdiff_t>(3 * fibs);
  EXPECT_GT(*first, static_cast<std::uint64_t>(value_in(answer, "before")));
  EXPECT_GT(times.back(), *first);
  EXPECT_LT(times.back(), static_cast<std::uint64_t>(value_in(answer, "after")));
  EXPECT_EQ(jvm.err(), "");
  record_support(GetParam(), "G1", "live", "processor time of threads");
}

// Recorded as a spill, and converted later.
TEST_P(EachJdk, OfSlowCallsShowsThatTheySlept) {
  const ScratchDir folder;
  const std::string kept = folder.file("a.spill");
  auto jvm = must(JvmProcess::start(GetParam(), "Calls", attachable(GetParam())));
  std::vector<std::string> words{jtrace_binary(), "attach",          jvm->pid_text(), "--spill", kept,
                                 "--events",      "methods,threads", "--slower-than", "40ms"};
  words.insert(words.end(), kOnlyCalls.begin(), kOnlyCalls.end());
  auto command = must(BackgroundCommand::start(words));
  must(wait_for_bytes(kept, "jtrace.rewritten", std::chrono::seconds(60), [&] { return command->alive(); }));
  must(jvm->ask("naps 2 60"));
  if (GetParam().version >= 21) {
    must(jvm->ask("virtualNaps 2 60"));
  }
  command->signal(SIGINT);
  const auto status = must(command->wait_exit());
  ASSERT_EQ(status, 0) << command->err();
  const std::string path = folder.file("a.xml");
  const auto done = must(run_jtrace({"convert", kept, "-o", path}));
  ASSERT_EQ(done.status, 0) << done.err;
  const auto trace = must(TraceDocument::read(path));
  EXPECT_TRUE(none(cpu_faults(trace)));
  const std::vector<Call> calls = calls_of(trace, "Calls.nap");
  EXPECT_EQ(calls.size(), 4u);
  for (const Call& each : calls) EXPECT_LE(each.cpu + 59 * kMilli, each.elapsed);
  EXPECT_EQ(jvm->err(), "");
}

}  // namespace
}  // namespace jtrace::test
