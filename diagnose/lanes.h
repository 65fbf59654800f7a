// Lanes: threads that collect facts side by side, each a list of steps with a budget. One that does not end in time is
// left behind with all its steps to come, and cannot change the result any more.
//
// Threads: one calls run_lanes; each lane has its own. What the steps use must be theirs, or outlive the process.
#pragma once

#include <functional>
#include <vector>

#include "diagnose/collect.h"

namespace jtrace::diagnose {

// Puts what a step found into the result; run under the lock of the lanes.
using Publish = std::function<void(Collected&)>;

struct Step {
  std::string name;
  std::chrono::milliseconds budget;
  std::function<Result<Publish>()> run;
  std::chrono::milliseconds not_before{0};  // since the start of all lanes
  bool needed = false;                      // the lane ends where it fails
};
using Lane = std::vector<Step>;

struct LanesEnd {
  std::optional<Error> needed;  // of the first needed step that failed
};
LanesEnd run_lanes(std::vector<Lane> lanes, Collected& collected);

}  // namespace jtrace::diagnose
