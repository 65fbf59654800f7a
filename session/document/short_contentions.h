// ShortContentions: with a least time (--min-contention), keeps contentions that are shorter out of the document, and
// counts them. The begin of a contention is held back until the contention is over or has lasted so long; what comes
// meanwhile waits too, so that the order stays. It is written if its end may have been lost, and if too much waits. One
// thread.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "session/document/event_part.h"
#include "trace/short_contentions.h"

namespace jtrace::session {

class ShortContentions : private EventPart {
 public:
  explicit ShortContentions(const BuilderContext& context) : EventPart(context) {}

  // Whether the record must go through take().
  bool holds(const TimedRecord& record) const {
    return !held_.empty() || (is_limited() && record.header().kind == trace::record::RecordKind::kMonContendedEnter);
  }
  bool is_holding() const { return !held_.empty(); }
  void take(const TimedRecord& record);
  // The next record whose turn has come when no record before `time` (monotonic, ns) will follow.
  std::optional<TimedRecord> next(std::uint64_t time);
  // Writes how many were too short, since the last call.
  Result<> write_counts();

 private:
  static constexpr std::size_t kHoldLimit = 200'000;  // records

  struct Held {
    TimedRecord record;
    bool is_open = false;      // a contention of which it is not known how long it takes
    bool is_left_out = false;  // a short one
  };
  // Without ends nothing is known to be short.
  bool is_limited() const { return options_.min_contention != 0 && traces(trace::record::kMonContendedEnteredEvent); }
  Held* open_of(std::uint64_t thread);
  void keep_open_of(std::uint64_t thread);
  void keep_all_open();
  bool is_end_of_short(const TimedRecord& record);
  void count(const trace::record::MonitorRecord& enter, std::uint64_t ns);

  std::deque<Held> held_;
  std::uint64_t first_ = 0;                                            // number of the first of held_
  std::unordered_map<std::uint64_t, std::uint64_t> open_;              // thread -> number of its begin
  std::map<std::string, trace::ShortContentions, std::less<>> short_;  // by class
};

}  // namespace jtrace::session
