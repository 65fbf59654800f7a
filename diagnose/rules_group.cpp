// Rules about the limits of the process's control groups.
#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

constexpr double kNear = 0.9;          // of a limit
constexpr double kThrottled = 0.25;    // of the periods
constexpr std::uint64_t kPeriods = 5;  // fewer say nothing
constexpr double kMoreThanHeap = 1.1;  // stacks, metaspace, code, direct buffers

bool is_full(const GroupFact& group) {
  return group.memory_limit && group.memory_used && share_of(*group.memory_used, *group.memory_limit) >= kNear;
}

bool is_crowded(const GroupFact& group) {
  return group.tasks && group.tasks_limit && share_of(*group.tasks, *group.tasks_limit) >= kNear;
}

std::string processors(double count) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", count);
  return std::string(text) + (count == 1 ? " processor" : " processors");
}

void judge_cpu(const Facts& facts, const GroupFact::Cpu& before, const GroupFact::Cpu& now,
               std::vector<Finding>& found) {
  if (now.periods < before.periods + kPeriods || now.throttled < before.throttled) return;
  const std::uint64_t periods = now.periods - before.periods, throttled = now.throttled - before.throttled;
  if (share_of(throttled, periods) < kThrottled) return;
  const double elapsed = static_cast<double>(facts.groups.back().ns - facts.groups.front().ns) / 1e9;
  found.push_back({.rule = "throttled",
                   .sentence = "The control group takes the processors away: in " +
                               percent(share_of(throttled, periods)) + " of the periods its share of " +
                               processors(now.processors) + " was used up before the period was over.",
                   .evidence = {std::to_string(throttled) + " of " + std::to_string(periods) +
                                " periods throttled in " + seconds(elapsed) + ", cpu.stat of " + printable(now.folder)},
                   .confidence = Confidence::kCertain,
                   .next = "give the group more processors, or find what uses them: jtrace profile " + facts.target +
                           " --duration 10"});
}

}  // namespace

void find_throttled(const Facts& facts, std::vector<Finding>& found) {
  if (facts.groups.size() < 2) return;
  for (const GroupFact::Cpu& now : facts.groups.back().cpu)
    for (const GroupFact::Cpu& before : facts.groups.front().cpu)
      if (before.folder == now.folder) judge_cpu(facts, before, now, found);
}

void find_full_group(const Facts& facts, std::vector<Finding>& found) {
  if (facts.groups.size() < 2 || !is_full(facts.groups.front()) || !is_full(facts.groups.back())) return;
  const GroupFact& now = facts.groups.back();
  Finding finding{.rule = "group-memory",
                  .sentence = "The control group is nearly out of memory: " +
                              percent(share_of(*now.memory_used, *now.memory_limit)) + " of " +
                              mib_text(*now.memory_limit) + " are in use; at the limit the kernel ends the process.",
                  .evidence = {mib_text(*now.memory_used) + " without page cache, of " + printable(now.memory_folder) +
                               ", so at 2 looks"},
                  .confidence = Confidence::kCertain,
                  .next = "jtrace inspect " + facts.target + " memory"};
  if (now.killed > 0)
    finding.evidence.push_back("the kernel has ended a process of this group for memory " +
                               (now.killed == 1 ? "once" : std::to_string(now.killed) + " times"));
  found.push_back(std::move(finding));
}

void find_small_group(const Facts& facts, std::vector<Finding>& found) {
  if (facts.groups.empty() || !facts.limits || !facts.limits->max_heap) return;
  const GroupFact& group = facts.groups.back();
  if (!group.memory_limit) return;
  const std::uint64_t heap = *facts.limits->max_heap;
  const bool heap_alone = heap > *group.memory_limit;
  if (!heap_alone && static_cast<double>(heap) * kMoreThanHeap <= static_cast<double>(*group.memory_limit)) return;
  found.push_back({.rule = "group-size",
                   .sentence = heap_alone
                                   ? "The heap may grow beyond the memory of the control group: the kernel ends the "
                                     "process before an OutOfMemoryError tells why."
                                   : "The control group has hardly more memory than the largest heap: nothing is left "
                                     "for stacks, classes, code and direct buffers.",
                   .evidence = {"the heap may grow to " + mib_text(heap) + " (-Xmx), the limit of " +
                                printable(group.memory_folder) + " is " + mib_text(*group.memory_limit)},
                   .confidence = heap_alone ? Confidence::kCertain : Confidence::kHint,
                   .next = "jtrace inspect " + facts.target + " memory"});
}

void find_many_tasks(const Facts& facts, std::vector<Finding>& found) {
  if (facts.groups.size() < 2 || !is_crowded(facts.groups.front()) || !is_crowded(facts.groups.back())) return;
  const GroupFact& now = facts.groups.back();
  found.push_back({.rule = "threads",
                   .sentence = "The control group has nearly as many threads as it may have: " +
                               std::to_string(*now.tasks) + " of " + std::to_string(*now.tasks_limit) +
                               "; at the limit a new thread fails with an OutOfMemoryError.",
                   .evidence = {"pids.current and pids.max, so at 2 looks"},
                   .confidence = Confidence::kCertain,
                   .next = "jtrace stack " + facts.target + " --java --group"});
}

}  // namespace jtrace::diagnose
