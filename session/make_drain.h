// make_drain: makes what empties the pool, by the session's options: a Drainer or a Spiller.
#pragma once

#include <memory>

#include "session/document/session_text.h"
#include "session/document/trace_drain.h"
#include "session/document/trace_output.h"
#include "trace/record/pool_reader.h"

namespace jtrace::session {

// Borrows `reader` and `output`, which outlive it.
std::unique_ptr<TraceDrain> make_drain(trace::record::PoolReader& reader, TraceOutput& output, const Session& session);

}  // namespace jtrace::session
