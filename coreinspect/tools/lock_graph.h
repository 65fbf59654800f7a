// LockGraph: who waits for whom through locks of all kinds: monitors, java.util.concurrent, class initialisation
// (lock_facts.h), locks of the VM and mutexes of native code (mutex_report.h), safepoints (vm_waits.h); and the
// circles through more than one kind.
//
// Circles of one kind alone are in LockFacts::deadlocks() and MutexReport::circles. Values. Threads: any.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/tools/lock_facts.h"
#include "coreinspect/tools/mutex_report.h"

namespace jtrace::coreinspect {

// The locks of `before` that the same threads have and wait for in `after`.
std::vector<MutexRow> kept_in_both(const MutexReport& before, const MutexReport& after);

// A thread by its native id, or, if it is virtual, by the address of its object.
struct LockParty {
  pid_t nid = 0;
  Address virtual_thread = 0;
  std::string name;
  bool operator<(const LockParty& other) const {
    return std::pair(nid, virtual_thread) < std::pair(other.nid, other.virtual_thread);
  }
};
enum class LockKind : std::uint8_t {
  kJava,
  kBelow,  // a lock of the VM or of native code
  kVm,     // the VM waits for the thread, or the thread for the VM (vm_waits.h)
};
struct LockEdge {
  LockParty waiter, owner;
  LockKind kind = LockKind::kJava;
};
// The waits that end only if an owner gives something back. A lock below Java that the carrier of a mounted virtual
// thread has or waits for is one of the virtual thread.
std::vector<LockEdge> lock_edges(const LockFacts& locks, const std::vector<MutexRow>& mutexes);
// The circles that have edges of more than one kind, each once, in the order of "waits for".
std::vector<std::vector<LockParty>> mixed_circles(const std::vector<LockEdge>& edges);

}  // namespace jtrace::coreinspect
