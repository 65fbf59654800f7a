// What `--events sleeps,parks` adds to a park and to a sleep, on each of JDK 17 and 25 that is installed: unpark and
// park of the thread itself (it does not wait), a turn handed over between two threads (it waits), and sleep(0). Peer:
// JFR's jdk.ThreadPark and jdk.ThreadSleep, all of them (threshold 0), without stacks as here, and with stacks, which
// is JFR's default. Best of many rounds inside the program, JVMs of each kind in turns; prints medians, and the ratio
// of the added times.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/testlib/jvm_process.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace {

using namespace jtrace;
using namespace jtrace::test;

constexpr int kTurns = 3;

struct Work {
  const char* name;
  const char* command;  // of Waits.java
  const char* warm;     // the same, until it is compiled
};
constexpr Work kWorks[] = {
    {"unpark and park, own permit", "benchParks 2000 50", "benchParks 2000 50"},
    {"a turn handed over", "benchHands 2000 20", "benchHands 1000 5"},
    {"sleep(0)", "benchSleeps 2000 50", "benchSleeps 2000 50"},
};

using Figures = std::map<std::string, std::vector<double>>;  // ns by work

void measure(JvmProcess& jvm, Figures& figures) {
  for (const Work& work : kWorks) {
    if (!jvm.ask(work.warm, std::chrono::minutes(2))) continue;
    const auto answer = jvm.ask(work.command, std::chrono::minutes(2));
    if (!answer) continue;
    figures[work.name].push_back(static_cast<double>(value_in(*answer, "ns")) /
                                 static_cast<double>(value_in(*answer, "calls")));
  }
}

void measure_plain(const Jdk& jdk, const std::vector<std::string>& flags, Figures& figures) {
  auto jvm = JvmProcess::start(jdk, "Waits", attachable(jdk, flags));
  if (jvm) measure(**jvm, figures);
}

// Records these two events and no others. (Given as options of StartFlightRecording, the JVM accepts them and records
// nothing.)
std::vector<std::string> recording(const ScratchDir& folder, const char* stacks) {
  const std::string path = folder.file(std::string("stacks-") + stacks + ".jfc");
  std::ofstream file(path);
  file << R"(<?xml version="1.0" encoding="UTF-8"?><configuration version="2.0">)";
  for (const char* event : {"jdk.ThreadPark", "jdk.ThreadSleep"})
    file << "<event name=\"" << event << R"("><setting name="enabled">true</setting><setting name="threshold">0 ns)"
         << "</setting><setting name=\"stackTrace\">" << stacks << "</setting></event>";
  file << "</configuration>";
  return {"-XX:StartFlightRecording:settings=" + path, "-Xlog:jfr*=off"};
}

void measure_traced(const Jdk& jdk, Figures& figures) {
  auto jvm = JvmProcess::start(jdk, "Waits", attachable(jdk));
  if (!jvm) return;
  auto run = TraceRun::start((*jvm)->pid(), {"--events", "sleeps,parks"});
  if (!run) return;
  measure(**jvm, figures);
  (*run)->command().signal(SIGINT);
  (void)(*run)->command().wait_exit(std::chrono::minutes(1));
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void row(const char* name, double ns, double base, double ours) {
  if (ns == 0) return (void)std::printf("    %-24s not measured\n", name);
  std::printf("    %-24s %9.0f ns, adds %8.0f ns", name, ns, ns - base);
  const bool is_noise = ns - base < 0.05 * base;
  if (ours != 0 && is_noise) std::printf("; no more than what JVMs differ by");
  if (ours != 0 && !is_noise) std::printf("; ours is %.2f x", ours / (ns - base));
  std::printf("\n");
}

void bench(const Jdk& jdk) {
  const ScratchDir folder;
  Figures base, traced, recorded, with_stacks;
  for (int turn = 0; turn < kTurns; ++turn) {
    measure_plain(jdk, {}, base);
    measure_traced(jdk, traced);
    measure_plain(jdk, recording(folder, "false"), recorded);
    measure_plain(jdk, recording(folder, "true"), with_stacks);
  }
  std::printf("%s\n", jdk.name.c_str());
  for (const Work& work : kWorks) {
    const double none = median(base[work.name]);
    const double ours = median(traced[work.name]);
    std::printf("  %s: %.0f ns\n", work.name, none);
    row("traced", ours, none, 0);
    row("JFR, no stacks (peer)", median(recorded[work.name]), none, ours - none);
    row("JFR, stacks (peer)", median(with_stacks[work.name]), none, ours - none);
  }
}

}  // namespace

int main() {
  for (const Jdk& jdk : jdks())
    if (!jdk.root && (jdk.version == 17 || jdk.version == 25)) bench(jdk);
  return 0;
}
