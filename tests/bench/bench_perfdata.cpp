// hsperf compared with the JDK's jstat, interleaved in one run: prints medians, ratios and goals.
//
//   bench_perfdata [stat|read|scan|poll|pauses]...      all of them by default
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <sstream>

#include "base/clock.h"
#include "base/file.h"
#include "perfdata/counter_source.h"
#include "perfdata/mapped_file.h"
#include "perfdata/openmetrics.h"
#include "perfdata/snapshot.h"
#include "target/process_memory.h"
#include "tests/testlib/background_command.h"
#include "tests/testlib/java_app.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_document.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

using perfdata::CounterSource;
using perfdata::Snapshot;

std::string hsperf() { return (std::filesystem::path(jtrace_binary()).parent_path() / "hsperf").string(); }
std::string jstat_of(const Jdk& jdk) { return jdk.home + "/bin/jstat"; }

template <class T>
T median(std::vector<T> values) {
  if (values.empty()) return T{};
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

std::unique_ptr<JvmProcess> start(const Jdk& jdk, std::vector<std::string> flags = {}) {
  auto jvm = JvmProcess::start(jdk, "Workload", {.flags = std::move(flags)});
  if (!jvm) {
    std::fprintf(stderr, "%s\n", jvm.error().message().c_str());
    std::exit(1);
  }
  return std::move(*jvm);
}

// Microseconds of wall time; 0 if it failed.
double run_once(const std::vector<std::string>& argv, double* cpu = nullptr) {
  const auto done = run_command(argv);
  if (!done || done->status != 0) return 0;
  if (cpu) *cpu = std::chrono::duration<double, std::micro>(done->cpu).count();
  return std::chrono::duration<double, std::micro>(done->elapsed).count();
}

// One view of a JVM, from the start of the program to its end.
void bench_stat(const Jdk& jdk) {
  const auto jvm = start(jdk);
  std::vector<double> ours, theirs;
  for (int round = 0; round < 60; ++round) {
    ours.push_back(run_once({hsperf(), "stat", "-gcutil", jvm->pid_text()}));
    if (round % 4 == 0) theirs.push_back(run_once({jstat_of(jdk), "-gcutil", jvm->pid_text()}));
  }
  std::printf("stat    hsperf %.0f us (goal <= 2000) | jstat %.0f us, %.0f times as long (goal >= 100)\n", median(ours),
              median(theirs), median(theirs) / median(ours));
}

double nanoseconds_each(const std::function<void()>& what) {
  std::vector<double> rounds;
  for (int round = 0; round < 21; ++round) {
    constexpr int kTimes = 2000;
    const std::uint64_t before = monotonic_ns();
    for (int i = 0; i < kTimes; ++i) what();
    rounds.push_back(static_cast<double>(monotonic_ns() - before) / kTimes);
  }
  return median(rounds);
}

// All counters, repeatedly. The peer is one row of a running jstat, by its CPU time.
void bench_read(const Jdk& jdk) {
  const auto jvm = start(jdk);
  auto source = CounterSource::of_process(jvm->pid());
  if (!source || !source->file()) return void(std::printf("read    no file\n"));
  double one = 0, many = 0;
  run_once({jstat_of(jdk), "-gcutil", jvm->pid_text(), "1", "1"}, &one);
  run_once({jstat_of(jdk), "-gcutil", jvm->pid_text(), "1", "2001"}, &many);
  const double row = (many - one) / 2000 * 1000;
  std::printf("read    %zu counters, %zu bytes | a row of a running jstat %.0f ns of CPU\n",
              source->first().layout().counters().size(), source->first().bytes().size(), row);
  const auto mapped = perfdata::MappedFile::map(*source->file());
  const auto hidden = start(jdk, {"-XX:+PerfDisableSharedMem"});
  auto memory = CounterSource::of_process(hidden->pid());
  const auto process = target::Process::open(hidden->pid());
  if (!mapped || !memory || !process) return void(std::printf("read    cannot be measured\n"));
  const target::ProcessMemory process_memory(*process);
  std::vector<std::byte> buffer(source->first().bytes().size());
  const auto report = [&](const char* name, double ns, double goal) {
    std::printf("read    %-34s %6.0f ns (goal <= %.0f) | jstat %.0f times as long\n", name, ns, goal, row / ns);
  };
  // The time of this machine for the same bytes without jtrace's code.
  void* const bare = ::mmap(nullptr, buffer.size(), PROT_READ, MAP_SHARED, source->file()->fd(), 0);
  if (bare != MAP_FAILED) {
    std::printf("read    floor: memcpy %.0f ns, pread(2) %.0f ns\n", nanoseconds_each([&] {
                  std::memcpy(buffer.data(), bare, buffer.size());
                  asm volatile("" : : "r"(buffer.data()) : "memory");
                }),
                nanoseconds_each([&] { (void)!::pread(source->file()->fd(), buffer.data(), buffer.size(), 0); }));
    ::munmap(bare, buffer.size());
  }
  report("all bytes, mapped", nanoseconds_each([&] { (void)mapped->read_some(0, buffer); }), 100);
  report("all bytes, pread", nanoseconds_each([&] { (void)source->file()->read_some(0, buffer); }), 400);
  const auto base = memory->address();
  const iovec ours{buffer.data(), buffer.size()}, remote{reinterpret_cast<void*>(base), buffer.size()};
  std::printf("read    floor: process_vm_readv(2) %.0f ns\n",
              nanoseconds_each([&] { (void)!::process_vm_readv(hidden->pid(), &ours, 1, &remote, 1, 0); }));
  report("all bytes, process memory", nanoseconds_each([&] { (void)process_memory.read_some(base, buffer); }), 1000);
  perfdata::RegionReader by_map(*mapped, 0), by_pread(*source->file(), 0);
  Snapshot snapshot;
  report("a snapshot with its clocks, mapped", nanoseconds_each([&] { (void)by_map.read_once(snapshot); }), 400);
  report("a snapshot with its clocks, pread", nanoseconds_each([&] { (void)by_pread.read_once(snapshot); }), 600);
  report("a stable snapshot, pread", nanoseconds_each([&] { (void)by_pread.read_stable(snapshot); }), 1200);
}

std::uint64_t resident_kib() {
  const auto status = read_file("/proc/self/status");
  const std::size_t at = status ? status->find("VmHWM:") : std::string::npos;
  return at == std::string::npos ? 0 : std::strtoull(status->c_str() + at + 6, nullptr, 10);
}

// The kernel's time to open each file once and to copy its bytes twice, without jtrace's code.
double bare_scan_ms(const ScratchDir& folder, int files, std::size_t size) {
  std::vector<UniqueFd> open_files;
  std::vector<std::vector<std::byte>> copies(static_cast<std::size_t>(files));
  const std::uint64_t before = monotonic_ns();
  for (int i = 0; i < files; ++i) {
    open_files.emplace_back(::open(folder.file("saved_" + std::to_string(i)).c_str(), O_RDONLY | O_CLOEXEC));
    auto& copy = copies[static_cast<std::size_t>(i)];
    copy.resize(size);
    for (int again = 0; again < 2; ++again) (void)!::pread(open_files.back().get(), copy.data(), size, 0);
  }
  return static_cast<double>(monotonic_ns() - before) / 1e6;
}

// A thousand files, as of a thousand JVMs: found, read and formatted. jstat would have to be started a thousand times.
void bench_scan(const Jdk& jdk) {
  const auto jvm = start(jdk);
  const auto source = CounterSource::of_process(jvm->pid());
  if (!source || !source->file()) return void(std::printf("scan    no file\n"));
  const auto bytes = read_file(jvm->inside(source->file()->path()));
  if (!bytes) return void(std::printf("scan    %s\n", bytes.error().message().c_str()));
  constexpr int kFiles = 1000;
  const ScratchDir folder("jtrace-scan");
  for (int i = 0; i < kFiles; ++i) std::ofstream(folder.file("saved_" + std::to_string(i)), std::ios::binary) << *bytes;
  std::vector<double> cold, scrape, bare;
  std::size_t text_size = 0;
  for (int round = 0; round < 11; ++round) {
    bare.push_back(bare_scan_ms(folder, kFiles, source->first().bytes().size()));
    std::vector<CounterSource> sources;
    sources.reserve(kFiles);
    const perfdata::SourceOptions shared{.layouts = std::make_shared<perfdata::LayoutCache>()};  // as JvmSet does
    const std::uint64_t before = monotonic_ns();
    for (int i = 0; i < kFiles; ++i) {
      auto file = CounterSource::of_file(folder.file("saved_" + std::to_string(i)), shared);
      if (file) sources.push_back(std::move(*file));
    }
    cold.push_back(static_cast<double>(monotonic_ns() - before) / 1e6);
    perfdata::MetricsWriter writer({});
    std::vector<Snapshot> snapshots(sources.size());
    std::vector<const Snapshot*> all;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      snapshots[i] = sources[i].first();
      writer.add(snapshots[i], static_cast<std::int64_t>(i) + 1);
      all.push_back(&snapshots[i]);
    }
    std::string text;
    for (int again = 0; again < 3; ++again) {
      text.clear();
      const std::uint64_t begin = monotonic_ns();
      for (std::size_t i = 0; i < sources.size(); ++i) (void)sources[i].read_once(snapshots[i]);
      writer.append(text, all, perfdata::MetricsFormat::kOpenMetrics);
      scrape.push_back(static_cast<double>(monotonic_ns() - begin) / 1e6);
    }
    text_size = text.size();
  }
  const double jstat = run_once({jstat_of(jdk), "-gcutil", jvm->pid_text()}) / 1e3 * kFiles;
  std::printf(
      "scan    %d files, cold %.2f ms (goal <= 5; floor %.2f ms) | jstat started as often %.0f ms, %.0f times as "
      "long\n",
      kFiles, median(cold), median(bare), jstat, jstat / median(cold));
  std::printf("scan    scrape with %.1f MB of text %.2f ms (goal <= 15), peak memory %.1f MB (goal <= 64)\n",
              static_cast<double>(text_size) / 1e6, median(scrape), static_cast<double>(resident_kib()) / 1024);
}

