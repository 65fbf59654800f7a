// collect: the facts of one JVM, read by several collectors at the same time, each with a budget.
//
// A collector is a thread that does its steps in order. One that fails says why; one that takes longer than its budget
// (a file of /proc that waits for a lock of the target's) is left behind, and what the others found counts. The
// target's threads are stopped for a moment three times, for their stacks; nothing else touches it, and nothing is
// loaded. Threads: one calls it; the others are its own.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "coreinspect/model/inspection.h"
#include "diagnose/facts.h"

namespace jtrace::diagnose {

struct CollectOptions {
  std::chrono::milliseconds interval{1000};  // between two looks; three looks
  std::chrono::milliseconds max_stop{50};    // of each stop
};

// What a step of a collector did.
struct StepRecord {
  std::string name;  // "threads 1"
  std::chrono::milliseconds budget{}, used{};
  std::string problem;  // why there is no result; "" if there is
};

struct Collected {
  Facts facts;
  std::vector<StepRecord> steps;     // in the order in which they ended
  std::vector<std::string> missing;  // of what was read, what could not be; one line each
  std::chrono::milliseconds elapsed{};
  std::chrono::nanoseconds pause_longest{}, pause_all{};
  std::size_t stops = 0;
  bool left_behind = false;  // a thread of a collector is still at it: end the process by _exit(2)
};

// Opens the target anew; called from each collector that looks into the JVM.
using OpenTarget = std::function<Result<std::unique_ptr<coreinspect::Inspection>>()>;

// Of a live JVM. Errors: those of opening it: gone, not a JVM, not permitted.
Result<Collected> collect_live(pid_t pid, const OpenTarget& open, const CollectOptions& options);
// Of a core.
Result<Collected> collect_core(const std::string& path, const OpenTarget& open);

}  // namespace jtrace::diagnose
