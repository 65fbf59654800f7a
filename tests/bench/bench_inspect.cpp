// `jtrace inspect` and `stack` compared with the same JDK's own tools, interleaved in one run; prints medians and
// ratios. Only JDKs of this machine, not of the chroot (JTRACE_TEST_JDKS selects some). A peer that is not installed is
// left out.
//
//   bench_inspect [core|stack|many]...      all of them by default
#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "tests/bench/bench.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

double milliseconds(const CommandOutput& done) {
  return std::chrono::duration<double, std::milli>(done.elapsed).count();
}

// The wall time of a command in ms; nothing if it cannot be run.
std::optional<double> timed(const std::vector<std::string>& words, std::string* out = nullptr) {
  const auto done = run_command(words, {.timeout = std::chrono::minutes(3)});
  if (!done || done->status != 0) return std::nullopt;
  if (out) *out = done->out;
  return milliseconds(*done);
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

Result<std::unique_ptr<JvmProcess>> standing(const Jdk& jdk, int more, std::vector<std::string> flags = {}) {
  flags.insert(flags.end(), {"-Xmx256m"});
  JTRACE_ASSIGN_OR_RETURN(auto jvm, JvmProcess::start(jdk, "Standing", attachable(jdk, flags)));
  JTRACE_ASSIGN_OR_RETURN(const auto answer, jvm->ask("more " + std::to_string(more), std::chrono::minutes(3)));
  (void)answer;
  return jvm;
}

void print_ratio(const Jdk& jdk, const char* what, const std::vector<double>& ours, const std::vector<double>& peer,
                 const char* peer_name) {
  std::printf("%-10s %-22s jtrace %8.1f ms", jdk.name.c_str(), what, median(ours));
  if (!peer.empty()) std::printf("   %s %8.1f ms   ratio %.1f", peer_name, median(peer), median(peer) / median(ours));
  std::printf("\n");
}

// Threads of a core: `jtrace inspect CORE threads` and `jhsdb jstack`.
Result<> bench_core(const Jdk& jdk) {
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  ::setrlimit(RLIMIT_CORE, &unlimited);
  if (!read_file("/proc/sys/kernel/core_pattern").value_or("|").starts_with("core"))
    return fail(ErrorCategory::kNotFound, "cores are not written into the working folder here");
  JTRACE_ASSIGN_OR_RETURN(auto jvm, standing(jdk, 10));
  const UniqueFd folder(::open(jvm->in_working_folder("").c_str(), O_PATH | O_DIRECTORY));
  jvm->signal(SIGABRT);
  JTRACE_RETURN_IF_ERROR(jvm->wait_exit());
  std::string core;
  for (const auto& entry :
       fs::directory_iterator("/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(folder.get())))
    if (entry.path().filename().string().starts_with("core")) core = entry.path();
  std::vector<double> ours, mixed, peer;
  for (int i = 0; i < 5; ++i) {
    if (const auto took = timed({jtrace_binary(), "inspect", core, "threads"})) ours.push_back(*took);
    if (const auto took = timed({jtrace_binary(), "stack", core})) mixed.push_back(*took);
    if (i >= 3 || jdk.version < 9) continue;
    if (const auto took =
            timed({jdk.host_path("bin/jhsdb"), "jstack", "--exe", jdk.host_path("bin/java"), "--core", core}))
      peer.push_back(*took);
  }
  print_ratio(jdk, "core threads", ours, peer, "jhsdb jstack");
  print_ratio(jdk, "core stack", mixed, peer, "jhsdb jstack");
  return {};
}

struct Whole {
  std::size_t threads = 0, bottom = 0, java_frames = 0;
  double pause_ms = 0;
};
Whole whole_of(const std::string& text) {
  const json document = json::parse(text);
  Whole whole{.pause_ms = document["pauseMicros"].get<double>() / 1000};
  for (const json& row : document["data"]) {
    ++whole.threads;
    whole.bottom += row.value("bottom", false);
    for (const json& frame : row["frames"]) whole.java_frames += frame.contains("method");
  }
  return whole;
}

// Mixed stacks of a live JVM of some 70 threads: `jtrace stack` and `jhsdb jstack --mixed`.
Result<> bench_stack(const Jdk& jdk) {
  JTRACE_ASSIGN_OR_RETURN(const auto jvm, standing(jdk, 45));
  std::vector<double> ours, pauses, peer;
  std::string text, mixed, dump;
  Whole whole;
  for (int i = 0; i < 15; ++i) {
    if (const auto took = timed({jtrace_binary(), "stack", jvm->pid_text(), "--format", "json"}, &text)) {
      ours.push_back(*took);
      whole = whole_of(text);
      pauses.push_back(whole.pause_ms);
    }
    if (i % 5 != 0 || jdk.version < 9) continue;
    if (const auto took = timed({jdk.host_path("bin/jhsdb"), "jstack", "--mixed", "--pid", jvm->pid_text()}, &mixed))
      peer.push_back(*took);
  }
  timed({jtrace_binary(), "cmd", jvm->pid_text(), "jcmd", "Thread.print"}, &dump);
  print_ratio(jdk, "live mixed stacks", ours, peer, "jhsdb --mixed");
  std::printf("%-10s %zu threads: pause median %.1f ms, most %.1f ms; bottom reached natively %zu (%.0f %%)\n",
              jdk.name.c_str(), whole.threads, median(pauses), *std::max_element(pauses.begin(), pauses.end()),
              whole.bottom, 100.0 * static_cast<double>(whole.bottom) / static_cast<double>(whole.threads));
  std::printf("%-10s Java frames: jtrace %zu, the JVM's own dump %zu, jhsdb --mixed %zu\n", jdk.name.c_str(),
              whole.java_frames, count(dump.substr(0, dump.find("\nFound ")), "\n\tat "), count(mixed, "* "));
  return {};
}

// The pause with 5,000 threads that are stopped all at once.
Result<> bench_many(const Jdk& jdk) {
  constexpr int kThreads = 5000;
  JTRACE_ASSIGN_OR_RETURN(const auto jvm, standing(jdk, kThreads, {"-Xss256k"}));
  std::vector<double> ours, pauses;
  std::string text;
  Whole whole;
  for (int i = 0; i < 3; ++i)
    if (const auto took =
            timed({jtrace_binary(), "stack", jvm->pid_text(), "--format", "json", "--max-pause", "5000"}, &text)) {
      ours.push_back(*took);
      whole = whole_of(text);
      pauses.push_back(whole.pause_ms);
    }
  std::printf("%-10s %zu threads: whole run %.0f ms, pause %.0f ms, %.3f ms a thread; bottom reached by %zu\n",
              jdk.name.c_str(), whole.threads, median(ours), median(pauses),
              median(pauses) / static_cast<double>(whole.threads), whole.bottom);
  return {};
}

const Benches kAll = {{"core", bench_core}, {"stack", bench_stack}, {"many", bench_many}};

}  // namespace
}  // namespace jtrace::test

int main(int argc, char** argv) { return jtrace::test::run_benches(jtrace::test::kAll, {argv + 1, argv + argc}); }
