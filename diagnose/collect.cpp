#include "diagnose/collect.h"

#include <algorithm>

#include "base/quoted_text.h"
#include "base/size_text.h"
#include "diagnose/collectors.h"
#include "target/bytes_read.h"
#include "target/process.h"

namespace jtrace::diagnose {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kOfKernel{2000};     // a small file of /proc
constexpr milliseconds kOfCounters{3000};   // it waits for a JVM that is starting
constexpr milliseconds kOpening{10'000};    // libjvm's symbols, the flags
constexpr milliseconds kOfThreads{10'000};  // stacks and names of some thousand threads
constexpr milliseconds kOfSafepoint{5000};  // it looks for 2 s where something is under way

// Of steps that read the target's memory.
std::function<Result<Publish>()> within_budget(std::uint64_t most, std::function<Result<Publish>()> step) {
  return [most, step = std::move(step), before = target::bytes_read_of_processes()]() -> Result<Publish> {
    if (target::bytes_read_of_processes() - before < most) return step();
    return fail(ErrorCategory::kRefused, "not begun: " + size_text(most) + " of the target's memory were read");
  };
}

template <class Collector>
std::function<Result<Publish>()> step_of(const std::shared_ptr<Collector>& collector,
                                         Result<Publish> (Collector::*step)()) {
  return [collector, step] { return ((*collector).*step)(); };
}

Lane lane_of_jvm(const OpenTarget& open, const CollectOptions& options) {
  const auto jvm = std::make_shared<JvmCollector>(open, options);
  const auto look = step_of(jvm, &JvmCollector::look_at_threads);
  const auto safepoint = step_of(jvm, &JvmCollector::look_at_safepoint);
  // On a busy machine it takes long to open the JVM: the looks are apart all the same, as far as half of the time for
  // everything besides the intervals allows it.
  const milliseconds most_of_opening = (options.total() - 2 * options.interval) / 2;
  Lane lane = {{"opening the JVM", kOpening, step_of(jvm, &JvmCollector::open), milliseconds(0), true},
               {"threads, first look", kOfThreads, look, milliseconds(0), false, most_of_opening},
               {"safepoint, first look", kOfSafepoint, safepoint},
               {"direct buffers", kOfThreads, step_of(jvm, &JvmCollector::look_at_direct_memory)},
               {"limits and code", kOfThreads, step_of(jvm, &JvmCollector::look_at_limits)},
               {"malloc", kOfThreads, step_of(jvm, &JvmCollector::look_at_malloc)},
               {"allocations", kOfThreads + options.interval, step_of(jvm, &JvmCollector::look_at_allocations)},
               {"threads, second look", kOfThreads, look, options.interval},
               {"busy threads", kOfThreads + options.interval, step_of(jvm, &JvmCollector::look_at_busy_threads)},
               {"threads, third look", kOfThreads, look, 2 * options.interval},
               {"safepoint, second look", kOfSafepoint, safepoint},
               {"mutexes", kOfThreads + options.interval, step_of(jvm, &JvmCollector::look_at_mutexes)}};
  for (Step& step : lane) step.run = within_budget(options.most_read, std::move(step.run));
  return lane;
}

// Two looks at the beginning and at the end: the rules compare them.
template <class Collector>
Lane lane_of_two(const std::string& name, milliseconds budget, pid_t pid, const CollectOptions& options) {
  const auto collector = std::make_shared<Collector>(pid);
  const auto look = step_of(collector, &Collector::look);
  return {{name + ", first look", budget, look}, {name + ", second look", budget, look, 2 * options.interval}};
}

Lane lane_of_counters(pid_t pid, const CollectOptions& options) {
  const auto counters = std::make_shared<CounterCollector>(pid);
  const auto look = step_of(counters, &CounterCollector::look);
  const milliseconds between = options.interval / 4, span = options.interval * 2 - between * 2;
  return {{"counters, first look", kOfCounters, look},
          {"counters, series", kOfCounters + span, [=] { return counters->look_often(between, span); }, between},
          {"counters, second look", kOfCounters, look, 2 * options.interval}};
}

Lane lane_of_disks(pid_t pid) {
  const auto disks = std::make_shared<DiskCollector>(pid);
  return {{"disks", kOfKernel, step_of(disks, &DiskCollector::look)}};
}

// What may wait in the kernel has a lane of its own.
std::vector<Lane> lanes_of(pid_t pid, const OpenTarget& open, const CollectOptions& options) {
  return {lane_of_jvm(open, options),
          lane_of_two<ProcessCollector>("process", kOfKernel, pid, options),
          lane_of_counters(pid, options),
          lane_of_two<GroupCollector>("control groups", kOfKernel, pid, options),
          lane_of_two<SocketCollector>("sockets", kOfKernel, pid, options),
          lane_of_disks(pid)};
}

milliseconds since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - then);
}

}  // namespace

Result<Collected> collect_live(pid_t pid, const OpenTarget& open, const CollectOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Collected collected;
  collected.facts.target = std::to_string(pid);
  collected.facts.clock = ClockAnchor::now();
  collected.limits = {.time = options.total(), .stop = options.max_stop, .read = options.most_read};
  const std::uint64_t before = target::bytes_read_of_processes();
  const auto process = target::Process::open(pid);
  std::vector<Lane> lanes = lanes_of(pid, open, options);
  for (Lane& lane : lanes)
    for (Step& step : lane) step.budget = std::min(step.budget, options.total());
  const LanesEnd end = run_lanes(std::move(lanes), options.total(), collected);
  if (end.needed) return fail(*end.needed);
  collected.facts.ended = process && process->has_exited();
  collected.elapsed = since(start);
  collected.bytes_read = target::bytes_read_of_processes() - before;
  return collected;
}

Result<Collected> collect_core(const std::string& path, const OpenTarget& open) {
  const auto start = std::chrono::steady_clock::now();
  Collected collected;
  collected.facts.target = shell_word(path);
  collected.facts.live = false;
  JvmCollector jvm(open, {});
  JTRACE_ASSIGN_OR_RETURN(const Publish opened, jvm.open());
  opened(collected);
  for (const auto& [name, step] :
       {std::pair{"threads", &JvmCollector::look_at_threads}, std::pair{"safepoint", &JvmCollector::look_at_safepoint},
        std::pair{"direct buffers", &JvmCollector::look_at_direct_memory},
        std::pair{"limits and code", &JvmCollector::look_at_limits}, std::pair{"malloc", &JvmCollector::look_at_malloc},
        std::pair{"mutexes", &JvmCollector::look_at_mutexes}}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto outcome = (jvm.*step)();
    if (outcome) (*outcome)(collected);
    collected.steps.push_back({name, milliseconds(0), since(begin), outcome ? "" : outcome.error().message()});
  }
  collected.elapsed = since(start);
  return collected;
}

}  // namespace jtrace::diagnose
