// Histograms and heap dumps of `jtrace inspect` compared with jhsdb and jcmd of the same JDK, in one run; prints
// ratios. Only JDKs of this machine, not of the chroot (JTRACE_TEST_JDKS selects some).
//
//   bench_heap [histogram|dump|live|visualvm|scale MEGABYTES...]      histogram, dump and live by default
//
// visualvm: all retained sizes of a heap dump, beside VisualVM's library (package visualvm, scripts/setup unpacks it).
// JTRACE_BENCH_NODES: the number of nodes that the program keeps, three objects each (700000).
// JTRACE_BENCH_ORDERS: of visualvm, orders of some 24 objects (80000).
#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/testlib/java_programs.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/places.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}
double ms(const CommandOutput& done) { return std::chrono::duration<double, std::milli>(done.elapsed).count(); }

int nodes() {
  const char* given = std::getenv("JTRACE_BENCH_NODES");
  return given ? std::atoi(given) : 700'000;
}

Result<CommandOutput> run_jdk(const std::vector<std::string>& words) {
  JTRACE_ASSIGN_OR_RETURN(auto done, run_command(words, {.timeout = std::chrono::minutes(20)}));
  if (done.status != 0) return fail(ErrorCategory::kRefused, words.front() + ": " + done.err + done.out.substr(0, 300));
  return done;
}
Result<CommandOutput> run_inspect(std::vector<std::string> words) {
  words.insert(words.begin(), {jtrace_binary(), "inspect"});
  return run_jdk(words);
}

Result<std::unique_ptr<JvmProcess>> full_jvm(const Jdk& jdk, std::vector<std::string> flags, int count) {
  JTRACE_ASSIGN_OR_RETURN(auto jvm, JvmProcess::start(jdk, "HeapZoo", attachable(jdk, std::move(flags))));
  JTRACE_ASSIGN_OR_RETURN(const auto filled, jvm->ask("fill " + std::to_string(count), std::chrono::minutes(10)));
  JTRACE_ASSIGN_OR_RETURN(const auto collected, jvm->ask("gc", std::chrono::minutes(10)));
  return jvm;
}

// A JVM that has died; its core is in an unlinked directory that the descriptor keeps open.
struct Core {
  std::unique_ptr<JvmProcess> jvm;
  UniqueFd folder;
  std::string path;
};
Result<Core> make_core(const Jdk& jdk) {
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  ::setrlimit(RLIMIT_CORE, &unlimited);
  if (!read_file("/proc/sys/kernel/core_pattern").value_or("|").starts_with("core"))
    return fail(ErrorCategory::kNotFound, "cores are not written into the working folder here");
  Core core;
  JTRACE_ASSIGN_OR_RETURN(core.jvm, full_jvm(jdk, {"-Xmx1g"}, nodes()));
  core.folder.reset(::open(core.jvm->in_working_folder("").c_str(), O_PATH | O_DIRECTORY));
  core.jvm->signal(SIGABRT);
  JTRACE_RETURN_IF_ERROR(core.jvm->wait_exit(std::chrono::minutes(3)));
  const std::string folder = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(core.folder.get());
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("core")) core.path = entry.path();
  if (core.path.empty()) return fail(ErrorCategory::kNotFound, "no core was written");
  return core;
}

Result<> bench_histogram(const Jdk& jdk) {
  JTRACE_ASSIGN_OR_RETURN(const Core core, make_core(jdk));
  double one_thread = 0, two_threads = 0;
  for (const char* threads : {"1", "2"}) {
    std::vector<double> wall, walk;
    double objects = 0, bytes = 0;
    for (int i = 0; i < 7; ++i) {
      JTRACE_ASSIGN_OR_RETURN(const auto done,
                              run_inspect({core.path, "histogram", "--threads", threads, "--format", "json"}));
      const json heap = json::parse(done.out)["heap"];
      wall.push_back(ms(done));
      walk.push_back(heap["walkMicros"].get<double>() / 1000);
      objects = heap["objects"].get<double>();
      bytes = heap["bytes"].get<double>();
    }
    (*threads == '1' ? one_thread : two_threads) = median(wall);
    std::printf(
        "%-8s core histogram, %s thread(s): %.0f objects, %.0f MB: whole %.1f ms, walk %.1f ms = %.1f M objects/s\n",
        jdk.name.c_str(), threads, objects, bytes / 1e6, median(wall), median(walk), objects / median(walk) / 1000);
  }
  JTRACE_ASSIGN_OR_RETURN(const auto peer, run_jdk({jdk.host_path("bin/jhsdb"), "jmap", "--histo", "--exe",
                                                    jdk.host_path("bin/java"), "--core", core.path}));
  std::printf("%-8s jhsdb jmap --histo: %.0f ms: ratio %.0f (goal >= 100), with one thread %.0f\n", jdk.name.c_str(),
              ms(peer), ms(peer) / two_threads, ms(peer) / one_thread);
  return {};
}

