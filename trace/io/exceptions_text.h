// What jtrace exceptions, stats and report say of the exceptions of a trace. Pure functions.
#pragma once

#include <string>

#include "base/json.h"
#include "trace/io/statistics.h"

namespace jtrace::trace::io {

// Of one producer, as lines for a terminal; "" where it has none.
std::string exceptions_of(const ScopeStatistics& statistics, std::size_t rows);
// "exceptionsAll", "exceptionsSwallowed", "exceptionsUsed", "exceptionHandlersNotKnown" and "exceptions", members of
// the object that is open.
void write_exceptions(JsonWriter& json, const ScopeStatistics& statistics, std::size_t rows);
// All of the trace: text, and the one JSON object of every view.
std::string exceptions_text(const Statistics& statistics, std::size_t rows);
std::string exceptions_json(const Statistics& statistics, std::string_view input, std::size_t rows);

}  // namespace jtrace::trace::io
