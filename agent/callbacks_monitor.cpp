// monWait, monWaited, monContendedEnter, monContendedEntered.
#include <atomic>

#include "agent/callback_guard.h"
#include "agent/callbacks.h"
#include "base/clock.h"

namespace jtrace::agent {
namespace {

void write_monitor_event(const CallbackGuard& guard, JNIEnv* jni, jthread thread, jobject object,
                         record::RecordKind kind, record::MonitorRecord& made) {
  Recorder& recorder = guard.recorder();
  made.thread = recorder.threads.defined(jni, thread);
  made.object = recorder.registry->object_id(jni, object);
  if (made.thread == 0 || made.object == 0) {
    recorder.writer.count_dropped(1);
    return;
  }
  guard.write(made, kind);
}

void JNICALL monitor_wait(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject object, jlong timeout) {
  CallbackGuard guard;
  if (!guard) return;
  record::MonitorRecord made{};
  made.argument = timeout > 0 ? static_cast<std::uint64_t>(timeout) : 0;
  write_monitor_event(guard, jni, thread, object, record::RecordKind::kMonWait, made);
}

// A wait that began in the trace ends in it, also while the trace is paused; jtrace knows which waits did. An unknown
// object did not appear in the begin of a wait.
bool is_reportable_end(const CallbackGuard& guard, jobject object, record::MonitorRecord& made) {
  if (!guard) return false;
  if (!guard.recorder().paused.load(std::memory_order_relaxed)) return true;
  made.header.flags |= record::kWhilePaused;
  return guard.recorder().registry->is_known(object);
}

void JNICALL monitor_waited(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject object, jboolean timed_out) {
  const CallbackGuard guard(CallbackGuard::kEnd);
  record::MonitorRecord made{};
  made.header.flags = timed_out ? record::kTimedOut : 0;
  if (!is_reportable_end(guard, object, made)) return;
  write_monitor_event(guard, jni, thread, object, record::RecordKind::kMonWaited, made);
}

// Owners without --monitor-owner: after a search that took a time T, none is begun for a hundred times T. One thread at
// a time looks for one: threads that come to a monitor together would wait for each other's safepoints. Any thread.
class OwnerBudget {
 public:
  // Whether the caller may look, and then spend(). When nothing was spent for a second, 10 ms may be spent at once.
  bool claim(std::uint64_t now) {
    if (paid_until_.load(std::memory_order_relaxed) >= now + kAtOnce) return false;
    return !is_taken_.exchange(true, std::memory_order_acquire);
  }
  void spend(std::uint64_t start, std::uint64_t end) {
    const std::uint64_t until = paid_until_.load(std::memory_order_relaxed);
    paid_until_.store((until > start ? until : start) + kTimes * (end - start), std::memory_order_relaxed);
    is_taken_.store(false, std::memory_order_release);
  }

 private:
  static constexpr std::uint64_t kTimes = 100, kAtOnce = 1'000'000'000;  // ns
  std::atomic<std::uint64_t> paid_until_{0};                             // monotonic ns
  std::atomic<bool> is_taken_{false};
};
constinit OwnerBudget owner_budget;

// The threadId of the monitor's owner; 0 if it has none any more. False if it is not known, or there is no room for its
// definition. Takes a safepoint or handshake.
bool owner_of(Recorder& recorder, JNIEnv* jni, jobject object, std::uint64_t& owner) {
  jvmtiMonitorUsage usage{};
  if (recorder.jvmti->GetObjectMonitorUsage(object, &usage) != JVMTI_ERROR_NONE) return false;
  const bool is_owned = usage.owner != nullptr;
  owner = is_owned ? recorder.threads.defined_other(jni, usage.owner) : 0;
  if (is_owned) jni->DeleteLocalRef(usage.owner);
  for (jint i = 0; i < usage.waiter_count; ++i) jni->DeleteLocalRef(usage.waiters[i]);
  for (jint i = 0; i < usage.notify_waiter_count; ++i) jni->DeleteLocalRef(usage.notify_waiters[i]);
  recorder.jvmti->Deallocate(reinterpret_cast<unsigned char*>(usage.waiters));
  recorder.jvmti->Deallocate(reinterpret_cast<unsigned char*>(usage.notify_waiters));
  return !is_owned || owner != 0;
}

void note_wait(Recorder& recorder, JNIEnv* jni, jthread thread, std::uint64_t id, bool is_over) {
  if (recorder.note_monitor_wait != nullptr && id != 0) recorder.note_monitor_wait(recorder, jni, thread, id, is_over);
}

void JNICALL monitor_contended_enter(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject object) {
  CallbackGuard guard;
  if (!guard) return;
  record::MonitorRecord made{};
  const std::uint64_t start = monotonic_ns();
  const bool wanted = guard.recorder().config.has_flag(record::kMonitorOwner);
  // Where there are virtual threads JVM TI waits until those that are being mounted or unmounted have finished, which
  // may need what this thread holds: there only who asks for owners has them.
  if (wanted || (!guard.recorder().threads.had_virtual() && owner_budget.claim(start))) {
    if (owner_of(guard.recorder(), jni, object, made.argument)) made.header.flags = record::kHasOwner;
    if (!wanted) owner_budget.spend(start, monotonic_ns());
  }
  write_monitor_event(guard, jni, thread, object, record::RecordKind::kMonContendedEnter, made);
  note_wait(guard.recorder(), jni, thread, made.thread, false);
}

void JNICALL monitor_contended_entered(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject object) {
  const CallbackGuard guard(CallbackGuard::kEnd);
  record::MonitorRecord made{};
  if (!is_reportable_end(guard, object, made)) return;
  write_monitor_event(guard, jni, thread, object, record::RecordKind::kMonContendedEntered, made);
  note_wait(guard.recorder(), jni, thread, made.thread, true);
}

}  // namespace

void install_monitor_callbacks(EventCallbacks& callbacks) {
  callbacks.set(JVMTI_EVENT_MONITOR_WAIT, monitor_wait);
  callbacks.set(JVMTI_EVENT_MONITOR_WAITED, monitor_waited);
  callbacks.set(JVMTI_EVENT_MONITOR_CONTENDED_ENTER, monitor_contended_enter);
  callbacks.set(JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, monitor_contended_entered);
}

}  // namespace jtrace::agent
