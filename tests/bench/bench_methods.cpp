// What methodEntry and methodExit cost: a recursive fib (nothing but calls), on each of JDK 17 and 25 that is there.
// Best of many rounds inside the program; ratios to the same JVM before the attach.
//   ring: events that find no room are dropped, so that the cost is that of the probes; drained: every event is kept
//   after: when jtrace has gone out again
// Peer: JFR's method timing (JDK 25), which counts calls and sums their times, in the same run.
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "tests/testlib/background_command.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace {

using namespace jtrace;
using namespace jtrace::test;

struct Figure {
  double ns_per_call = 0;
};

// Best time for a call of fib(n), over `rounds`.
Figure measure(JvmProcess& jvm, int n, int rounds) {
  const auto answer = jvm.ask("bench " + std::to_string(n) + " " + std::to_string(rounds), std::chrono::minutes(3));
  if (!answer) {
    std::fprintf(stderr, "%s\n", answer.error().message().c_str());
    std::exit(1);
  }
  return {static_cast<double>(value_in(*answer, "ns")) / static_cast<double>(value_in(*answer, "calls"))};
}

void row(const char* name, Figure figure, Figure base) {
  std::printf("  %-34s %8.2f ns a call %8.2f x\n", name, figure.ns_per_call, figure.ns_per_call / base.ns_per_call);
  std::fflush(stdout);
}

bool rewritten(TraceRun& run) {
  for (int i = 0; i < 1000; ++i) {
    const auto text = read_file(run.path());
    if (text && text->find("jtrace.rewritten") != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

void traced(JvmProcess& jvm, const char* name, Figure base, int n, int rounds, std::vector<std::string> options) {
  options.insert(options.begin(), {"--events", "methods", "--filter", "Calls fib include", "--filter", "* exclude"});
  auto run = TraceRun::start(jvm.pid(), options);
  if (!run || !rewritten(**run)) {
    std::printf("  %-34s not measured: %s\n", name, run ? "no probes" : run.error().message().c_str());
    return;
  }
  measure(jvm, n, rounds);  // compiled anew
  row(name, measure(jvm, n, rounds), base);
  (*run)->command().signal(SIGINT);
  (void)(*run)->command().wait_exit(std::chrono::minutes(2));
}

void peer_jfr(const Jdk& jdk, Figure base) {
  if (jdk.version < 25) return;
  JvmOptions options = attachable(jdk, {"-XX:StartFlightRecording:method-timing=Calls::fib", "-Xlog:jfr*=off"});
  auto jvm = JvmProcess::start(jdk, "Calls", options);
  if (!jvm) {
    std::printf("  %-34s not measured: %s\n", "JFR method timing", jvm.error().message().c_str());
    return;
  }
  measure(**jvm, 25, 20);
  row("JFR method timing (peer)", measure(**jvm, 25, 20), base);
}

void bench(const Jdk& jdk) {
  auto jvm = JvmProcess::start(jdk, "Calls", attachable(jdk));
  if (!jvm) {
    std::printf("%s: %s\n", jdk.name.c_str(), jvm.error().message().c_str());
    return;
  }
  std::printf("%s: fib\n", jdk.name.c_str());
  measure(**jvm, 25, 50);
  const Figure base = measure(**jvm, 25, 50);
  row("untraced", base, base);
  traced(**jvm, "ring, coarse time", base, 25, 20, {});
  traced(**jvm, "ring, precise time", base, 25, 20, {"--time", "precise"});
  traced(**jvm, "all kept, XML to a file", base, 20, 40, {"--when-full", "block", "--block-limit", "10000"});
  measure(**jvm, 25, 50);
  row("after", measure(**jvm, 25, 50), base);
  peer_jfr(jdk, base);
}

}  // namespace

int main() {
  for (const Jdk& jdk : jdks())
    if (!jdk.root && (jdk.version == 17 || jdk.version == 25)) bench(jdk);
  return 0;
}
