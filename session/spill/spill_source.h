// SpillSource: reads a spill as a trace: the document that its trace would have written, in the sink's
// format. A spill that was cut or damaged gives what stands before the damage, and an end. One thread.
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

// True of the first bytes of a spill.
bool is_spill(std::string_view first_bytes);

// `name` stands in messages; `faults`: borrowed. `rest`: the pool that the trace's death has left, borrowed, read
// after the spill; null: none. kMalformed where the file does not begin as a spill that we read does.
Result<std::unique_ptr<trace::io::EventSource>> open_spill(std::unique_ptr<trace::io::ByteSource> bytes,
                                                           const std::string& name, trace::io::FaultLog& faults,
                                                           trace::record::PoolReader* rest = nullptr);

}  // namespace jtrace::session
