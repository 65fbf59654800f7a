// Reads JSON lines as events: the output of make_jsonl_writer, and similar JSON: one object per line, "element" first.
// Streams; a line has at most kMaxJsonLine bytes. Unknown names are left out and counted, as in XML. One thread.
#pragma once

#include <memory>
#include <string>

#include "trace/io/byte_source.h"
#include "trace/io/event_source.h"

namespace jtrace::trace::io {

inline constexpr std::size_t kMaxJsonLine = 16u << 20;

// `name` is used in messages. `faults`: borrowed. `strict`: an input that is cut off is an error.
std::unique_ptr<EventSource> make_jsonl_source(std::unique_ptr<ByteSource> bytes, std::string name, FaultLog& faults,
                                               bool strict);

}  // namespace jtrace::trace::io
