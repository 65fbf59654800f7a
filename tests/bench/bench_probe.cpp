// `jtrace probe` compared with bpftrace, interleaved in one run: the cost of a method event for the JVM, and the time
// to set and remove the probes; prints medians and ratios. Needs root, and JDKs of this machine with probes
// (JTRACE_TEST_JDKS selects some). bpftrace is left out if it is not installed.
//
// The cost of an empty BPF program at the same place is printed too: it is the kernel's own part, below which nobody
// can go. `facts`: the time to read what probes do not give from a running JVM; nothing is stopped for it.
//
//   bench_probe [event|set|facts]...      all by default
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "dtrace/bpf.h"
#include "dtrace/bpf_assembler.h"
#include "dtrace/libjvm.h"
#include "dtrace/vm_facts.h"
#include "tests/bench/bench.h"
#include "tests/testlib/background_command.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

constexpr int kCalls = 200'000;
constexpr auto kStart = std::chrono::seconds(60);

// Nanoseconds of one call of ProbeCalls.called.
Result<double> call_ns(JvmProcess& jvm) {
  JTRACE_ASSIGN_OR_RETURN(const std::string answer, jvm.ask("run " + std::to_string(kCalls)));
  return std::strtod(answer.c_str(), nullptr) / kCalls;
}

// The cost of a call while a tracer runs. The tracer prints `ready` on stdout or stderr when its probes are set.
Result<double> traced_ns(JvmProcess& jvm, const std::vector<std::string>& words, std::string_view ready, bool on_err) {
  JTRACE_ASSIGN_OR_RETURN(const auto tracer, BackgroundCommand::start(words));
  const auto line = on_err ? tracer->wait_err_line(ready, kStart) : tracer->wait_out_line(ready, kStart);
  if (!line) return fail(ErrorCategory::kSystem, words.front() + " did not start: " + tracer->err());
  std::vector<double> took;
  for (int i = 0; i < 3; ++i) {
    JTRACE_ASSIGN_OR_RETURN(const double ns, call_ns(jvm));
    took.push_back(ns);
  }
  tracer->signal(SIGINT);
  JTRACE_RETURN_IF_ERROR(tracer->wait_exit(std::chrono::minutes(2)));
  return median(took);
}

// The cost of a call with an empty program at method__entry.
Result<double> empty_ns(JvmProcess& jvm) {
  JTRACE_ASSIGN_OR_RETURN(const target::Process process, target::Process::open(jvm.pid()));
  JTRACE_ASSIGN_OR_RETURN(const dtrace::Libjvm libjvm, dtrace::libjvm_of_process(process));
  JTRACE_ASSIGN_OR_RETURN(const auto probes, dtrace::select_probes(libjvm.probes, "hotspot:method__entry"));
  dtrace::BpfAssembler code;
  code.move(dtrace::BpfRegister::kR0, 0);
  code.exit();
  JTRACE_ASSIGN_OR_RETURN(const auto instructions, code.finish());
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd program, dtrace::load_uprobe_program(instructions, true));
  std::vector<dtrace::UprobePlace> places;
  for (const dtrace::ProbeSite& site : probes.front()->sites)
    places.push_back({site.offset, site.semaphore_offset, places.size()});
  JTRACE_ASSIGN_OR_RETURN(
      const UniqueFd link,
      dtrace::attach_uprobes(program.get(), "/proc/self/fd/" + std::to_string(libjvm.file.get()), places, jvm.pid()));
  std::vector<double> took;
  for (int i = 0; i < 3; ++i) {
    JTRACE_ASSIGN_OR_RETURN(took.emplace_back(), call_ns(jvm));
  }
  return median(took);
}

void print_row(const Jdk& jdk, const char* what, double base, const std::vector<double>& ours,
               const std::vector<double>& peer) {
  std::printf("%-10s %-34s jtrace %.3f us an event", jdk.name.c_str(), what, (median(ours) - base) / 1000);
  if (!peer.empty())
    std::printf("   bpftrace %.3f us   ratio %.2f", (median(peer) - base) / 1000,
                (median(peer) - base) / (median(ours) - base));
  std::printf("\n");
}

