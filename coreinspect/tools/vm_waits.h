// What the VM itself waits for, or waits with: threads that are late for a safepoint or for a handshake, and native
// code that keeps an array of the heap from a collection.
//
// Values and pure functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coreinspect/tools/lock_graph.h"
#include "coreinspect/tools/safepoint_report.h"

namespace jtrace::coreinspect {

struct VmWait {
  std::string kind;                 // "safepoint", "handshake", "gc-locker"
  std::string operation;            // "VM_GenCollectFull", "GetStackTrace"; "" if it is not known
  std::optional<LockParty> waiter;  // the VM Thread, or who asked for the handshake; nothing if it is not known
  std::string requester;            // of a safepoint: the name of the thread that asked for it
  std::optional<LockParty> owner;   // the late thread; nothing of a gc-locker: the VM does not record who it is
  std::optional<int> regions;       // of a gc-locker: threads in a critical region, if this JVM counts them
};
std::vector<VmWait> vm_waits(const SafepointReport& report, const ThreadSnapshot& snapshot);
// Without a subject: "waiting for "late-loop" nid=7 to come to a safepoint (VM_GenCollectFull, for "asker")".
std::string describe(const VmWait& wait);

// The edges of the waits, and of the Java threads that have a lock of `mutexes` and are stopped by the safepoint: they
// wait for the VM Thread.
std::vector<LockEdge> vm_edges(const std::vector<VmWait>& waits, const LockFacts& locks,
                               const std::vector<MutexRow>& mutexes);

}  // namespace jtrace::coreinspect
