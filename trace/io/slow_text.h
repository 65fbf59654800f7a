// The longest calls as text and JSON, for jtrace slow, stats and report. Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "trace/io/statistics.h"

namespace jtrace::trace::io {

struct SlowLimits {
  std::uint64_t over = 0;  // ns: only calls of this duration or longer; 0: the longest
  std::size_t rows = 20;   // of each table
  std::size_t first = 0;   // JSON: "slowCallsFirst" has the places of those that so many rows would have; 0: no member
  bool with_idle = false;  // idle calls (slow_calls.h) among the others, not by method
  bool no_arguments = false;  // they are not wanted: nothing is said if there are none
};

// The calls of one producer, as lines for a terminal; "" if it has no calls.
std::string slow_calls_text(const ScopeStatistics& statistics, const SlowLimits& limits);
// "slowCalls", "idleCalls" and "slowMethods", members of the JSON object that is open.
void write_slow_calls(JsonWriter& json, const ScopeStatistics& statistics, const SlowLimits& limits);
// The trace has calls of some time and more alone (--slower-than), and no call took that long.
bool lacks_slow_calls(const Statistics& statistics);
// The whole trace: as text, and as the one JSON object of every view.
std::string slow_text(const Statistics& statistics, const SlowLimits& limits);
std::string slow_json(const Statistics& statistics, std::string_view input, const SlowLimits& limits);

}  // namespace jtrace::trace::io
