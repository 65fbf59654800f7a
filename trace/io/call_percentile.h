// Percentiles of the durations of a method's calls: of all its calls where their number is known, those included that
// were too short to be recorded one by one (--slower-than with --events counts). Internal to trace/io. Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "trace/io/statistics.h"

namespace jtrace::trace::io {

// A time in ns, or what is known of it: calls that were only counted may not have ended, or were lost.
struct CallPercentile {
  enum class Kind : std::uint8_t {
    kIs,       // at most an eighth too high
    kBelow,    // among calls that were only counted
    kAtLeast,  // more, if many of the calls that may not have ended took longer
    kUnknown,  // these decide it
  };
  Kind kind = Kind::kIs;
  std::uint64_t ns = 0;
};

// From which duration on the trace has all calls, ns; 0: it has them all.
std::uint64_t least_recorded(const Scope& scope);
// The time that `share` (0 to 1) of the method's calls did not exceed.
CallPercentile call_percentile(const ScopeStatistics& statistics, std::uint64_t method, double share);
// In ms: "62.915", "<10", ">62.915", "?".
std::string percentile_text(const CallPercentile& percentile);
// If there are calls of it that were only counted, the member "ofAllCalls" of the JSON object that is open, with p50,
// p90 and p99: each an object with "seconds", "below" or "atLeast", or nothing.
void write_percentiles_of_all(JsonWriter& json, const ScopeStatistics& statistics, std::uint64_t method);

}  // namespace jtrace::trace::io
