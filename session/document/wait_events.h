// WaitEvents: monWait, monWaited and monContendedEnter, monContendedEntered; the duration of a wait. One thread.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "session/document/event_part.h"

namespace jtrace::session {

class WaitEvents : private EventPart {
 public:
  explicit WaitEvents(const BuilderContext& context) : EventPart(context) {}

  Result<> write_wait(const trace::record::MonitorRecord& record);
  Result<> write_waited(const trace::record::MonitorRecord& record);
  Result<> write_enter(const trace::record::MonitorRecord& record);
  Result<> write_entered(const trace::record::MonitorRecord& record);

  void forget_thread(std::uint64_t thread) {
    waits_.erase(thread);
    contending_.erase(thread);
  }
  // A thread may have waited since the end of its last wait.
  void forget_ended();
  void forget_all() {
    waits_.clear();
    contending_.clear();
  }

 private:
  static constexpr std::uint64_t kNotWaiting = 0;

  bool ends_unseen_wait(const trace::record::MonitorRecord& record) const;
  bool is_waiting(std::uint64_t thread) const;
  // True for an end that was recorded while the trace was paused, if the document does not have its begin.
  static bool lacks_begin(const trace::record::MonitorRecord& record, bool has_begun);
  // Writes the definitions that the event needs.
  Result<> define(const trace::record::MonitorRecord& record);

  // thread -> time of the monWait that it is in, kNotWaiting after its end; absent: its waits are not known yet
  std::unordered_map<std::uint64_t, std::uint64_t> waits_;
  std::unordered_set<std::uint64_t> contending_;  // threads between monContendedEnter and monContendedEntered
};

}  // namespace jtrace::session
