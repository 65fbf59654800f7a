// StandstillEvents: processSuspend and processResume, from jtrace's observation of the process. One thread.
#pragma once

#include <deque>
#include <optional>

#include "session/document/event_part.h"

namespace jtrace::session {

struct Standstill {
  std::uint64_t time;  // monotonic
  bool still;
};

class StandstillEvents : private EventPart {
 public:
  explicit StandstillEvents(const BuilderContext& context) : EventPart(context) {}

  // The process was seen standing still at that time, or continues (then `time` is that of the last check that found it
  // standing still).
  void add(const Standstill& seen) { seen_.push_back(seen); }
  // The next one that was observed by this time; returned once.
  std::optional<Standstill> take_until(std::uint64_t time) {
    if (seen_.empty() || seen_.front().time > time) return std::nullopt;
    const Standstill next = seen_.front();
    seen_.pop_front();
    return next;
  }

  Result<> write(const Standstill& seen) {
    if (seen.still) still_until_ = seen.time;
    if (seen.still == is_still_) return {};
    is_still_ = seen.still;
    if (seen.still) return emitter_.emit(trace::ProcessSuspend{.time = wall(seen.time)});
    return emitter_.emit(trace::ProcessResume{.time = wall(still_until_)});
  }
  // An event of the process shows that it continues.
  Result<> end_before(std::uint64_t time) {
    return is_still_ && time > still_until_ ? write({still_until_, false}) : Result<>();
  }
  void forget() {
    seen_.clear();
    is_still_ = false;
  }

 private:
  std::deque<Standstill> seen_;
  bool is_still_ = false;          // as in the document
  std::uint64_t still_until_ = 0;  // at least
};

}  // namespace jtrace::session