// A loop that wakes a thousand times a second and does nothing.
double empty_loop_share() {
  ::prctl(PR_SET_TIMERSLACK, 1000);
  const auto cpu = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  };
  const double cpu_before = cpu();
  const std::uint64_t start = monotonic_ns();
  for (std::uint64_t next = start + 1'000'000; next <= start + 2'000'000'000; next += 1'000'000) {
    const std::uint64_t now = monotonic_ns();
    const timespec left{.tv_sec = 0, .tv_nsec = next > now ? static_cast<long>(next - now) : 0};
    ::ppoll(nullptr, 0, &left, nullptr);
  }
  return (cpu() - cpu_before) / static_cast<double>(monotonic_ns() - start);
}

void bench_poll(const Jdk& jdk) {
  const auto jvm = start(jdk);
  std::printf("poll    floor: an empty loop at 1 kHz %.2f %% of a core\n", empty_loop_share() * 100);
  for (const bool to_file : {false, true}) {
    double ours = 0, theirs = 0;
    std::vector<std::string> argv{hsperf(), "poll", jvm->pid_text(), "-i", "1ms", "-n", "5000", "-o", "/dev/null"};
    if (!to_file) argv.insert(argv.end(), {"--filter", "^sun.gc"});
    const double wall = run_once(argv, &ours);
    if (!to_file) {
      const double peer = run_once({jstat_of(jdk), "-gcutil", jvm->pid_text(), "1", "2000"}, &theirs);
      std::printf("poll    jstat at 1 ms: %.1f %% of a core, %.0f rows/s\n", theirs / peer * 100, 2000 / (peer / 1e6));
    }
    std::printf("poll    1 kHz, %-22s %.2f %% of a core (goal <= 2), %.0f samples/s\n",
                to_file ? "all counters to XML:" : "sun.gc to XML:", ours / wall * 100, 5000 / (wall / 1e6));
  }
}

