// The payload of Start: what the agent is to do (trace/record/frames.def). Pure.
#pragma once

#include <string>

#include "session/options/options.h"
#include "trace/record/frames.h"

namespace jtrace::session {

std::string encode_start(const TraceOptions& options, const trace::record::CountersFields& counters);

}  // namespace jtrace::session
