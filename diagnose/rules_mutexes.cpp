// Rules about locks below Java: those of the VM, and mutexes of native code.
#include <algorithm>
#include <array>
#include <set>

#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

using Circle = std::vector<MutexFact::Waiter>;

std::string name_of(const std::string& name, pid_t tid) {
  return (name.empty() ? "a thread" : quoted(name)) + " (nid " + std::to_string(tid) + ")";
}

std::set<pid_t> tids_of(const Circle& circle) {
  std::set<pid_t> tids;
  for (const MutexFact::Waiter& each : circle) tids.insert(each.tid);
  return tids;
}

bool has_circle(const MutexLook& look, const Circle& circle) {
  return std::any_of(look.circles.begin(), look.circles.end(),
                     [&](const Circle& each) { return tids_of(each) == tids_of(circle); });
}

// The waiters of both looks that have not run in between.
std::vector<MutexFact::Waiter> still_waiting(const MutexFact& before, const MutexFact& now) {
  std::vector<MutexFact::Waiter> waiters;
  for (const MutexFact::Waiter& each : now.waiters)
    if (std::find(before.waiters.begin(), before.waiters.end(), each) != before.waiters.end()) waiters.push_back(each);
  return waiters;
}

// The owner would give the lock back if it had a processor, which another rule says.
bool is_ready_without_processor(const Facts& facts, pid_t nid) {
  if (nid == 0 || facts.looks.size() < 2) return false;
  const ThreadsLook &first = facts.looks.front(), &last = facts.looks.back();
  const auto of = [nid](const ThreadsLook& look) {
    return std::find_if(look.threads.begin(), look.threads.end(),
                        [&](const ThreadFact& each) { return each.nid == nid; });
  };
  const auto then = of(first), now = of(last);
  if (then == first.threads.end() || now == last.threads.end() || !then->queued_ns || !now->queued_ns) return false;
  return 2 * (*now->queued_ns - *then->queued_ns) > now->measured_ns - then->measured_ns;
}

void judge(const Facts& facts, const MutexFact& before, const MutexFact& now, std::vector<Finding>& found) {
  if (is_ready_without_processor(facts, now.owner_tid)) return;
  if (now.owner == "VM Thread") return;  // a VM operation, which other rules judge by its length
  const auto waiters = still_waiting(before, now);
  for (const Circle& circle : facts.mutexes.back().circles)
    if (tids_of(circle).contains(now.owner_tid)) return;  // the deadlock has been said
  if (waiters.empty()) return;
  const double since = static_cast<double>(facts.mutexes.back().ns - facts.mutexes.front().ns) / 1e9;
  Finding finding{
      .rule = "vm-lock",
      .sentence = name_of(now.owner, now.owner_tid) + " does not give back " + printable(now.name) + ", for which " +
                  (waiters.size() == 1 ? "a thread waits." : std::to_string(waiters.size()) + " threads wait."),
      .evidence = {"the same owner at 2 looks"},
      .confidence = Confidence::kCertain,
      .next = "jtrace stack " + facts.target};
  for (const MutexFact::Waiter& each : waiters)
    finding.evidence.push_back(name_of(each.name, each.tid) + " waits, and has not run for " + seconds(since));
  found.push_back(std::move(finding));
}

// By the rule for circles through locks of both kinds.
bool is_in_mixed_circle(const MutexFact& mutex, const std::vector<Finding>& found) {
  return std::any_of(found.begin(), found.end(), [&](const Finding& each) {
    return each.rule == "mixed-deadlock" &&
           std::any_of(each.evidence.begin(), each.evidence.end(),
                       [&](const std::string& line) { return line.find(printable(mutex.name) + ",") != line.npos; });
  });
}

}  // namespace

void find_native_deadlocks(const Facts& facts, std::vector<Finding>& found) {
  if (facts.mutexes.empty()) return;
  for (const Circle& circle : facts.mutexes.back().circles) {
    if (facts.live && !has_circle(facts.mutexes.front(), circle)) continue;
    Finding finding{
        .rule = "native-deadlock",
        .sentence = circle.size() == 1
                        ? "Deadlock below Java: a thread waits for a mutex that it has itself."
                        : "Deadlock below Java: " + std::to_string(circle.size()) +
                              " threads wait for each other's mutexes in a circle, and none of them can go on.",
        .confidence = Confidence::kCertain,
        .next = "jtrace inspect " + facts.target + " mutexes"};
    for (std::size_t i = 0; i < circle.size(); ++i) {
      const MutexFact::Waiter& next = circle[(i + 1) % circle.size()];
      finding.evidence.push_back(name_of(circle[i].name, circle[i].tid) + " waits for a mutex of " +
                                 name_of(next.name, next.tid));
    }
    found.push_back(std::move(finding));
  }
}

void find_kept_mutexes(const Facts& facts, std::vector<Finding>& found) {
  if (facts.mutexes.size() < 2 || stands_still(facts)) return;
  constexpr std::array<std::string_view, 3> kCauses = {"stopped", "safepoint", "vm-operation"};
  for (const Finding& each : found)
    if (std::find(kCauses.begin(), kCauses.end(), each.rule) != kCauses.end()) return;
  for (const MutexFact& now : facts.mutexes.back().held)
    for (const MutexFact& before : facts.mutexes.front().held)
      if (before.name == now.name && before.owner_tid == now.owner_tid && !is_in_mixed_circle(now, found))
        judge(facts, before, now, found);
}

}  // namespace jtrace::diagnose
