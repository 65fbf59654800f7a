// EventSource: reads a trace in some format as events. EventSource and EventSink together make every conversion. One
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "trace/event_sink.h"
#include "trace/io/fault_log.h"

namespace jtrace::trace::io {

struct ReadSummary {
  std::uint64_t elements = 0;  // events handed to the sink
  bool truncated = false;      // the input is cut off; everything before was passed on
  bool fragments = false;      // elements without a root
};

class EventSource {
 public:
  virtual ~EventSource() = default;
  // Reads everything into `sink` (which the caller finishes). Errors are kMalformed with file:line:column, the sink's,
  // or those of reading. Call it once.
  virtual Result<ReadSummary> read(EventSink& sink) = 0;
  // The position of the element that is being passed to the sink.
  virtual Position position() const = 0;
};

}  // namespace jtrace::trace::io
