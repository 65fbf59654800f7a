#include "coreinspect/tools/top_threads.h"

#include <algorithm>

#include "base/clock.h"
#include "coreinspect/tools/profile.h"
#include "target/process_cpu.h"

namespace jtrace::coreinspect {
namespace {

constexpr double kTick = 10e6;  // ns, the longest that kernels have
constexpr double kLeastShare = 0.01, kBusy = 0.05;

// The process's time when its threads' times were read, on average: between `before` and `after`.
std::optional<double> at_threads(const std::vector<ThreadReport>& threads, const ProcessTime& before,
                                 const ProcessTime& after) {
  double sum = 0, count = 0;
  for (const ThreadReport& thread : threads)
    if (thread.cpu_ns) sum += static_cast<double>(thread.measured_ns - before.at), ++count;
  if (count == 0 || !before.cpu || !after.cpu || after.at <= before.at) return std::nullopt;
  const double part = sum / count / static_cast<double>(after.at - before.at);
  return static_cast<double>(*before.cpu) + part * static_cast<double>(*after.cpu - *before.cpu);
}

}  // namespace

ProcessTime process_time(const Inspection& inspection) {
  const target::Process* process = inspection.target().process();
  return {.at = monotonic_ns(), .cpu = process ? target::process_cpu_ns(process->pid()) : std::nullopt};
}

double share_of_ended(double process_ns, const std::vector<TopRow>& rows, double elapsed_ns) {
  double shown = 0, noise = kLeastShare;
  for (const TopRow& row : rows) {
    shown += row.cpu;
    if (row.cpu >= kBusy) noise += kTick / elapsed_ns;
  }
  const double ended = process_ns / elapsed_ns - shown;
  return ended < noise ? 0 : ended;
}

Result<TopTable> TopThreads::look() {
  const ProcessTime before = process_time(inspection_);
  JTRACE_ASSIGN_OR_RETURN(ThreadSnapshot snapshot, sampler_.take());
  return counter_.add(std::move(snapshot), before, process_time(inspection_));
}

TopTable TopCounter::add(ThreadSnapshot snapshot, const ProcessTime& before_it, const ProcessTime& after_it) {
  const std::uint64_t now = after_it.at;
  const double elapsed = last_ns_ == 0 ? 0 : static_cast<double>(now - last_ns_);
  TopTable table{.rows = {}, .ended = 0, .pause = snapshot.pause, .missing = std::move(snapshot.missing)};
  std::map<pid_t, std::uint64_t> seen;
  for (const ThreadReport& report : snapshot.threads) {
    const bool java = report.java.address != 0;
    TopRow row{
        .name = java ? report.java.name : report.name, .native_id = report.native_id, .id = java ? report.java.id : 0};
    if (java) row.state = report.java.state();
    const std::uint64_t cpu_ns = report.cpu_ns.value_or(0);
    seen[report.native_id] = cpu_ns;
    row.measured = report.cpu_ns.has_value();
    const auto before = cpu_ns_.find(report.native_id);
    // A thread that started since then has spent all its time since then.
    const std::uint64_t base = before == cpu_ns_.end() ? 0 : before->second;
    if (elapsed > 0 && cpu_ns > base) row.cpu = static_cast<double>(cpu_ns - base) / elapsed;
    const auto frame = std::find_if(report.walk.frames.begin(), report.walk.frames.end(),
                                    [](const Frame& each) { return each.method != nullptr; });
    if (frame != report.walk.frames.end()) row.frame = frame_name(*frame);
    table.rows.push_back(std::move(row));
  }
  const auto process_ns = at_threads(snapshot.threads, before_it, after_it);
  if (elapsed > 0 && process_ns && process_ns_)
    table.ended = share_of_ended(*process_ns - *process_ns_, table.rows, elapsed);
  process_ns_ = process_ns;
  cpu_ns_ = std::move(seen);
  last_ns_ = now;
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) { return a.cpu > b.cpu; });
  return table;
}

}  // namespace jtrace::coreinspect
