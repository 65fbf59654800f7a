// DocumentOutput: the destination of a Drainer's document. One thread.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "trace/event_sink.h"

namespace jtrace::session {

class DocumentOutput {
 public:
  virtual ~DocumentOutput() = default;

  virtual trace::EventSink& sink() = 0;
  // The head of the document is about to be written.
  virtual Result<> begin() = 0;
  virtual Result<> flush() = 0;
  // Makes room for the end of the document if the destination is full.
  virtual void begin_closing() = 0;
  virtual Result<> finish() = 0;

  // At a limit (--max-size) except for `reserve` bytes: the document ends.
  virtual bool is_nearly_full(std::uint64_t reserve) const = 0;
  // The document is finished, and a new one begins; the caller writes its head. kRefused if there is no further one.
  virtual Result<> next_document(std::uint32_t keep) = 0;
  virtual void head_is_written() = 0;  // of a further document
};

}  // namespace jtrace::session
