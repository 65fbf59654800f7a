// What methodEntry, methodExit and methodCount cost: a recursive fib (nothing but calls) and a program of collections
// (calls between the JDK's own), on each of JDK 17 and 25 that is there. Best of many rounds inside the program; ratios
// to the same JVM before the attach.
//   counted: methodCount; slower than: --slower-than, with nothing that is; ring: events that find no room are dropped,
//   so that the cost is that of the probes; drained: every event is kept after: when jtrace has gone out again;
//   receivers: --objects; arguments: --arguments with one int
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

struct Workload {
  const char* name;
  const char* command;  // of Calls.java
  int size;
  std::vector<std::string> filters;
};

// Best time for a call of the workload's, over `rounds`.
Figure measure(JvmProcess& jvm, const Workload& work, int rounds) {
  const std::string command = work.command + (" " + std::to_string(work.size)) + " " + std::to_string(rounds);
  const auto answer = jvm.ask(command, std::chrono::minutes(3));
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

// `events` with `options`; compiled anew first.
void traced(JvmProcess& jvm, const char* name, Figure base, const Workload& work, int rounds, const char* events,
            std::vector<std::string> options = {}) {
  options.insert(options.begin(), {"--events", events});
  options.insert(options.end(), work.filters.begin(), work.filters.end());
  auto run = TraceRun::start(jvm.pid(), options);
  if (!run || !rewritten(**run)) {
    std::printf("  %-34s not measured: %s\n", name, run ? "no probes" : run.error().message().c_str());
    return;
  }
  measure(jvm, work, rounds);
  row(name, measure(jvm, work, rounds), base);
  (*run)->command().signal(SIGINT);
  (void)(*run)->command().wait_exit(std::chrono::minutes(2));
}

void peer_jfr(const Jdk& jdk, const Workload& work, const char* filter, Figure base, int rounds) {
  if (jdk.version < 25) return;
  JvmOptions options =
      attachable(jdk, {std::string("-XX:StartFlightRecording:method-timing=") + filter, "-Xlog:jfr*=off"});
  auto jvm = JvmProcess::start(jdk, "Calls", options);
  if (!jvm) {
    std::printf("  %-34s not measured: %s\n", "JFR method timing", jvm.error().message().c_str());
    return;
  }
  measure(**jvm, work, rounds);
  row("JFR method timing (peer)", measure(**jvm, work, rounds), base);
}

const std::vector<std::string> kKeep{"--when-full", "block", "--block-limit", "10000"};

void bench_fib(const Jdk& jdk, JvmProcess& jvm) {
  const Workload work{"fib", "bench", 25, {"--filter", "Calls fib include", "--filter", "* exclude"}};
  Workload small = work;  // where every event is written
  small.size = 20;
  std::printf("%s: %s\n", jdk.name.c_str(), work.name);
  measure(jvm, work, 50);
  const Figure base = measure(jvm, work, 50);
  row("untraced", base, base);
  traced(jvm, "counted", base, work, 50, "counts");
  traced(jvm, "ring, coarse time", base, work, 20, "methods");
  traced(jvm, "ring, precise time", base, work, 20, "methods", {"--time", "precise"});
  traced(jvm, "slower than 1 s, coarse time", base, work, 20, "methods", {"--slower-than", "1"});
  traced(jvm, "all kept, XML to a file", base, small, 40, "methods", kKeep);
  measure(jvm, work, 50);
  row("after", measure(jvm, work, 50), base);
  peer_jfr(jdk, work, "Calls::fib", base, 20);
}

// The same recursion as an instance method: what the receiver of each call costs.
void bench_receivers(const Jdk& jdk, JvmProcess& jvm) {
  const Workload work{
      "fib of an object", "benchObject", 20, {"--filter", "Calls fib* include", "--filter", "* exclude"}};
  std::printf("%s: %s\n", jdk.name.c_str(), work.name);
  measure(jvm, work, 200);
  const Figure base = measure(jvm, work, 200);
  row("untraced", base, base);
  traced(jvm, "ring, coarse time", base, work, 100, "methods");
  traced(jvm, "ring, receivers", base, work, 100, "methods", {"--objects"});
  traced(jvm, "ring, arguments", base, work, 100, "methods", {"--arguments"});
}

void bench_collections(const Jdk& jdk, JvmProcess& jvm) {
  const Workload work{
      "collections", "benchCollections", 20000, {"--filter", "Calls$Collections include", "--filter", "* exclude"}};
  std::printf("%s: %s\n", jdk.name.c_str(), work.name);
  measure(jvm, work, 50);
  const Figure base = measure(jvm, work, 50);
  row("untraced", base, base);
  traced(jvm, "counted", base, work, 50, "counts");
  traced(jvm, "ring, coarse time", base, work, 50, "methods");
  traced(jvm, "slower than 1 s, coarse time", base, work, 50, "methods", {"--slower-than", "1"});
  traced(jvm, "ring, receivers", base, work, 50, "methods", {"--objects"});
  traced(jvm, "all kept, XML to a file", base, work, 30, "methods", kKeep);
  measure(jvm, work, 50);
  row("after", measure(jvm, work, 50), base);
  peer_jfr(jdk, work, "Calls$Collections", base, 50);
}

void bench(const Jdk& jdk) {
  auto jvm = JvmProcess::start(jdk, "Calls", attachable(jdk));
  if (!jvm) {
    std::printf("%s: %s\n", jdk.name.c_str(), jvm.error().message().c_str());
    return;
  }
  bench_fib(jdk, **jvm);
  bench_receivers(jdk, **jvm);
  bench_collections(jdk, **jvm);
}

}  // namespace

int main() {
  for (const Jdk& jdk : jdks())
    if (!jdk.root && (jdk.version == 17 || jdk.version == 25)) bench(jdk);
  return 0;
}
