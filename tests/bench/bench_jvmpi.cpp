// The cost of METHOD_ENTRY and METHOD_EXIT through the JVMPI bridge, with a profiler that ignores them, compared with
// methodEntry and methodExit of jtrace's own agent (into the ring, coarse and precise time): a recursive fib, which
// does nothing but call, on each of JDK 17 and 25 that is installed. Best of many rounds inside the program, three JVMs
// of each kind in turns; prints medians, and the ratio of what a call costs more than an untraced one.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/testlib/jvm_process.h"
#include "tests/testlib/places.h"
#include "tests/testlib/trace_calls.h"
#include "tests/testlib/trace_checks.h"

namespace {

using namespace jtrace;
using namespace jtrace::test;

constexpr double kCalls = 242'785;  // of fib(25)
constexpr int kTurns = 3;

// ns per call; 0: not measured.
double best(JvmProcess& jvm) {
  double ns = 0;
  for (int i = 0; i < 2; ++i) {  // in the first, methods are compiled again
    const auto answer = jvm.ask("bench 25 20", std::chrono::minutes(3));
    if (!answer) return 0;
    ns = static_cast<double>(value_in(*answer, "ns")) / kCalls;
  }
  return ns;
}

double untraced(const Jdk& jdk) {
  auto jvm = JvmProcess::start(jdk, "JvmpiZoo");
  return jvm ? best(**jvm) : 0;
}

double bridged(const Jdk& jdk) {
  JvmOptions options;
  options.flags = {std::string("-agentpath:") + libraries_folder() + "/libjtrace_jvmpi.so=" + libraries_folder() +
                   "/libjvmpi_empty.so"};
  auto jvm = JvmProcess::start(jdk, "JvmpiZoo", options);
  return jvm ? best(**jvm) : 0;
}

double by_agent(const Jdk& jdk, const char* time) {
  auto jvm = JvmProcess::start(jdk, "JvmpiZoo", attachable(jdk));
  if (!jvm) return 0;
  auto run = TraceRun::start(
      (*jvm)->pid(), {"--events", "methods", "--time", time, "--filter", "JvmpiZoo include", "--filter", "* exclude"});
  if (!run || !rewritten(**run)) return 0;
  const double ns = best(**jvm);
  (void)(*run)->finish(9);  // the ring is full: events are lost, and reported as lost
  return ns;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void bench(const Jdk& jdk) {
  std::vector<double> base, bridge, coarse, precise;
  for (int turn = 0; turn < kTurns; ++turn) {
    base.push_back(untraced(jdk));
    bridge.push_back(bridged(jdk));
    coarse.push_back(by_agent(jdk, "coarse"));
    precise.push_back(by_agent(jdk, "precise"));
  }
  const double none = median(base), through = median(bridge) - none;
  std::printf("%s: fib, untraced %.2f ns a call\n", jdk.name.c_str(), none);
  std::printf("  %-38s %8.1f ns a call\n", "through the bridge", through);
  std::printf("  %-38s %8.1f ns a call, bridge %.2f x (goal 3)\n", "agent, coarse time", median(coarse) - none,
              through / (median(coarse) - none));
  std::printf("  %-38s %8.1f ns a call, bridge %.2f x\n", "agent, precise time", median(precise) - none,
              through / (median(precise) - none));
}

}  // namespace

int main() {
  for (const Jdk& jdk : jdks())
    if (!jdk.root && (jdk.version == 17 || jdk.version == 25)) bench(jdk);
  return 0;
}
