#include "agent/jvmpi/wait_events.h"

#include "agent/jvmpi/bridge.h"
#include "base/clock.h"

namespace jtrace::agent::jvmpi {
namespace {

void send_wait(jint type, JNIEnv* jni, jthread thread, jobject object, jlong timeout) {
  Bridge* bridge = Bridge::get_live();
  if (bridge == nullptr || !bridge->wants(type)) return;
  if (bridge->defined_thread(jni, jni, thread) == nullptr) return;
  JVMPI_Event event = event_of(type, jni);
  event.u.monitor_wait.object = bridge->defined_object(jni, object);
  event.u.monitor_wait.timeout = timeout;
  bridge->notify(event);
}

constexpr jlong kNanosPerMilli = 1'000'000;

jlong milliseconds() { return static_cast<jlong>(monotonic_ns()) / kNanosPerMilli; }

void JNICALL monitor_wait(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject object, jlong timeout) {
  Bridge* bridge = Bridge::get_live();
  if (bridge == nullptr) return;
  if (ThreadRecord* record = bridge->defined_thread(jni, jni, thread)) record->wait_began = milliseconds();
  send_wait(JVMPI_EVENT_MONITOR_WAIT, jni, thread, object, timeout);
}

// In this event the timeout is the time that the thread waited.
void JNICALL monitor_waited(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject object, jboolean) {
  Bridge* bridge = Bridge::get_live();
  if (bridge == nullptr) return;
  ThreadRecord* record = bridge->defined_thread(jni, jni, thread);
  const jlong began = record == nullptr ? 0 : record->wait_began;
  send_wait(JVMPI_EVENT_MONITOR_WAITED, jni, thread, object, began == 0 ? 0 : milliseconds() - began);
}

// --- Thread.sleep ----------------------------------------------------------------------------------------------------

void send_sleep(Bridge& bridge, jint type, JNIEnv* jni, jlong timeout) {
  if (!bridge.wants(type)) return;
  JVMPI_Event event = event_of(type, jni);
  event.u.monitor_wait.timeout = timeout;
  bridge.notify(event);
}

OpenWait sleep_begins(JNIEnv* jni, jlong nanos) {
  Bridge* bridge = Bridge::get_live();
  if (bridge == nullptr || nanos < 0) return {};
  ThreadRecord* record = bridge->current_thread(jni);
  if (record == nullptr) return {};
  const jlong began = milliseconds();
  send_sleep(*bridge, JVMPI_EVENT_MONITOR_WAIT, jni, nanos / kNanosPerMilli + (nanos % kNanosPerMilli != 0 ? 1 : 0));
  return {static_cast<std::uint64_t>(began), 0};
}

// The profiler may call JNI: the exception that interrupted the sleep is thrown afterwards.
void sleep_ends(JNIEnv* jni, const OpenWait& wait) {
  Bridge* bridge = wait.token == 0 ? nullptr : Bridge::get_live();
  if (bridge == nullptr) return;
  jthrowable thrown = jni->ExceptionOccurred();
  if (thrown != nullptr) jni->ExceptionClear();
  send_sleep(*bridge, JVMPI_EVENT_MONITOR_WAITED, jni, milliseconds() - static_cast<jlong>(wait.token));
  if (thrown != nullptr) jni->Throw(thrown);
}

}  // namespace

const SleepObserver kSleepEvents = {sleep_begins, sleep_ends};

void install_wait_callbacks(EventCallbacks& callbacks) {
  callbacks.set(JVMTI_EVENT_MONITOR_WAIT, monitor_wait);
  callbacks.set(JVMTI_EVENT_MONITOR_WAITED, monitor_waited);
}

}  // namespace jtrace::agent::jvmpi
