#include "session/document/wait_events.h"

namespace jtrace::session {

namespace record = trace::record;
using trace::ObjectId;
using trace::ThreadId;

namespace {
ObjectId object_of(const record::MonitorRecord& record) {
  return (record.header.flags & record::kSleep) != 0 ? ObjectId::sleep() : ObjectId(record.object);
}
}  // namespace

// When a thread waits until another has initialized or loaded a class, the JVM reports only the end of the wait
// (ObjectMonitor::wait with interruptible == false, objectMonitor.cpp, JDK 8 to 27).
bool WaitEvents::ends_unseen_wait(const record::MonitorRecord& record) const {
  const bool by_jvm = (record.header.flags & (record::kSleep | record::kPark)) == 0;
  if (!by_jvm || !traces(record::kMonWaitEvent)) return false;
  const auto wait = waits_.find(record.thread);
  return wait != waits_.end() && wait->second == kNotWaiting;
}

bool WaitEvents::is_waiting(std::uint64_t thread) const {
  const auto wait = waits_.find(thread);
  return wait != waits_.end() && wait->second != kNotWaiting;
}

void WaitEvents::forget_ended() {
  std::erase_if(waits_, [](const auto& wait) { return wait.second == kNotWaiting; });
}

bool WaitEvents::lacks_begin(const record::MonitorRecord& record, bool has_begun) {
  return (record.header.flags & record::kWhilePaused) != 0 && !has_begun;
}

Result<> WaitEvents::define(const record::MonitorRecord& record) {
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, record.header.time));
  return definitions_.need_object(record.object, record.header.time);
}

Result<> WaitEvents::write_wait(const record::MonitorRecord& record) {
  JTRACE_RETURN_IF_ERROR(define(record));
  const std::uint64_t time = record.header.time;
  waits_[record.thread] = time;
  trace::MonWait wait{ThreadId(record.thread), wall(time), object_of(record), record.argument};
  if ((record.header.flags & record::kPark) != 0) {
    JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.owner, time));
    wait.threadOwner = ThreadId(record.owner);
  }
  return emitter_.emit(wait);
}

Result<> WaitEvents::write_waited(const record::MonitorRecord& record) {
  if (ends_unseen_wait(record) || lacks_begin(record, is_waiting(record.thread))) return {};
  JTRACE_RETURN_IF_ERROR(define(record));
  const std::uint64_t time = record.header.time;
  trace::Number waited;  // unknown if the wait began before the trace
  if (is_waiting(record.thread)) waited = (time - waits_[record.thread]) / 1'000'000;
  waits_[record.thread] = kNotWaiting;
  return emitter_.emit(trace::MonWaited{ThreadId(record.thread), wall(time), object_of(record), waited});
}

Result<> WaitEvents::write_enter(const record::MonitorRecord& record) {
  JTRACE_RETURN_IF_ERROR(define(record));
  const std::uint64_t time = record.header.time;
  const ThreadId thread(record.thread);
  contending_.insert(record.thread);
  if ((record.header.flags & record::kHasOwner) == 0)
    return emitter_.emit(trace::MonContendedEnter{thread, wall(time), object_of(record)});
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.argument, time));
  return emitter_.emit(trace::MonContendedEnter{thread, wall(time), object_of(record), ThreadId(record.argument)});
}

Result<> WaitEvents::write_entered(const record::MonitorRecord& record) {
  if (lacks_begin(record, contending_.count(record.thread) != 0)) return {};
  JTRACE_RETURN_IF_ERROR(define(record));
  contending_.erase(record.thread);
  return emitter_.emit(
      trace::MonContendedEntered{ThreadId(record.thread), wall(record.header.time), object_of(record)});
}

}  // namespace jtrace::session
