// EventSource: a trace that is read from somewhere, in whatever format, as events. Together with EventSink it makes
// every conversion. One thread.
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
  bool truncated = false;      // the input breaks off; everything before was handed on
  bool fragments = false;      // elements without a root
};

class EventSource {
 public:
  virtual ~EventSource() = default;
  // Reads everything into `sink` (which the caller finishes). Errors are of category kMalformed, with
  // file:line:column, or the sink's, or of reading. Once.
  virtual Result<ReadSummary> read(EventSink& sink) = 0;
  // Of the element that the sink is being given.
  virtual Position position() const = 0;
};

}  // namespace jtrace::trace::io
