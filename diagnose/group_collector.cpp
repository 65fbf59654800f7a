#include "base/clock.h"
#include "base/strings.h"
#include "diagnose/collectors.h"
#include "target/cgroup.h"

namespace jtrace::diagnose {
namespace {

using target::GroupView;

// "nr_periods 17", one pair a line.
std::optional<std::uint64_t> value_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ')
      return parse_decimal<std::uint64_t>(trimmed(line.substr(key.size())));
  return std::nullopt;
}

std::optional<std::uint64_t> number_in(const GroupView& view, const std::string& path) {
  const auto text = view.read(path);
  return text ? parse_decimal<std::uint64_t>(trimmed(*text)) : std::nullopt;
}

// The processors that a group may use: sched-bwc.rst (version 1), cgroup-v2.rst (cpu.max: "50000 100000", "max
// 100000").
std::optional<double> processors_of(const GroupView& view, const std::string& folder) {
  std::optional<std::uint64_t> quota, period;
  if (view.version == 1) {
    quota = number_in(view, folder + "/cpu.cfs_quota_us");
    period = number_in(view, folder + "/cpu.cfs_period_us");
  } else if (const auto text = view.read(folder + "/cpu.max")) {
    const auto fields = split(trimmed(*text), ' ');
    quota = parse_decimal<std::uint64_t>(fields[0]);
    period = fields.size() > 1 ? parse_decimal<std::uint64_t>(fields[1]) : std::nullopt;
  }
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

void read_cpu(const target::Process& process, GroupFact& fact) {
  for (const GroupView& view : target::group_views(process, "cpu")) {
    for (const std::string& folder : view.folders) {
      const auto processors = processors_of(view, folder);
      const auto stat = view.read(folder + "/cpu.stat");
      if (!processors || !stat) continue;
      fact.cpu.push_back({.folder = folder,
                          .periods = value_of(*stat, "nr_periods").value_or(0),
                          .throttled = value_of(*stat, "nr_throttled").value_or(0),
                          .processors = *processors});
    }
    if (!fact.cpu.empty()) return;
  }
}

// Of the group that is nearest to its limit; both versions call the files alike.
void read_tasks(const target::Process& process, GroupFact& fact) {
  double nearest = 0;
  for (const GroupView& view : target::group_views(process, "pids")) {
    for (const std::string& folder : view.folders) {
      const auto limit = number_in(view, folder + "/pids.max");
      const auto tasks = number_in(view, folder + "/pids.current");
      if (!limit || !tasks || *limit == 0) continue;
      const double share = static_cast<double>(*tasks) / static_cast<double>(*limit);
      if (fact.tasks && share <= nearest) continue;
      nearest = share;
      fact.tasks = tasks;
      fact.tasks_limit = limit;
    }
    if (fact.tasks) return;
  }
}

void read_memory(const target::Process& process, GroupFact& fact) {
  const auto memory = target::read_group_memory(process);
  if (!memory || !memory->limit) return;
  fact.memory_used = memory->kept();
  fact.memory_limit = memory->limit;
  fact.memory_folder = memory->limit_folder;
  fact.killed = memory->killed;
}

}  // namespace

Result<Publish> GroupCollector::look() {
  if (!process_) {
    JTRACE_ASSIGN_OR_RETURN(process_, target::Process::open(pid_));
  }
  GroupFact fact{.ns = monotonic_ns()};
  fact.visible = !target::group_views(*process_, "memory").empty();
  read_memory(*process_, fact);
  read_cpu(*process_, fact);
  read_tasks(*process_, fact);
  return [fact](Collected& collected) { collected.facts.groups.push_back(fact); };
}

}  // namespace jtrace::diagnose
