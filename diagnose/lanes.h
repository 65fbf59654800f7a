// Lanes: threads that collect facts at the same time, each a list of steps with a budget. A lane that exceeds its
// budget, or that of all lanes together, is abandoned with all its further steps, and can no longer change the result.
//
// Threads: one calls run_lanes; each lane has its own. Objects that the steps use must belong to them, or outlive the
// process.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "diagnose/collect.h"

namespace jtrace::diagnose {

// Stores the result of a step; called under the lock of the lanes.
using Publish = std::function<void(Collected&)>;

struct Step {
  std::string name;
  std::chrono::milliseconds budget;
  std::function<Result<Publish>()> run;
  std::chrono::milliseconds not_before{0};  // since the start of all lanes
  bool needed = false;                      // if it fails, the lane ends
  // If set: `not_before` of the further steps of this lane counts from the end of this one, as far as that is at most
  // so long after the start of all lanes; otherwise from then.
  std::optional<std::chrono::milliseconds> starts_anew{};
};
using Lane = std::vector<Step>;

struct LanesEnd {
  std::optional<Error> needed;  // of the first needed step that failed
};
// `total`: the time for all of them.
LanesEnd run_lanes(std::vector<Lane> lanes, std::chrono::milliseconds total, Collected& collected);

}  // namespace jtrace::diagnose