Result<> bench_dump(const Jdk& jdk) {
  JTRACE_ASSIGN_OR_RETURN(const Core core, make_core(jdk));
  const ScratchDir folder;
  const std::string ours = folder.file("ours.hprof"), theirs = folder.file("theirs.hprof");
  std::vector<double> wall;
  double megabytes = 0, peak = 0;
  for (int i = 0; i < 5; ++i) {
    JTRACE_ASSIGN_OR_RETURN(const auto done, run_inspect({core.path, "heapdump", "-o", ours}));
    wall.push_back(ms(done));
    megabytes = static_cast<double>(fs::file_size(ours)) / 1e6;
    peak = static_cast<double>(done.peak_kib) / 1024;
  }
  std::printf(
      "%-8s core heapdump: %.0f MB in %.0f ms = %.0f MB/s (goal >= 200), peak %.0f MB resident (the core's pages among "
      "it)\n",
      jdk.name.c_str(), megabytes, median(wall), megabytes / median(wall) * 1000, peak);
  JTRACE_ASSIGN_OR_RETURN(const auto peer, run_jdk({jdk.host_path("bin/jhsdb"), "jmap", "--binaryheap", "--dumpfile",
                                                    theirs, "--exe", jdk.host_path("bin/java"), "--core", core.path}));
  std::printf("%-8s jhsdb jmap --binaryheap: %.0f MB in %.0f ms: ratio %.0f\n", jdk.name.c_str(),
              static_cast<double>(fs::file_size(theirs)) / 1e6, ms(peer), ms(peer) / median(wall));
  return {};
}

Result<> bench_live(const Jdk& jdk) {
  JTRACE_ASSIGN_OR_RETURN(const auto jvm, full_jvm(jdk, {"-Xmx1g"}, nodes()));
  JTRACE_ASSIGN_OR_RETURN(const auto grown, jvm->ask("big 7"));  // up to the 75 MB of the goal
  std::vector<double> stopped, pauses, running, peer;
  double bytes = 0;
  for (int i = 0; i < 7; ++i) {
    JTRACE_ASSIGN_OR_RETURN(const auto done,
                            run_inspect({jvm->pid_text(), "histogram", "--max-stop", "2000", "--format", "json"}));
    const json heap = json::parse(done.out)["heap"];
    stopped.push_back(ms(done));
    pauses.push_back(heap["pauseMicros"].get<double>() / 1000);
    bytes = heap["bytes"].get<double>();
    JTRACE_ASSIGN_OR_RETURN(const auto free, run_inspect({jvm->pid_text(), "histogram", "--no-stop"}));
    running.push_back(ms(free));
    if (i < 3) {
      JTRACE_ASSIGN_OR_RETURN(const auto asked,
                              run_jdk({jdk.host_path("bin/jcmd"), jvm->pid_text(), "GC.class_histogram", "-all"}));
      peer.push_back(ms(asked));
    }
  }
  std::printf(
      "%-8s live histogram of %.0f MB: whole %.1f ms, stop median %.1f ms, most %.1f ms (goal <= 50 for 75 MB); "
      "--no-stop %.1f ms; "
      "jcmd -all %.0f ms: ratio %.1f\n",
      jdk.name.c_str(), bytes / 1e6, median(stopped), median(pauses), *std::max_element(pauses.begin(), pauses.end()),
      median(running), median(peer), median(peer) / median(stopped));
  return {};
}

// How the cost grows with the heap. The heap is read while the JVM runs, which needs no memory for a copy.
Result<> bench_scale(const Jdk& jdk, int megabytes) {
  constexpr int kBytesOfNode = 72;  // a node with its Integer and payload
  const int count = static_cast<int>(static_cast<std::int64_t>(megabytes) * 1'000'000 / kBytesOfNode);
  JTRACE_ASSIGN_OR_RETURN(
      const auto jvm, full_jvm(jdk, {"-Xmx" + std::to_string(megabytes * 5 / 4 + 256) + "m", "-XX:+UseG1GC"}, count));
  for (const char* threads : {"1", "2"}) {
    JTRACE_ASSIGN_OR_RETURN(const auto done, run_inspect({jvm->pid_text(), "histogram", "--no-stop", "--threads",
                                                          threads, "--format", "json"}));
    const json heap = json::parse(done.out)["heap"];
    const double walk = heap["walkMicros"].get<double>() / 1000, bytes = heap["bytes"].get<double>();
    std::printf(
        "%-8s %s: %.0f MB, %.1f M objects, --no-stop: whole %.0f ms, walk %.0f ms = %.0f ns/object, %.2f ms/MB, peak "
        "%.0f MB\n",
        jdk.name.c_str(), threads, bytes / 1e6, heap["objects"].get<double>() / 1e6, ms(done), walk,
        walk * 1e6 / heap["objects"].get<double>(), walk / (bytes / 1e6), static_cast<double>(done.peak_kib) / 1024);
  }
  return {};
}

