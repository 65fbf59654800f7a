// CollectionEvents: gcStart and gcFinish. A gcFinish is held back until its figures have come,
// in a record of their own, and with nested frees until the objFree events of its collection
// have come. Records that come meanwhile wait, bounded in time and number. One thread.
#pragma once

#include <deque>

#include "session/document/collection_causes.h"
#include "session/document/event_part.h"
#include "session/document/object_events.h"

namespace jtrace::session {

class CollectionEvents : private EventPart {
 public:
  // `objects`: borrowed; writes the ends that are within a collection.
  CollectionEvents(const BuilderContext& context, ObjectEvents& objects) : EventPart(context), objects_(objects) {}

  Result<> write_start(const trace::record::ThreadRecord& record);
  // What the gcFinish of the same number says of its cause.
  void take_cause(const trace::record::GcCauseRecord& record);
  // Written at once, or held back.
  Result<> take_finish(const trace::record::GcFinishRecord& record);

  bool is_holding() const { return holding_; }
  // A record that comes while a gcFinish is held back. True: it is to be released now.
  Result<bool> hold(const TimedRecord& record);
  bool may_release(std::uint64_t time) const;
  // Writes the held gcFinish. The records that came after it go to the front of `input`, to be processed next.
  Result<> release(std::deque<TimedRecord>& input);

 private:
  static constexpr std::uint64_t kFiguresWait = 100'000'000;   // ns that a gcFinish waits for its figures
  static constexpr std::uint64_t kFreesWait = 100'000'000;     // ... for the next objFree of its collection
  static constexpr std::uint64_t kFreesLimit = 1'000'000'000;  // ... and for all of them
  static constexpr std::size_t kHoldLimit = 200'000;           // records

  using Cause = trace::record::GcCauseRecord;
  struct HeldFinish {
    trace::record::GcFinishRecord record;
    Cause cause;
    bool figures_follow;
    std::uint64_t last_free;
  };
  void take_figures(const TimedRecord& record);
  Result<> write_finish(const trace::record::GcFinishRecord& record, const Cause& cause);
  Cause cause_of(std::uint32_t number) const;

  ObjectEvents& objects_;
  Cause cause_{};  // the last one
  CycleCauses cycles_;
  bool holding_ = false;
  HeldFinish held_{};
  std::deque<TimedRecord> later_;  // what came after the held gcFinish
};

}  // namespace jtrace::session
