#include "coreinspect/tools/top_threads.h"

#include <algorithm>

#include "base/clock.h"
#include "coreinspect/tools/profile.h"

namespace jtrace::coreinspect {

Result<TopTable> TopThreads::look() {
  JTRACE_ASSIGN_OR_RETURN(ThreadSnapshot snapshot, sampler_.take());
  const std::uint64_t now = monotonic_ns();
  const double elapsed = last_ns_ == 0 ? 0 : static_cast<double>(now - last_ns_);
  TopTable table{.rows = {}, .pause = snapshot.pause, .missing = std::move(snapshot.missing)};
  table.held = describe_held(snapshot.threads);
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
  cpu_ns_ = std::move(seen);
  last_ns_ = now;
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) { return a.cpu > b.cpu; });
  return table;
}

}  // namespace jtrace::coreinspect
