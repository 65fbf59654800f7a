// SafepointReport: whether a safepoint is being reached, for what, since when, and which threads hold it up; the same
// for handshakes.
//
// Only a thread that holds up the same safepoint at every look (safepoint_watch.h, handshake_watch.h) is late. The
// target is not stopped, except for frames on request. Threads: one at a time.
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

// A handshake that was there at every look, for 0.4 s or longer.
struct LateHandshake {
  std::uint64_t number = 0;  // two reports with the same number and requester are of the same handshake
  std::string name;          // of what the thread is to run: "GetStackTrace"; "" if it is not known
  std::string requester;     // name of the thread that waits; "" if it is not known
  bool all = false;          // each thread is to run it, not a single one
  double since = 0;          // seconds for which it was seen: the VM does not note when it began
  std::vector<LateThread> late;
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
  std::string operation_name;  // "" if it is not known
  std::string operation_found_by;
  std::string requester;           // name of the thread; "" if it is not known, or there is no operation
  std::optional<int> waiting;      // threads that the VM waits for, by its own count
  std::optional<GcLocker> locker;  // at the end of the looks
  std::vector<LateThread> late;
  bool handshakes_known = false;  // this JVM records them (JDK 16 and later, with symbols)
  std::vector<LateHandshake> handshakes;
  std::chrono::nanoseconds pause{};  // of the late threads, for their frames
  std::vector<std::string> missing;
};

struct SafepointOptions {
  bool stop = false;  // stop the late threads for a moment, for their frames
  std::chrono::milliseconds max_stop{200};
};
SafepointReport report_safepoint(Inspection& inspection, const SafepointOptions& options);

}  // namespace jtrace::coreinspect