Result<> bench_event(const Jdk& jdk) {
  JTRACE_ASSIGN_OR_RETURN(const auto jvm, JvmProcess::start(jdk, "ProbeCalls", {.flags = {"-XX:+DTraceMethodProbes"}}));
  const std::string pid = jvm->pid_text(), filter = "/pid == " + pid + "/ ";
  const std::string probe = "usdt:" + jdk.libjvm() + ":hotspot:method__entry ";
  // Its output is read when all probes are set.
  const std::string tick = " interval:ms:100 { printf(\"tick\\n\"); }";
  const std::string counting = probe + filter + "{ @ = count(); }" + tick;
  const std::string texts = probe + filter + "{ @[str(arg1, arg2), str(arg3, arg4)] = count(); }" + tick;
  std::vector<double> base, empty, events, counted, peer_events, peer_counted;
  const bool peer = run_command({"bpftrace", "--version"}).has_value();
  for (int i = 0; i < 5; ++i) {
    JTRACE_ASSIGN_OR_RETURN(base.emplace_back(), call_ns(*jvm));
    JTRACE_ASSIGN_OR_RETURN(empty.emplace_back(), empty_ns(*jvm));
    JTRACE_ASSIGN_OR_RETURN(
        events.emplace_back(),
        traced_ns(*jvm, {jtrace_binary(), "probe", pid, "method__entry", "-o", "/dev/null"}, "jtrace: tracing", true));
    JTRACE_ASSIGN_OR_RETURN(
        counted.emplace_back(),
        traced_ns(*jvm, {jtrace_binary(), "probe", pid, "method__entry", "--count-methods", "-o", "/dev/null"},
                  "jtrace: tracing", true));
    if (!peer) continue;
    JTRACE_ASSIGN_OR_RETURN(peer_events.emplace_back(), traced_ns(*jvm, {"bpftrace", "-e", texts}, "tick", false));
    JTRACE_ASSIGN_OR_RETURN(peer_counted.emplace_back(), traced_ns(*jvm, {"bpftrace", "-e", counting}, "tick", false));
  }
  std::printf("%-10s %-34s empty program %.3f us an event\n", jdk.name.c_str(), "method__entry",
              (median(empty) - median(base)) / 1000);
  print_row(jdk, "method__entry, 3 strings (bpftrace 2)", median(base), events, peer_events);
  print_row(jdk, "method__entry counted by method", median(base), counted, peer_counted);
  return {};
}

double milliseconds_after(const std::string& text, std::string_view words) {
  const std::size_t at = text.find(words);
  return at == text.npos ? -1 : std::strtod(text.c_str() + at + words.size(), nullptr);
}

// Sets and removes all sites of provider hotspot.
Result<> bench_set(const Jdk& jdk) {
  JTRACE_ASSIGN_OR_RETURN(
      const auto jvm,
      JvmProcess::start(jdk, "ProbeCalls",
                        {.flags = {"-XX:+DTraceMethodProbes", "-XX:+DTraceAllocProbes", "-XX:+DTraceMonitorProbes"}}));
  for (const char* back_end : {"uprobe_multi", "perf_bpf"}) {
    std::vector<double> set, taken;
    std::string sites;
    for (int i = 0; i < 5; ++i) {
      JTRACE_ASSIGN_OR_RETURN(const auto tracer,
                              BackgroundCommand::start({jtrace_binary(), "probe", jvm->pid_text(), "hotspot:*",
                                                        "--backend", back_end, "-o", "/dev/null"}));
      const auto line = tracer->wait_err_line("jtrace: tracing", kStart);
      if (!line) return fail(ErrorCategory::kSystem, "jtrace did not start: " + tracer->err());
      sites = line->substr(16, line->find(" sites") - 16);
      set.push_back(milliseconds_after(*line, "set in "));
      tracer->signal(SIGINT);
      JTRACE_RETURN_IF_ERROR(tracer->wait_exit(std::chrono::minutes(2)));
      taken.push_back(milliseconds_after(tracer->err(), "taken out in "));
    }
    std::printf("%-10s %s sites by %-12s set in %.0f ms (goal <= 100), taken out in %.0f ms (goal <= 300)\n",
                jdk.name.c_str(), sites.c_str(), back_end, median(set), median(taken));
  }
  return {};
}

Result<> bench_facts(const Jdk& jdk) {
  JTRACE_ASSIGN_OR_RETURN(const auto jvm, JvmProcess::start(jdk, "Workload"));
  JTRACE_RETURN_IF_ERROR(jvm->ask("hold 50"));
  std::vector<double> open, threads, list, again;
  std::size_t count = 0;
  const auto timed = [](std::vector<double>& into, auto&& body) {
    const auto start = std::chrono::steady_clock::now();
    auto result = body();
    into.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    return result;
  };
  for (int i = 0; i < 9; ++i) {
    JTRACE_ASSIGN_OR_RETURN(const auto facts, timed(open, [&] { return dtrace::VmFacts::open(jvm->pid()); }));
    JTRACE_ASSIGN_OR_RETURN(const auto found, timed(threads, [&] { return facts->threads(); }));
    count = found.size();
    const bool there = timed(list, [&] { return facts->class_named("java/lang/Object"); }).has_value();
    if (!there || !timed(again, [&] { return facts->class_named("java/lang/Thread"); }))
      return fail(ErrorCategory::kMalformed, "java.lang.Object is not found");
  }
  std::printf(
      "%-10s facts: opened in %.1f ms, %zu threads in %.2f ms, first class in %.1f ms, the next in %.2f ms; "
      "the JVM is stopped for 0 ms\n",
      jdk.name.c_str(), median(open), count, median(threads), median(list), median(again));
  return {};
}

const Benches kAll = {{"event", bench_event}, {"set", bench_set}, {"facts", bench_facts}};

}  // namespace
}  // namespace jtrace::test

int main(int argc, char** argv) { return jtrace::test::run_benches(jtrace::test::kAll, {argv + 1, argv + argc}); }
