// The cost of methodEntry, methodExit and methodCount: a recursive fib (nothing but calls), a program of collections
// (calls through the JDK's own methods), and a real one (Eclipse's compiler, package libeclipse-jdt-core-java, if
// installed; each compilation is one "call"), on each of JDK 17 and 25 that is installed. Best of many rounds inside
// the program; ratios to the same JVM before the attach.
//
// clang-format off
//   counted          methodCount
//   slower than      --slower-than, with no call that is slower
//   ring             events that find no room are dropped, so that the cost is that of the callouts
//   drained          every event is kept
//   after            jtrace has detached
//   processor time   --cpu-time
//   receivers        --objects
//   arguments        --arguments with one int
// clang-format on
//
// Allocations: objAlloc of each object, by bytecode; peer: JVM TI's sampling of every object.
// Peers, in the same run: JFR's method timing (JDK 25), which counts calls and sums their times; JVM TI's MethodEntry
// and MethodExit with callbacks that do nothing.
//
//   bench_methods [brief|program|receivers|calls|collections]   brief: untraced, the ring, every event kept, and the
//   peers; the others: only the real program, the fib of an object, the cost of methodCall and methodReturn, or the
//   program of collections
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "tests/testlib/background_command.h"
#include "tests/testlib/java_programs.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/places.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
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

// The best time of a call of the workload, over `rounds`.
Figure measure(JvmProcess& jvm, const Workload& work, int rounds) {
  const std::string command = work.command + (" " + std::to_string(work.size)) + " " + std::to_string(rounds);
  const auto answer = jvm.ask(command, std::chrono::minutes(3));
  if (!answer) {
    std::fprintf(stderr, "%s\n", answer.error().message().c_str());
    std::exit(1);
  }
  return {static_cast<double>(value_in(*answer, "ns")) / static_cast<double>(value_in(*answer, "calls"))};
}

// The best time when compilation has finished: a program of thousands of methods needs a while for that.
Figure settled(JvmProcess& jvm, const Workload& work, int rounds) {
  Figure best = measure(jvm, work, rounds);
  for (int same = 0, tries = 0; same < 2 && tries < 12; ++tries) {
    const Figure next = measure(jvm, work, rounds);
    same = next.ns_per_call > 0.97 * best.ns_per_call ? same + 1 : 0;
    best.ns_per_call = std::min(best.ns_per_call, next.ns_per_call);
  }
  return best;
}

void row(const char* name, Figure figure, Figure base) {
  const bool long_one = figure.ns_per_call >= 1e6;  // a compilation
  std::printf("  %-34s %8.2f %s %8.2f x\n", name, figure.ns_per_call / (long_one ? 1e6 : 1),
              long_one ? "ms a round" : "ns a call", figure.ns_per_call / base.ns_per_call);
  std::fflush(stdout);
}

enum class Into { kDocument, kSpill };

// `events` with `options`; the methods are compiled again first.
void traced(JvmProcess& jvm, const char* name, Figure base, const Workload& work, int rounds, const char* events,
            const std::vector<std::string>& options = {}, Into into = Into::kDocument) {
  const ScratchDir folder;
  const std::string path = folder.file("trace");
  std::vector<std::string> words{
      jtrace_binary(), "attach", std::to_string(jvm.pid()), into == Into::kSpill ? "--spill" : "-o", path,
      "--events",      events};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), work.filters.begin(), work.filters.end());
  auto command = BackgroundCommand::start(words);
  // As an option in the document; in a spill as the agent's definition of it.
  const Result<> rewritten =
      command ? wait_for_bytes(path, "jtrace.rewritten", std::chrono::seconds(20), [&] { return (*command)->alive(); })
              : fail(command.error());
  if (!rewritten) {
    std::printf("  %-34s not measured: %s\n", name, rewritten.error().message().c_str());
    return;
  }
  row(name, settled(jvm, work, rounds), base);
  (*command)->signal(SIGINT);
  (void)(*command)->wait_exit(std::chrono::minutes(2));
}

