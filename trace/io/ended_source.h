// Whether a trace was read to its end: a document that was cut off between two elements looks whole otherwise
// (fragments, SDDF, JSON lines). Every jtrace and hsperf ends its traces with traceEnd. One thread.
#pragma once

#include <memory>
#include <string>

#include "trace/io/event_source.h"

namespace jtrace::trace::io {

// Reads as `source` does, and the input is `truncated` too if a trace that counts its elements (collationValue) has no
// traceEnd; with `strict` that is an error (kMalformed). `name`: of the input.
std::unique_ptr<EventSource> watch_for_the_end(std::unique_ptr<EventSource> source, std::string name = "",
                                               bool strict = false);

}  // namespace jtrace::trace::io
