// make_drain: makes a Drainer or a Spiller, by the session's options.
#pragma once

#include <memory>

#include "session/document/session_text.h"
#include "session/document/trace_drain.h"
#include "session/document/trace_output.h"
#include "trace/record/pool_reader.h"

namespace jtrace::session {

// Borrows `reader` and `output`, which must outlive it.
std::unique_ptr<TraceDrain> make_drain(trace::record::PoolReader& reader, TraceOutput& output, const Session& session);

}  // namespace jtrace::session