// Collects at a given rate.
constexpr const char* kGcApp = R"java(
public final class GcPace {
    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        java.io.BufferedReader in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            long interval = 1_000_000_000L / Long.parseLong(words[1]), next = System.nanoTime();
            for (int i = Integer.parseInt(words[0]); i > 0; i--) {
                System.gc();
                next += interval;
                long left = next - System.nanoTime();
                if (left > 0) java.util.concurrent.locks.LockSupport.parkNanos(left);
            }
            System.out.println("OK");
        }
    }
}
)java";

struct Pause {
  double start = 0, duration = 0;  // seconds since the JVM began; seconds
};

// "[12.345678901s] GC(7) Pause Full (System.gc()) 1M->1M(8M) 1.234ms": the line is written at the end of the pause.
std::vector<Pause> logged_pauses(const std::string& log) {
  static const std::regex kLine(R"(\[([0-9]+)ns\].* Pause .* ([0-9.]+)ms)");
  std::vector<Pause> pauses;
  std::istringstream lines(log);
  std::smatch found;
  for (std::string line; std::getline(lines, line);) {
    if (!std::regex_search(line, found, kLine)) continue;
    const double duration = std::stod(found[2]) / 1e3;
    pauses.push_back({std::stod(found[1]) / 1e9 - duration, duration});
  }
  return pauses;
}