// JVM TI's own objAlloc: no class is rewritten, the filters are those of objects' classes.
void sampled(JvmProcess& jvm, const char* name, Figure base, const Workload& work, int rounds,
             std::vector<std::string> options) {
  options.insert(options.begin(), {"--events", "objects"});
  auto run = TraceRun::start(jvm.pid(), options);
  if (!run) {
    std::printf("  %-34s not measured: %s\n", name, run.error().message().c_str());
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

void peer_jvmti(const Jdk& jdk, const Workload& work, Figure base) {
  const JvmOptions options = attachable(jdk, {"-agentpath:" + libraries_folder() + "/libmethod_events_agent.so"});
  auto jvm = JvmProcess::start(jdk, "Calls", options);
  if (!jvm) {
    std::printf("  %-34s not measured: %s\n", "JVM TI events", jvm.error().message().c_str());
    return;
  }
  measure(**jvm, work, 3);
  row("JVM TI events, empty (peer)", measure(**jvm, work, 5), base);
}

const std::vector<std::string> kKeep{"--when-full", "block", "--block-limit", "10000"};

void bench_fib(const Jdk& jdk, JvmProcess& jvm, bool brief) {
  const Workload work{"fib", "bench", 25, {"--filter", "Calls fib include", "--filter", "* exclude"}};
  Workload small = work;  // for the run in which every event is written
  small.size = 20;
  std::printf("%s: %s\n", jdk.name.c_str(), work.name);
  measure(jvm, work, 50);
  const Figure base = measure(jvm, work, 50);
  row("untraced", base, base);
  if (!brief) traced(jvm, "counted", base, work, 50, "counts");
  traced(jvm, "ring, coarse time", base, work, 20, "methods");
  traced(jvm, "ring, precise time", base, work, 20, "methods", {"--time", "precise"});
  row("two System.nanoTime (floor of that)", measure(jvm, {"clock", "benchClock", 10'000, {}}, 50), base);
  traced(jvm, "ring, processor time", base, small, 40, "methods", {"--cpu-time"});
  traced(jvm, "ring, precise and processor time", base, small, 40, "methods", {"--time", "precise", "--cpu-time"});
  if (!brief) traced(jvm, "slower than 1 s, coarse time", base, work, 20, "methods", {"--slower-than", "1"});
  if (!brief)
    traced(jvm, "slower than 1 s, processor time", base, small, 40, "methods", {"--slower-than", "1", "--cpu-time"});
  traced(jvm, "all kept, XML to a file", base, small, 40, "methods", kKeep);
  traced(jvm, "all kept, spill to a file", base, small, 40, "methods", kKeep, Into::kSpill);
  measure(jvm, work, 50);
  row("after", measure(jvm, work, 50), base);
  peer_jfr(jdk, work, "Calls::fib", base, 20);
  peer_jvmti(jdk, small, base);
}

// fib makes each call of fib: one methodCall and methodReturn for each methodEntry and methodExit, the peer.
void bench_calls(const Jdk& jdk, JvmProcess& jvm) {
  const Workload work{"fib, called", "bench", 20, {"--filter", "Calls fib include", "--filter", "* exclude"}};
  std::printf("%s: %s\n", jdk.name.c_str(), work.name);
  measure(jvm, work, 200);
  const Figure base = measure(jvm, work, 200);
  row("untraced", base, base);
  traced(jvm, "ring, entries and exits (peer)", base, work, 200, "methods");
  traced(jvm, "ring, calls", base, work, 200, "calls");
  traced(jvm, "ring, both", base, work, 200, "calls,methods");
  traced(jvm, "calls kept, spill to a file", base, work, 40, "calls", kKeep, Into::kSpill);
}

// The same recursion as an instance method: the cost of each call's receiver.
void bench_receivers(const Jdk& jdk, JvmProcess& jvm) {
  const Workload work{
      "fib of an object", "benchObject", 20, {"--filter", "Calls fib* include", "--filter", "* exclude"}};
  std::printf("%s: %s\n", jdk.name.c_str(), work.name);
  measure(jvm, work, 200);
  const Figure base = measure(jvm, work, 200);
  row("untraced", base, base);
  traced(jvm, "ring, coarse time", base, work, 100, "methods");
  traced(jvm, "ring, receivers", base, work, 100, "methods", {"--objects"});
  traced(jvm, "slower than 1 s", base, work, 100, "methods", {"--slower-than", "1"});
  traced(jvm, "slower than 1 s, receivers", base, work, 100, "methods", {"--slower-than", "1", "--objects"});
  traced(jvm, "ring, arguments", base, work, 100, "methods", {"--arguments"});
}

// Figures are per object.
void bench_allocations(const Jdk& jdk, JvmProcess& jvm) {
  const Workload work{"two objects a round", "benchNew", 2000, {"--filter", "Calls* include", "--filter", "* exclude"}};
  std::printf("%s: %s\n", jdk.name.c_str(), work.name);
  measure(jvm, work, 200);
  const Figure base = measure(jvm, work, 200);
  row("untraced", base, base);
  traced(jvm, "allocations, their site", base, work, 40, "allocations");
  traced(jvm, "allocations, 16 frames", base, work, 40, "allocations", {"--stack-depth", "16"});
  sampled(jvm, "sampled at 0 (peer)", base, work, 40, {"--sample-interval", "0", "--stack-depth", "0"});
  sampled(jvm, "sampled at 0, 16 frames (peer)", base, work, 40, {"--sample-interval", "0"});
}

void bench_collections(const Jdk& jdk, JvmProcess& jvm, bool brief) {
  const Workload work{
      "collections", "benchCollections", 20000, {"--filter", "Calls$Collections include", "--filter", "* exclude"}};
  std::printf("%s: %s\n", jdk.name.c_str(), work.name);
  measure(jvm, work, 50);
  const Figure base = measure(jvm, work, 50);
  row("untraced", base, base);
  if (!brief) traced(jvm, "counted", base, work, 50, "counts");
  traced(jvm, "ring, coarse time", base, work, 50, "methods");
  if (!brief) traced(jvm, "slower than 1 s, coarse time", base, work, 50, "methods", {"--slower-than", "1"});
  traced(jvm, "ring, receivers", base, work, 50, "methods", {"--objects"});
  traced(jvm, "all kept, XML to a file", base, work, 30, "methods", kKeep);
  traced(jvm, "all kept, spill to a file", base, work, 30, "methods", kKeep, Into::kSpill);
  measure(jvm, work, 50);
  row("after", measure(jvm, work, 50), base);
  peer_jfr(jdk, work, "Calls$Collections", base, 50);
  Workload few = work;
  few.size = 2000;
  peer_jvmti(jdk, few, base);
}

JvmOptions compiler_options(JvmOptions options) {
  options.arguments = {eclipse_compiler_jar()};
  for (const char* app : {"Calls", "ClassZoo", "HeapZoo", "Waits", "Workload"})
    options.arguments.push_back(source_folder() + "/tests/apps/" + std::string(app) + ".java");
  return options;
}

void bench_program(const Jdk& jdk) {
  const Workload work{"compiles", "compile", 1, {"--filter", "org.eclipse.* include", "--filter", "* exclude"}};
  std::printf("%s: Eclipse's compiler\n", jdk.name.c_str());
  if (eclipse_compiler_jar().empty()) return (void)std::printf("  not measured: it is not there\n");
  auto jvm = JvmProcess::start(jdk, "Compiles", compiler_options(attachable(jdk)));
  if (!jvm) return (void)std::printf("  not measured: %s\n", jvm.error().message().c_str());
  const Figure base = settled(**jvm, work, 40);
  row("untraced", base, base);
  traced(**jvm, "counted", base, work, 10, "counts");
  traced(**jvm, "ring, coarse time", base, work, 10, "methods");
  traced(**jvm, "slower than 10 ms, coarse time", base, work, 10, "methods", {"--slower-than", "10ms"});
  traced(**jvm, "all kept, spill to a file", base, work, 10, "methods", kKeep, Into::kSpill);
  row("after", settled(**jvm, work, 40), base);
  const std::string agent = "-agentpath:" + libraries_folder() + "/libmethod_events_agent.so";
  auto peer = JvmProcess::start(jdk, "Compiles", compiler_options(attachable(jdk, {agent})));
  if (!peer) return (void)std::printf("  not measured: %s\n", peer.error().message().c_str());
  row("JVM TI events, empty (peer)", settled(**peer, work, 2), base);
}

void bench(const Jdk& jdk, std::string_view what) {
  const bool brief = what == "brief";
  auto jvm = JvmProcess::start(jdk, "Calls", attachable(jdk));
  if (!jvm) {
    std::printf("%s: %s\n", jdk.name.c_str(), jvm.error().message().c_str());
    return;
  }
  if (what == "receivers") return bench_receivers(jdk, **jvm);
  if (what == "calls") return bench_calls(jdk, **jvm);
  if (what == "collections") return bench_collections(jdk, **jvm, true);
  bench_fib(jdk, **jvm, brief);
  if (!brief) bench_calls(jdk, **jvm);
  bench_receivers(jdk, **jvm);
  if (!brief) bench_allocations(jdk, **jvm);
  bench_collections(jdk, **jvm, brief);
  if (!brief) bench_program(jdk);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "all";
  for (const Jdk& jdk : jdks()) {
    if (jdk.root || (jdk.version != 17 && jdk.version != 25)) continue;
    if (what == "program") bench_program(jdk);
    else bench(jdk, what);
  }
  return 0;
}
