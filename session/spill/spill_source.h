// SpillSource: reads a spill as a trace: the document that its trace would have written, in the sink's format. A
// truncated or damaged spill gives everything before the damage, and an end. One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "session/document/session_text.h"
#include "trace/io/byte_source.h"
#include "trace/io/event_source.h"
#include "trace/io/fault_log.h"
#include "trace/record/pool_reader.h"

namespace jtrace::session {

// Whether these are the first bytes of a spill.
bool is_spill(std::string_view first_bytes);

// `name` is used in messages; `faults`: borrowed. `rest`: the pool that stayed when the trace's jtrace died, borrowed,
// read after the spill; null: none. kMalformed if the file does not begin like a spill of this version.
Result<std::unique_ptr<trace::io::EventSource>> open_spill(std::unique_ptr<trace::io::ByteSource> bytes,
                                                           const std::string& name, trace::io::FaultLog& faults,
                                                           trace::record::PoolReader* rest = nullptr);

}  // namespace jtrace::session
