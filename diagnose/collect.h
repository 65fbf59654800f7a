// collect: reads the facts of one JVM by several collectors at the same time, each with a budget.
//
// A collector is a thread that executes its steps in order. If a step fails, it reports the reason. A collector that
// exceeds its budget (for example in a file of /proc that waits for a lock of the target) is abandoned, and the results
// of the others are used. The target's threads are stopped for a short time, three times, for their stacks; nothing
// else affects the target, and nothing is loaded. Threads: one calls it; the others are its own.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "coreinspect/model/inspection.h"
#include "diagnose/facts.h"

namespace jtrace::diagnose {

struct CollectOptions {
  std::chrono::milliseconds interval{1000};  // between two of the three samples
  std::chrono::milliseconds max_stop{10};    // of each stop
  std::chrono::milliseconds budget{3000};    // for everything, beside the two intervals
  std::uint64_t most_read = 1u << 30;        // bytes of the target's memory

  std::chrono::milliseconds total() const { return budget + 2 * interval; }
};

// The result of one step of a collector.
struct StepRecord {
  std::string name;  // "threads 1"
  std::chrono::milliseconds budget{}, used{};
  std::string problem;  // why there is no result; "" if there is
};

// A file of the bundle.
struct Part {
  std::string name;
  std::string content;
};

// What a diagnosis may cost its target and its user.
struct Limits {
  std::chrono::milliseconds time{}, stop{};  // of everything; of a single stop
  std::uint64_t read = 0;                    // bytes
};

struct Collected {
  Facts facts;
  std::vector<Part> parts;           // for the bundle (bundle_parts.h)
  std::vector<StepRecord> steps;     // in the order in which they ended
  std::vector<std::string> missing;  // parts that could not be read; one line each
  bool target_incomplete = false;    // the target itself lacks something: a core that is cut off
  std::chrono::milliseconds elapsed{};
  std::chrono::nanoseconds pause_longest{}, pause_all{};
  std::size_t stops = 0;
  std::uint64_t bytes_read = 0;  // of the target's memory
  std::optional<Limits> limits;  // nothing for a core
  bool left_behind = false;      // a thread of a collector still runs: end the process by _exit(2)
};

// Opens the target anew; each collector that reads the JVM's structures calls it.
using OpenTarget = std::function<Result<std::unique_ptr<coreinspect::Inspection>>()>;

// For a live JVM. Errors: those of opening it: gone, not a JVM, not permitted.
Result<Collected> collect_live(pid_t pid, const OpenTarget& open, const CollectOptions& options);
// For a core.
Result<Collected> collect_core(const std::string& path, const OpenTarget& open);

}  // namespace jtrace::diagnose
