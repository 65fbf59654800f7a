#include "coreinspect/tools/lock_graph.h"

#include <algorithm>
#include <map>

#include "coreinspect/tools/circles.h"

namespace jtrace::coreinspect {
namespace {

const MutexRow* same_row(const MutexReport& report, const MutexRow& row) {
  for (const MutexRow& each : report.rows)
    if (each.address == row.address && each.owner && each.owner->nid == row.owner->nid) return &each;
  return nullptr;
}

// The parties of LockFacts, and the native thread of each.
class Parties {
 public:
  explicit Parties(const LockFacts& locks) {
    for (const LockFacts::Party& each : locks.parties()) {
      const Address runner = each.java ? locks.runner(each.key) : each.key;
      if (runner != each.key) mounted_[each.java->native_id] = of(*locks.party(runner));
    }
  }
  LockParty of(const LockFacts::Party& party) const {
    if (party.virtual_thread) return {.virtual_thread = party.key, .name = *party.name};
    return {.nid = party.java->native_id, .name = *party.name};
  }
  LockParty of(const MutexParty& party) const {
    const auto found = mounted_.find(party.nid);
    return found != mounted_.end() ? found->second : LockParty{.nid = party.nid, .name = party.name};
  }

 private:
  std::map<pid_t, LockParty> mounted_;  // by the native id of the carrier
};

}  // namespace

std::vector<MutexRow> kept_in_both(const MutexReport& before, const MutexReport& after) {
  std::vector<MutexRow> rows;
  for (const MutexRow& each : before.rows) {
    const MutexRow* then = each.owner && each.owner->nid != 0 ? same_row(after, each) : nullptr;
    if (!then) continue;
    MutexRow row = each;
    std::erase_if(row.waiters, [&](const MutexParty& waiter) {
      return std::none_of(then->waiters.begin(), then->waiters.end(),
                          [&](const MutexParty& other) { return other.nid == waiter.nid; });
    });
    if (!row.waiters.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<LockEdge> lock_edges(const LockFacts& locks, const std::vector<MutexRow>& mutexes) {
  const Parties parties(locks);
  std::vector<LockEdge> edges;
  for (const LockFacts::Party& each : locks.parties()) {
    const Wait* wait = locks.wait_of(each.key);
    const LockFacts::Party* owner = wait && wait->kind != "wait" ? locks.party(wait->owner_thread) : nullptr;
    if (owner) edges.push_back({.waiter = parties.of(each), .owner = parties.of(*owner)});
  }
  for (const MutexRow& row : mutexes)
    for (const MutexParty& waiter : row.waiters)
      if (row.owner) edges.push_back({parties.of(waiter), parties.of(*row.owner), LockKind::kBelow});
  return edges;
}

std::vector<std::vector<LockParty>> mixed_circles(const std::vector<LockEdge>& edges) {
  std::map<LockParty, const LockEdge*> waits;
  for (const LockEdge& each : edges) {
    const LockEdge*& wait = waits[each.waiter];
    // A thread that waits below Java does nothing else. What the VM waits for is given in the order of its importance.
    if (!wait || each.kind == LockKind::kBelow) wait = &each;
  }
  std::map<LockParty, LockParty> owners;
  for (const auto& [party, wait] : waits) owners.emplace(party, wait->owner);
  auto circles = circles_in(owners);
  std::erase_if(circles, [&](const std::vector<LockParty>& circle) {
    const LockKind first = waits.at(circle.front())->kind;
    return std::all_of(circle.begin(), circle.end(),
                       [&](const LockParty& each) { return waits.at(each)->kind == first; });
  });
  return circles;
}

}  // namespace jtrace::coreinspect
