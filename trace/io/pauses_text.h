// The pauses of collections as text, for jtrace stats. Internal to trace/io. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "trace/io/statistics.h"

namespace jtrace::trace::io {

// Sums by cause and kind, and the `rows` longest pauses.
std::string pauses_text(const ScopeStatistics& statistics, std::size_t rows);

}  // namespace jtrace::trace::io
