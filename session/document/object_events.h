// ObjectEvents: objAlloc, objFree and classUnload. The end of an object waits for the calls on it that are open, and
// with nested frees for the next gcStart. One thread.
#pragma once

#include <deque>

#include "session/document/event_part.h"
#include "session/document/object_sequences.h"

namespace jtrace::session {

class ObjectEvents : private EventPart {
 public:
  explicit ObjectEvents(const BuilderContext& context) : EventPart(context) {}

  Result<> write_alloc(const trace::record::ObjAllocRecord& record);
  // Writes objFree or classUnload, if the document has defined the object or class.
  Result<> write_end(const trace::record::ObjectRecord& record);
  // As write_end() if no collection is open; with nested frees it is kept for the next one.
  Result<> take_end(const trace::record::ObjectRecord& record);
  // Writes those that were kept.
  Result<> write_kept_ends();
  // Writes the ends of objects whose last call has ended.
  Result<> write_due_ends(std::uint64_t time);

  ObjectSequences& sequences() { return sequences_; }

 private:
  static constexpr std::size_t kMostKept = 200'000;
  ObjectSequences sequences_;
  std::deque<trace::record::ObjectRecord> kept_ends_;
};

}  // namespace jtrace::session
