// The calls of methods that were only counted (--events counts), not recorded one by one. Internal to trace/io. Pure
// functions.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/io/statistics.h"

namespace jtrace::trace::io {

// All calls of the method; nothing if the trace does not have their number.
std::optional<std::uint64_t> counted_calls(const ScopeStatistics& statistics, std::uint64_t method);
// How many of them surely took too little time to be recorded: as many as there are threads may not have ended. 0: not
// known.
std::uint64_t quick_calls(const ScopeStatistics& statistics, std::uint64_t method);

}  // namespace jtrace::trace::io
