#include "target/last_run.h"

#include <sched.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/strings.h"
#include "target/stat_line.h"

namespace jtrace::target {
namespace {

constexpr std::string_view kField = "se.exec_start";

std::uint64_t ns_of_a_tick() { return kNanosPerSecond / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK)); }

// A thread that sleeps.
struct Sleeping {
  unsigned processor = 0;   // on which it ran last
  std::uint64_t begin = 0;  // ns of CLOCK_BOOTTIME: when it began, to a tick
};
std::optional<Sleeping> sleeping(const Process& process, pid_t tid) {
  const auto text = process.read_proc("task/" + std::to_string(tid) + "/stat");
  if (!text) return std::nullopt;
  const StatLine line(*text);
  if (line.state() != 'S' && line.state() != 'D') return std::nullopt;
  return Sleeping{.processor = static_cast<unsigned>(line.number(StatLine::kProcessor)),
                  .begin = line.number(StatLine::kStartTicks) * ns_of_a_tick()};
}

// Whether it is so old; a tick is allowed for.
bool has_lived(const Sleeping& thread, std::uint64_t ns) {
  const std::uint64_t now = clock_ns(CLOCK_BOOTTIME);
  return thread.begin != 0 && thread.begin <= now && ns <= now - thread.begin + ns_of_a_tick();
}

// The calling thread is on one processor for as long as this lives.
class OnProcessor {
 public:
  OnProcessor() { has_old_ = ::sched_getaffinity(0, sizeof old_, &old_) == 0; }
  ~OnProcessor() {
    if (has_old_) ::sched_setaffinity(0, sizeof old_, &old_);
  }
  OnProcessor(const OnProcessor&) = delete;
  OnProcessor& operator=(const OnProcessor&) = delete;
  bool visit(unsigned processor) const {
    cpu_set_t one;
    CPU_ZERO(&one);
    // Others may be kept for threads that never give them away.
    if (!has_old_ || processor >= CPU_SETSIZE || !CPU_ISSET(processor, &old_)) return false;
    CPU_SET(processor, &one);
    return ::sched_setaffinity(0, sizeof one, &one) == 0;
  }

 private:
  cpu_set_t old_{};
  bool has_old_ = false;
};

}  // namespace

std::optional<std::uint64_t> parse_last_run(std::string_view sched) {
  const std::size_t at = sched.find(kField);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view line = sched.substr(at, sched.find('\n', at) - at);
  const std::size_t point = line.rfind('.'), begin = line.rfind(' ') + 1;
  if (point == std::string_view::npos || point < begin || line.size() - point != 7) return std::nullopt;
  const auto millis = parse_decimal<std::uint64_t>(line.substr(begin, point - begin));
  const auto rest = parse_decimal<std::uint64_t>(line.substr(point + 1));
  if (!millis || !rest || *millis > UINT64_MAX / 2'000'000) return std::nullopt;
  const std::uint64_t last = *millis * 1'000'000 + *rest;
  return last == 0 ? std::nullopt : std::optional(last);
}

std::map<pid_t, std::chrono::nanoseconds> times_asleep(const Process& process, std::span<const pid_t> tids,
                                                       std::chrono::nanoseconds limit) {
  const std::uint64_t due = monotonic_ns() + static_cast<std::uint64_t>(limit.count());
  std::map<unsigned, std::vector<pid_t>> by_processor;
  for (const pid_t tid : tids) {
    if (monotonic_ns() >= due) return {};
    if (const auto thread = sleeping(process, tid)) by_processor[thread->processor].push_back(tid);
  }
  std::map<pid_t, std::chrono::nanoseconds> times;
  const OnProcessor here;
  for (const auto& [processor, threads] : by_processor) {
    if (!here.visit(processor)) continue;
    // Its own last moment on this processor: a little in the past, and before that of any thread that runs meanwhile.
    const auto now = parse_last_run(read_file("/proc/thread-self/sched").value_or(""));
    if (!now) return times;
    for (const pid_t tid : threads) {
      if (monotonic_ns() >= due) return times;
      const auto text = process.read_proc("task/" + std::to_string(tid) + "/sched");
      const auto last = text ? parse_last_run(*text) : std::nullopt;
      const auto thread = sleeping(process, tid);
      if (!last || *last > *now || !thread || thread->processor != processor) continue;
      if (has_lived(*thread, *now - *last)) times[tid] = std::chrono::nanoseconds(*now - *last);
    }
  }
  return times;
}

}  // namespace jtrace::target
