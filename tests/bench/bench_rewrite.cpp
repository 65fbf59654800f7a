// The time to insert the callouts into a JVM with many classes: JDK 17 and 25, each with 6,000 classes loaded and
// linked, new JVMs in turns. Measured from the start of `jtrace attach` (entry, exit, throw, catch in every class of
// the JDK) until the trace reports that all are rewritten, and until the detach has restored all; and the longest time
// for which a busy thread stood still in either. Peer and floor: an agent that retransforms the same classes in batches
// of the same size and changes nothing. The rewriter alone: processor time per class of the JDK's image, with entry,
// exit and handlers.
//
//   bench_rewrite [CLASSES]
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "agent/classfile/class_rewriter.h"
#include "base/strings.h"
#include "tests/testlib/background_command.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/places.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace {

using namespace jtrace;
using namespace jtrace::test;
using Clock = std::chrono::steady_clock;

constexpr int kTurns = 3;

struct Turn {
  double seconds = 0;
  double stall_ms = 0;
  double detach_seconds = 0;
  double detach_stall_ms = 0;
  long classes = 0;
};

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double stall_ms(JvmProcess& jvm) {
  const auto answer = jvm.ask("stall 0");
  return answer ? static_cast<double>(value_in(*answer, "us")) / 1000 : -1;
}

std::unique_ptr<JvmProcess> start(const Jdk& jdk, long classes) {
  auto jvm = JvmProcess::start(jdk, "ManyClasses", attachable(jdk));
  if (!jvm || !(*jvm)->ask("load " + std::to_string(classes))) return nullptr;
  stall_ms(**jvm);
  return std::move(*jvm);
}

Turn traced(const Jdk& jdk, long classes) {
  Turn turn;
  const auto jvm = start(jdk, classes);
  if (jvm == nullptr) return turn;
  const auto begin = Clock::now();
  auto run = TraceRun::start(jvm->pid(), {"--events", "methods,exceptions"});
  if (!run) return turn;
  const auto rewritten = wait_for_bytes((*run)->path(), "jtrace.rewritten", std::chrono::seconds(100),
                                        [&] { return (*run)->command().alive(); });
  if (!rewritten) return turn;
  turn.seconds = since(begin);
  turn.stall_ms = stall_ms(*jvm);
  const auto end = Clock::now();
  (void)(*run)->stop(9);  // the ring is full: events are lost, and reported as lost
  turn.detach_seconds = since(end);
  turn.detach_stall_ms = stall_ms(*jvm);
  const auto document = (*run)->document();
  if (!document) return turn;
  for (const TraceElement* option : document->all("option"))
    if (option->get("key") == "jtrace.rewritten") turn.classes = value_in(option->get("value"), "classes");
  return turn;
}

Turn unchanged(const Jdk& jdk, long classes) {
  Turn turn;
  const auto jvm = start(jdk, classes);
  if (jvm == nullptr) return turn;
  const auto begin = Clock::now();
  const auto loaded =
      run_command({jtrace_binary(), "load", jvm->pid_text(), libraries_folder() + "/libretransform_agent.so", "200"});
  turn.seconds = since(begin);
  if (!loaded || loaded->status != 0) std::printf("the peer was not loaded: %s\n", loaded ? loaded->err.c_str() : "");
  turn.stall_ms = stall_ms(*jvm);
  return turn;
}

// Rewrites classes of the whole image for some seconds.
void bench_rewriter(const Jdk& jdk) {
  namespace classfile = agent::classfile;
  JvmOptions options;
  options.flags = {"--add-modules=ALL-SYSTEM", "--enable-native-access=ALL-UNNAMED"};
  options.arguments = {libraries_folder() + "/librewriter_test.so"};
  auto jvm = JvmProcess::start(jdk, "RewriteAll", options);
  const std::uint32_t callouts = classfile::kCalloutEntry | classfile::kCalloutExit | classfile::kCalloutCatch;
  const auto answer = jvm ? (*jvm)->ask("image " + std::to_string(callouts) + " 15") : fail(jvm.error());
  if (!answer) return (void)std::printf("  not measured: %s\n", answer.error().message().c_str());
  std::printf("  %-42s %6.2f us a class of %ld (goal 15)\n", "rewriter, entry, exit and handlers",
              static_cast<double>(value_in(*answer, "nsPerClass")) / 1000, value_in(*answer, "classes"));
}

double median(const std::vector<Turn>& turns, double Turn::*member) {
  std::vector<double> values;
  for (const Turn& turn : turns) values.push_back(turn.*member);
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void bench(const Jdk& jdk, long classes) {
  std::vector<Turn> ours, peer;
  for (int turn = 0; turn < kTurns; ++turn) {
    ours.push_back(traced(jdk, classes));
    peer.push_back(unchanged(jdk, classes));
  }
  const double seconds = median(ours, &Turn::seconds), floor = median(peer, &Turn::seconds);
  std::printf("%s: %ld classes loaded, %ld rewritten\n", jdk.name.c_str(), classes, ours.front().classes);
  std::printf("  %-42s %6.2f s (goal for 6,000: 2.5), longest stall %6.1f ms (goal 250)\n", "attach until rewritten",
              seconds, median(ours, &Turn::stall_ms));
  std::printf("  %-42s %6.2f s, longest stall %6.1f ms\n", "detach until put back", median(ours, &Turn::detach_seconds),
              median(ours, &Turn::detach_stall_ms));
  std::printf("  %-42s %6.2f s, longest stall %6.1f ms; attach is %.2f x\n", "retransformed unchanged (peer, floor)",
              floor, median(peer, &Turn::stall_ms), seconds / floor);
  bench_rewriter(jdk);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const long classes = argc > 1 ? parse_decimal<long>(argv[1]).value_or(0) : 6000;
  if (classes <= 0) {
    std::fprintf(stderr, "usage: bench_rewrite [CLASSES]\n");
    return 2;
  }
  for (const Jdk& jdk : jdks())
    if (!jdk.root && (jdk.version == 17 || jdk.version == 25)) bench(jdk, classes);
  return 0;
}
