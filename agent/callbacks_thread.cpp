// threadStart, threadEnd: platform threads, and virtual threads if they are asked for (JDK 21 and later).
#include "agent/callback_guard.h"
#include "agent/callbacks.h"

namespace jtrace::agent {
namespace {

void thread_started(const CallbackGuard& guard, JNIEnv* jni, jthread thread) {
  Recorder& recorder = guard.recorder();
  const std::uint64_t id = recorder.threads.id_of(jni, thread);
  if (!recorder.threads.is_own(id)) recorder.threads.began(jni, thread);
}

void thread_ended(const CallbackGuard& guard, JNIEnv* jni, jthread thread) {
  Recorder& recorder = guard.recorder();
  const std::uint64_t id = recorder.threads.id_of(jni, thread);
  if (recorder.threads.is_own(id)) return;
  if (recorder.threads.defined(jni, thread) == 0) {
    // There was never room for its definition: neither its start nor its end is in the trace.
    recorder.writer.count_dropped(recorder.config.wants(record::kThreadStartEvent) ? 2 : 1);
    return;
  }
  record::ThreadRecord made{};
  made.thread = id;
  // A thread that has ended has no frames. For the thread that ends the JVM (System.exit, Runtime.halt) the frames are
  // those at that point (before_exit, java.cpp, JDK 8 to 27).
  jint frames = 0;
  const bool within = recorder.jvmti->GetFrameCount(thread, &frames) == JVMTI_ERROR_NONE && frames > 0;
  if (within && !recorder.threads.is_virtual(jni, thread)) made.header.flags = record::kWithinCalls;
  guard.write(made, record::RecordKind::kThreadEnd);
}

void JNICALL thread_start(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  CallbackGuard guard(CallbackGuard::kLifecycle);
  if (!guard) return;
  guard.producer().thread_is_over = false;  // a native thread may attach to the JVM again
  thread_started(guard, jni, thread);
}

void JNICALL thread_end(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  CallbackGuard guard(CallbackGuard::kLifecycle);
  if (!guard) return;
  thread_ended(guard, jni, thread);
  guard.producer().leave(guard.recorder().writer);
  guard.producer().thread_is_over = true;
}

// These callbacks run on the carrier, which continues.
void JNICALL virtual_thread_start(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  CallbackGuard guard(CallbackGuard::kLifecycle);
  if (guard) thread_started(guard, jni, thread);
}

void JNICALL virtual_thread_end(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  CallbackGuard guard(CallbackGuard::kLifecycle);
  if (guard) thread_ended(guard, jni, thread);
}

}  // namespace

void install_thread_callbacks(EventCallbacks& callbacks) {
  callbacks.set(JVMTI_EVENT_THREAD_START, thread_start);
  callbacks.set(JVMTI_EVENT_THREAD_END, thread_end);
  callbacks.set(kEventVirtualThreadStart, virtual_thread_start);
  callbacks.set(kEventVirtualThreadEnd, virtual_thread_end);
}

}  // namespace jtrace::agent
