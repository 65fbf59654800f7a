// What jtrace slow, stats and report say of the calls that took longest. Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "trace/io/statistics.h"

namespace jtrace::trace::io {

struct SlowLimits {
  std::uint64_t over = 0;  // ns: only calls that took so long; 0: the longest
  std::size_t rows = 20;   // of each table
};

// Of one producer, as lines for a terminal; "" where it has no calls.
std::string slow_calls_text(const ScopeStatistics& statistics, const SlowLimits& limits);
// "slowCalls" and "slowMethods", members of the object that is open.
void write_slow_calls(JsonWriter& json, const ScopeStatistics& statistics, const SlowLimits& limits);
// All of the trace: text, and the one JSON object of every view.
std::string slow_text(const Statistics& statistics, const SlowLimits& limits);
std::string slow_json(const Statistics& statistics, std::string_view input, const SlowLimits& limits);

}  // namespace jtrace::trace::io
