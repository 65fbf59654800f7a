// A trace as events, whatever it is kept in: what trace/io reads (XML, SDDF, JSON lines, compressed or not), a spill,
// or the ring memory of a killed trace, which is recovered into a temporary document first.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "trace/io/open_source.h"

namespace jtrace::session {

// "-" is standard input. `faults`: borrowed. Errors: those of the path; kMalformed if it is none of these; of
// recover(), if that is not possible.
Result<std::unique_ptr<trace::io::EventSource>> open_trace_source(const std::string& path, trace::io::FaultLog& faults,
                                                                  trace::io::OpenOptions options);

}  // namespace jtrace::session
