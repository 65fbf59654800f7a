// Idle calls (slow_calls.h) by method, as a table for a terminal and as JSON: there are many of them, all alike.
// Internal to trace/io. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/json.h"
#include "trace/io/statistics.h"
#include "trace/io/table_rows.h"

namespace jtrace::trace::io {

struct IdleMethod {
  std::uint64_t method = 0, calls = 0, threads = 0, total = 0;  // ns
  const SlowCall* longest = nullptr;
};
struct IdleCalls {
  Rows<IdleMethod> methods;     // that with the longest call first
  std::size_t all = 0;          // number of calls
  bool are_more = false;        // there were, which are not kept
  bool has_exceptions = false;  // some of those that slept are among the others
};
// Divides the idle calls of `over` ns or longer. Where most calls of a method are not idle, or quick, one that slept is
// the exception, not the rule: those that ended are added to `busy`, which has all others of that time, longest first.
// The rest is returned. `statistics` is borrowed.
IdleCalls divide_idle_calls(const ScopeStatistics& statistics, std::uint64_t over, std::size_t rows,
                            std::vector<const SlowCall*>& busy);
// Methods whose calls that are kept are idle, and the callees that take their time.
std::unordered_set<std::uint64_t> idle_methods(const ScopeStatistics& statistics);

// "" if there are none.
std::string idle_calls_text(const ScopeStatistics& statistics, const IdleCalls& idle);
// "idleCalls" and what belongs to it, members of the JSON object that is open.
void write_idle_calls(JsonWriter& json, const ScopeStatistics& statistics, const IdleCalls& idle);

}  // namespace jtrace::trace::io
