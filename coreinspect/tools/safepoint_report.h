// SafepointReport: whether a safepoint is being reached, for what, since when, and which threads hold it up.
//
// Only a thread that holds up the same safepoint at every look (safepoint_watch.h) is late. The target is not stopped,
// except for frames on request. Threads: one at a time.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "coreinspect/runtime/gc_locker.h"
#include "coreinspect/runtime/safepoint.h"
#include "coreinspect/tools/late_threads.h"
#include "coreinspect/tools/thread_snapshot.h"

namespace jtrace::coreinspect {

struct LateThread {
  JavaThread java;
  pid_t tid = 0;                      // as this process sees it; 0 in a core
  std::optional<KernelFacts> kernel;  // at the last look; nothing in a core
  std::string why;
  std::string frame;  // the innermost Java frame; "" if it is not known
  std::string code;   // "interpreted", "compiled by C2"; "" as above
};

struct SafepointReport {
  SafepointState state = SafepointState::kNone;
  bool known = false;   // the state could be read
  bool lasting = true;  // false: each look found another safepoint
  std::string state_found_by;
  std::optional<std::uint64_t> number;  // two reports with the same number and state are of the same safepoint
  std::optional<double> since;          // seconds; of the safepoint, or of the operation if there is none
  bool at_least = false;                // it was there at the first look: it may be older
  std::string since_found_by;
  std::optional<VmOperation> operation;
  std::string operation_name;  // "" if it cannot be told
  std::string operation_found_by;
  std::string requester;           // name of the thread; "" if it cannot be told, or there is no operation
  std::optional<int> waiting;      // threads that the VM waits for, by its own count
  std::optional<GcLocker> locker;  // at the end of the looks
  std::vector<LateThread> late;
  std::chrono::nanoseconds pause{};  // of the late threads, for their frames
  std::vector<std::string> missing;
};

struct SafepointOptions {
  bool stop = false;  // stop the late threads for a moment, for their frames
  std::chrono::milliseconds max_stop{200};
};
SafepointReport report_safepoint(Inspection& inspection, const SafepointOptions& options);

}  // namespace jtrace::coreinspect
