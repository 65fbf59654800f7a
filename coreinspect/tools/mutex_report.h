// MutexReport: the locks below Java that a thread has or waits for: those of the VM, and mutexes of native code; and
// the circles in which threads wait for each other through them.
//
// Of a live target everything is read twice, without a stop; a thread waits for a lock, or a thread has it, only if
// both looks show it. Threads: one at a time.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coreinspect/model/inspection.h"

namespace jtrace::coreinspect {

struct MutexParty {
  pid_t nid = 0;               // in the innermost pid namespace of the process; 0: unknown
  std::string name;            // of the Java thread, otherwise comm; "" if it is not known
  std::uint64_t switches = 0;  // of a waiter of a live target: FutexWait::switches
};

struct MutexRow {
  std::string kind;  // "vm", "native"
  std::string name;  // of the VM's; "" of native ones
  Address address = 0;
  std::optional<MutexParty> owner;
  std::vector<MutexParty> waiters;  // for the lock
  std::size_t sleepers = 0;         // threads that wait for a notification: idle
};

struct MutexReport {
  std::vector<MutexRow> rows;                    // the VM's by address, then native ones
  std::vector<std::vector<MutexParty>> circles;  // in the order of "waits for"
  std::string found_by;                          // how those of the VM were found; "" if they were not
  std::vector<std::string> missing;
};
MutexReport report_mutexes(const Inspection& inspection);

// The circles of these edges, each once. `owners`: for a waiting thread the one that has what it waits for.
std::vector<std::vector<pid_t>> circles_of(const std::vector<std::pair<pid_t, pid_t>>& owners);

}  // namespace jtrace::coreinspect