std::vector<Pause> traced_pauses(const TraceDocument& trace) {
  std::vector<Pause> pauses;
  double zero = 0, start = 0;
  const auto seconds = [](const std::string& text) { return static_cast<double>(nanoseconds_of(text)) / 1e9; };
  for (const TraceElement& event : trace.events()) {
    if (event.name == "option" && event.get("key") == "hsperf.vm.clock") zero = seconds(event.get("value").substr(5));
    if (event.name == "gcStart") start = seconds(event.get("time"));
    if (event.name == "gcFinish") pauses.push_back({start - zero, seconds(event.get("time")) - start});
  }
  return pauses;
}

void bench_pauses(const Jdk& jdk) {
  const auto classes = compiled_source("GcPace", kGcApp);
  if (!classes) return void(std::printf("pauses  %s\n", classes.error().message().c_str()));
  for (const int rate : {50, 200, 5000}) {
    auto jvm = JvmProcess::start_classes(
        jdk, *classes, "GcPace",
        {.flags = {"-XX:+UseSerialGC", "-Xmx16m", "-Xlog:gc:file=gc.log:uptimenanos:filecount=0"}});
    if (!jvm) return void(std::printf("pauses  %s\n", jvm.error().message().c_str()));
    const ScratchDir folder("jtrace-pauses");
    const std::string file = folder.file("poll.xml");
    auto poll = BackgroundCommand::start(
        {hsperf(), "poll", (*jvm)->pid_text(), "-i", "1s", "--gc-interval", "500us", "-o", file});
    if (!poll || !wait_for_bytes(file, "<traceEnd", std::chrono::seconds(30), [&] { return (*poll)->alive(); })) return;
    const int count = 1000;
    (void)(*jvm)->ask(std::to_string(count) + " " + std::to_string(rate));
    const auto logged = logged_pauses(read_file((*jvm)->in_working_folder("gc.log"), 1u << 26).value_or(""));
    (*poll)->signal(SIGINT);
    (void)(*poll)->wait_exit();
    const auto trace = TraceDocument::read(file);
    if (!trace || logged.empty()) return void(std::printf("pauses  nothing logged or traced\n"));
    const auto traced = traced_pauses(*trace);
    long missed = 0;
    for (const TraceElement* option : trace->all("option"))
      if (option->get("key") == "hsperf.gc.missed") missed += std::stol(option->get("value"));
    std::vector<double> off_by, longer_by;
    for (const Pause& pause : traced) {
      const auto near = std::min_element(logged.begin(), logged.end(), [&](const Pause& a, const Pause& b) {
        return std::abs(a.start - pause.start) < std::abs(b.start - pause.start);
      });
      off_by.push_back(std::abs(near->start - pause.start) * 1e6);
      longer_by.push_back(std::abs(near->duration - pause.duration) * 1e6);
    }
    const double span = logged.back().start - logged.front().start;
    std::printf(
        "pauses  %4.0f/s: %zu logged, %zu captured (%.1f %%), %ld missed, sum %s | against the log: start %.0f us,"
        " duration %.0f us (medians; goal <= 100)\n",
        static_cast<double>(logged.size() - 1) / span, logged.size(), traced.size(),
        100.0 * static_cast<double>(traced.size()) / static_cast<double>(logged.size()), missed,
        static_cast<long>(traced.size()) + missed == static_cast<long>(logged.size()) ? "exact" : "WRONG",
        median(off_by), median(longer_by));
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace jtrace::test

int main(int argc, char** argv) {
  using namespace jtrace::test;
  const auto jdk = jdk_of_version(25) && !jdk_of_version(25)->root ? jdk_of_version(25) : any_jdk(17);
  if (!jdk || jdk->root) {
    std::printf("no JDK 17 or later on this machine: its jstat is the peer\n");
    return 0;
  }
  const std::set<std::string> chosen(argv + 1, argv + argc);
  const std::pair<const char*, void (*)(const Jdk&)> all[] = {
      {"stat", bench_stat}, {"read", bench_read}, {"scan", bench_scan}, {"poll", bench_poll}, {"pauses", bench_pauses}};
  for (const auto& [name, run] : all)
    if (chosen.empty() || chosen.contains(name)) run(*jdk);
}
