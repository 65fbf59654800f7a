// JSON lines as events: what make_jsonl_writer writes, and JSON like it: an object a line, its "element" first.
// Streams; a line is at most kMaxJsonLine long. Names that the format does not know are left out and counted, as in
// XML. One thread.
#pragma once

#include <memory>
#include <string>

#include "trace/io/byte_source.h"
#include "trace/io/event_source.h"

namespace jtrace::trace::io {

inline constexpr std::size_t kMaxJsonLine = 16u << 20;

// `name` stands in messages. `faults`: borrowed. `strict`: an input that breaks off is an error.
std::unique_ptr<EventSource> make_jsonl_source(std::unique_ptr<ByteSource> bytes, std::string name, FaultLog& faults,
                                               bool strict);

}  // namespace jtrace::trace::io
