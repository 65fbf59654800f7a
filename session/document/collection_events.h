// CollectionEvents: gcStart, gcFinish, and the collections that are more than one pause. A gcFinish is held back until
// its figures have come, in a record of their own, and with nested frees until the objFree events of its collection
// have come. Records that come meanwhile wait, bounded in time and number. One thread.
#pragma once

#include <deque>
#include <vector>

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

  // The end of a collection: of its pauses that were written, and have one number or another up to the record's.
  Result<> write_collection(const trace::record::GcFinishRecord& record);

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
  struct Pause {
    std::uint32_t number;
    std::uint64_t start;  // monotonic ns
    Cause cause;
  };
  void note_pause(const trace::record::GcFinishRecord& record, const Cause& cause);
  std::vector<Pause> take_pauses(const trace::record::GcFinishRecord& end);
  void take_figures(const TimedRecord& record);
  Result<> write_finish(const trace::record::GcFinishRecord& record, const Cause& cause);
  Cause cause_of(std::uint32_t number) const;

  ObjectEvents& objects_;
  static constexpr std::size_t kMostPauses = 1000;  // that wait for the end of their collection

  Cause cause_{};             // the last one
  std::uint64_t start_ = 0;   // of the last pause
  std::deque<Pause> pauses_;  // whose collection has not ended
  CycleCauses cycles_;
  bool holding_ = false;
  HeldFinish held_{};
  std::deque<TimedRecord> later_;  // what came after the held gcFinish
};

}  // namespace jtrace::session
