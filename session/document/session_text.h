// The identity and the options of a trace as key=value lines: in the header of a pool, for `jtrace recover`, and in a
// spill. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "session/document/trace_identity.h"
#include "session/options/options.h"

namespace jtrace::session {

struct Session {
  TraceIdentity identity;
  TraceOptions options;
  ClockAnchor anchor;
  std::uint64_t start = 0;  // monotonic
  std::string output;       // the path of the document, or of the spill
};

// For the header of a pool (PoolHeader.session), which has little room: without filters, long values are cut.
std::string session_text(const TraceIdentity& identity, const TraceOptions& options, const ClockAnchor& anchor,
                         std::uint64_t start_time, const std::string& output);
// For a spill: all of it.
std::string whole_session_text(const Session& session);

// Unknown keys are ignored. kMalformed if the text is not jtrace's.
Result<Session> read_session(std::string_view text);

}  // namespace jtrace::session
