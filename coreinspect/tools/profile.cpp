#include "coreinspect/tools/profile.h"

#include <algorithm>

#include "base/clock.h"
#include "base/wait_readable.h"
#include "target/stat_line.h"

namespace jtrace::coreinspect {
namespace {

std::string part(std::string text) {
  text = printable(std::move(text));
  std::replace(text.begin(), text.end(), ';', ',');
  return text;
}

// Threads that another tracer held in some sample, each once.
class HeldInSamples {
 public:
  void add(const ThreadSnapshot& snapshot) {
    for (const ThreadReport& report : snapshot.threads)
      if (report.held && seen_.insert(report.held->tid).second) {
        reports_.push_back({.java = report.java, .name = report.name, .held = report.held});
      }
  }
  // A thread that never ran is in no sample of running threads.
  void add(const target::Process& process, pid_t tid) {
    const auto held = target::find_holder(process, tid);
    if (held && seen_.insert(tid).second) reports_.push_back({.name = held->name, .held = held});
  }
  std::vector<std::string> lines() const { return describe_held(reports_); }

 private:
  std::set<pid_t> seen_;
  std::vector<ThreadReport> reports_;
};

}  // namespace

std::string frame_name(const Frame& frame) {
  if (frame.method) return part(frame.method->class_name + "." + frame.method->name);
  if (!frame.name.empty()) return part(frame.name);
  if (frame.module.empty()) return hex(frame.pc);
  // All places of a function are one frame.
  return part(frame.module) + "+" + hex(frame.function_offset != 0 ? frame.function_offset : frame.module_offset);
}

std::string frame_source(const Frame& frame) {
  const JavaMethod& method = *frame.method;
  if (method.is_native()) return "Native Method";
  if (method.source_file.empty()) return "Unknown Source";
  const int line = method.line_of(frame.bci);
  return method.source_file + (line >= 0 ? ":" + std::to_string(line) : "");
}

std::string thread_label(const ThreadReport& report) {
  return part(report.java.address != 0 ? report.java.name
              : report.name.empty()    ? "thread " + std::to_string(report.native_id)
                                       : report.name);
}

std::vector<pid_t> running_threads(const target::Process& process, std::set<pid_t>* traced) {
  std::vector<pid_t> running;
  const auto tids = process.threads();
  for (pid_t tid : tids ? *tids : std::vector<pid_t>()) {
    const auto stat = process.read_proc("task/" + std::to_string(tid) + "/stat");
    if (!stat) continue;
    const char state = target::StatLine(*stat).state();
    if (state == 'R') running.push_back(tid);
    else if (state == 't' && traced) traced->insert(tid);
  }
  return running;
}

Result<ProfileSummary> run_profile(Inspection& inspection, const ProfileOptions& options, int stop,
                                   const TakeSample& take) {
  JTRACE_RETURN_IF_ERROR(inspection.healthy());
  const target::Process* process = inspection.target().process();
  if (!process) return fail(ErrorCategory::kUsage, "a core does not run: it cannot be profiled", "jtrace stack CORE");
  ThreadSampler sampler(
      inspection,
      {.max_stop = options.max_stop, .native = true, .virtual_threads = false, .details = false, .locks = false});
  ProfileSummary summary;
  const std::uint64_t begin = monotonic_ns();
  const auto interval = static_cast<std::uint64_t>(1e9 / options.hz);
  const std::uint64_t end = options.duration.count() > 0 ? begin + static_cast<std::uint64_t>(options.duration.count())
                                                         : std::numeric_limits<std::uint64_t>::max();
  HeldInSamples held;
  std::set<pid_t> traced;
  for (std::uint64_t next = begin; next < end;) {
    if (wait_readable(stop, next)) break;
    const auto running = options.cpu ? running_threads(*process, &traced) : std::vector<pid_t>();
    if (!options.cpu || !running.empty()) {
      const std::uint64_t wall = realtime_ns();
      const auto snapshot = sampler.take(running);
      if (process->has_exited()) {
        summary.target_ended = true;
        break;
      }
      if (!snapshot) return fail(snapshot.error());
      summary.paused += snapshot->pause * static_cast<std::int64_t>(snapshot->batches);
      summary.longest = std::max(summary.longest, snapshot->pause);
      summary.stacks += snapshot->threads.size();
      for (const ThreadReport& report : snapshot->threads) summary.incomplete += report.walk.incomplete();
      held.add(*snapshot);
      JTRACE_RETURN_IF_ERROR(take(*snapshot, wall));
    }
    ++summary.samples;
    // Waits until the pauses so far, and one more, are a small enough share of the time.
    const double dear = static_cast<double>(summary.paused.count()) * (1 + 1 / static_cast<double>(summary.samples));
    const auto earliest = begin + static_cast<std::uint64_t>(dear / options.max_share);
    const std::uint64_t now = monotonic_ns();
    next = std::max(next + interval, now);
    if (earliest > next) {
      ++summary.delayed;
      next = earliest;
    }
  }
  if (!summary.target_ended && end != std::numeric_limits<std::uint64_t>::max()) wait_readable(stop, end);
  summary.elapsed = std::chrono::nanoseconds(monotonic_ns() - begin);
  for (const pid_t tid : traced) held.add(*process, tid);
  summary.missing = held.lines();
  return summary;
}

}  // namespace jtrace::coreinspect