std::string heap_jars() {
  std::string jars;
  for (const std::string& jar : visualvm_jars())
    if (jar.find("/modules/") != jar.npos && jar.find("jfluid") != jar.npos) jars += jar + ":";
  return jars;
}
double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// Both compute what each object retains. VisualVM's time has none of what it needs to start.
Result<> bench_visualvm(const Jdk& jdk) {
  const std::string jars = heap_jars();
  if (jars.empty()) return fail(ErrorCategory::kNotFound, "no VisualVM (package visualvm; scripts/setup unpacks it)");
  const char* given = std::getenv("JTRACE_BENCH_ORDERS");
  JvmOptions options = attachable(jdk, {"-Xmx1g", "-XX:+UseSerialGC"});
  options.arguments = {given ? given : "80000"};
  const ScratchDir folder;
  const std::string dump = folder.file("flat.hprof");
  {
    JTRACE_ASSIGN_OR_RETURN(const auto jvm, JvmProcess::start(jdk, "Flat", options));
    JTRACE_ASSIGN_OR_RETURN(const auto done,
                            run_inspect({jvm->pid_text(), "heapdump", "-o", dump, "--max-stop", "20000"}));
  }
  JTRACE_ASSIGN_OR_RETURN(const auto compiled,
                          run_jdk({jdk.host_path("bin/javac"), "-nowarn", "-d", folder.path(), "-cp", jars,
                                   source_folder() + "/tests/apps/RetainedOracle.java"}));
  std::vector<double> wall, cpu, peak;
  double objects = 0;
  for (int i = 0; i < 5; ++i) {
    JTRACE_ASSIGN_OR_RETURN(const auto done, run_inspect({dump, "retained", "--format", "json"}));
    wall.push_back(seconds(done.elapsed));
    cpu.push_back(seconds(done.cpu));
    peak.push_back(static_cast<double>(done.peak_kib) / 1024);
    objects = 0;
    const json answer = json::parse(done.out);
    for (const auto& [name, held] : answer["held"].items()) objects += held["objects"].get<double>();
  }
  JTRACE_ASSIGN_OR_RETURN(const auto peer, run_jdk({jdk.host_path("bin/java"), "-Xmx4g", "-XX:+UseSerialGC", "-cp",
                                                    folder.path() + ":" + jars, "RetainedOracle", dump}));
  double millis = 0;
  if (const auto at = peer.out.find("\nmillis="); at != peer.out.npos) millis = std::atof(peer.out.c_str() + at + 8);
  std::printf(
      "%-8s retained sizes of %.0f objects, %.0f MB: wall %.2f s, CPU %.2f s, peak %.0f MB resident (%.0f MB of them "
      "the file); VisualVM %.1f s, CPU %.1f s, peak %.0f MB: ratio %.0f\n",
      jdk.name.c_str(), objects, static_cast<double>(fs::file_size(dump)) / 1e6, median(wall), median(cpu),
      median(peak), static_cast<double>(fs::file_size(dump)) / (1 << 20), millis / 1000, seconds(peer.cpu),
      static_cast<double>(peer.peak_kib) / 1024, millis / 1000 / median(wall));
  return {};
}

int report(const Result<>& done, const std::string& name) {
  if (done) return 0;
  std::fprintf(stderr, "%s: %s\n", name.c_str(), done.error().message().c_str());
  return 1;
}

int run(std::vector<std::string> wanted) {
  if (wanted.empty()) wanted = {"histogram", "dump", "live"};
  int status = 0;
  for (const Jdk& jdk : jdks()) {
    if (jdk.root || jdk.version < 9) continue;  // JDK 8 has no jhsdb
    if (wanted.front() == "scale") {
      for (std::size_t i = 1; i < wanted.size(); ++i)
        status |= report(bench_scale(jdk, std::atoi(wanted[i].c_str())), jdk.name);
      continue;
    }
    for (const std::string& name : wanted) {
      if (name == "histogram") status |= report(bench_histogram(jdk), name);
      if (name == "dump") status |= report(bench_dump(jdk), name);
      if (name == "visualvm") status |= report(bench_visualvm(jdk), name);
      if (name == "live") status |= report(bench_live(jdk), name);
    }
  }
  return status;
}

}  // namespace
}  // namespace jtrace::test

int main(int argc, char** argv) { return jtrace::test::run({argv + 1, argv + argc}); }
