#include "coreinspect/tools/vm_waits.h"

#include <algorithm>

namespace jtrace::coreinspect {
namespace {

std::optional<LockParty> party_named(const ThreadSnapshot& snapshot, std::string_view name, bool java) {
  for (const ThreadReport& each : snapshot.threads)
    if ((each.java.address != 0) == java && each.shown_name() == name)
      return LockParty{.nid = each.native_id, .name = std::string(name)};
  return std::nullopt;
}

LockParty party_of(const LateThread& late) { return {.nid = late.java.native_id, .name = late.java.name}; }

// Whether one of them waits for something that another thread has.
bool is_waiter(const std::vector<MutexRow>& mutexes, const LockParty& party) {
  for (const MutexRow& row : mutexes)
    for (const MutexParty& each : row.waiters)
      if (row.owner && each.nid == party.nid) return true;
  return false;
}

std::string named(const LockParty& party) {
  return "\"" + printable(party.name) + "\" nid=" + std::to_string(party.nid);
}

std::string operation_of(const VmWait& wait) {
  std::string text = wait.operation;
  const bool for_another = !wait.waiter || wait.requester != wait.waiter->name;
  if (!wait.requester.empty() && for_another) text += (text.empty() ? "for \"" : ", for \"") + wait.requester + "\"";
  return text.empty() ? "" : " (" + printable(text) + ")";
}

}  // namespace

std::vector<VmWait> vm_waits(const SafepointReport& report, const ThreadSnapshot& snapshot) {
  std::vector<VmWait> waits;
  for (const LateThread& each : report.late)
    waits.push_back({.kind = "safepoint",
                     .operation = report.operation_name,
                     .waiter = party_named(snapshot, "VM Thread", false),
                     .requester = report.requester,
                     .owner = party_of(each)});
  for (const LateHandshake& handshake : report.handshakes)
    for (const LateThread& each : handshake.late) {
      auto waiter = party_named(snapshot, handshake.requester, true);
      if (!waiter) waiter = party_named(snapshot, handshake.requester, false);
      waits.push_back(
          {.kind = "handshake", .operation = handshake.name, .waiter = std::move(waiter), .owner = party_of(each)});
    }
  if (report.locker && report.locker->wanted) waits.push_back({.kind = "gc-locker", .regions = report.locker->regions});
  return waits;
}

std::string describe(const VmWait& wait) {
  if (!wait.owner)
    return "waiting for native code in JNI critical regions" +
           (wait.regions ? " (" + counted(*wait.regions, "thread") + ")" : "") + " to give arrays of the heap back";
  return "waiting for " + named(*wait.owner) +
         (wait.kind == "safepoint" ? " to come to a safepoint" : " to run a handshake") + operation_of(wait);
}

std::vector<LockEdge> vm_edges(const std::vector<VmWait>& waits, const LockFacts& locks,
                               const std::vector<MutexRow>& mutexes) {
  constexpr int kBlocked = 10;  // _thread_blocked
  std::vector<LockEdge> edges;
  std::optional<LockParty> vm_thread;
  for (const VmWait& each : waits) {
    if (!each.waiter || !each.owner) continue;
    edges.push_back({*each.waiter, *each.owner, LockKind::kVm});
    if (each.kind == "safepoint") vm_thread = each.waiter;
  }
  // Of several late threads the one that waits itself may close a circle.
  std::stable_partition(edges.begin(), edges.end(),
                        [&](const LockEdge& each) { return is_waiter(mutexes, each.owner); });
  if (!vm_thread) return edges;
  for (const LockFacts::Party& each : locks.parties()) {
    if (!each.java || each.java->vm_state != kBlocked || locks.wait_of(locks.runner(each.key))) continue;
    const auto owns = [&](const MutexRow& row) { return row.owner && row.owner->nid == each.java->native_id; };
    if (std::any_of(mutexes.begin(), mutexes.end(), owns))
      edges.push_back({{.nid = each.java->native_id, .name = *each.name}, *vm_thread, LockKind::kVm});
  }
  return edges;
}

}  // namespace jtrace::coreinspect
