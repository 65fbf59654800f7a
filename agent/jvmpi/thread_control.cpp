#include "agent/jvmpi/thread_control.h"

#include <algorithm>
#include <vector>

#include "agent/jvmpi/line_table.h"
#include "agent/jvmpi/method_events.h"

namespace jtrace::agent::jvmpi {
namespace {

constexpr jint kNativeMethod = -3;  // the line number that hprof expects of native methods
constexpr jint kCalloutFrames = 2;  // frames of the helper: enter and its native method

jint line_of(jvmtiEnv* jvmti, const jvmtiFrameInfo& frame) {
  return frame.location < 0 ? kNativeMethod : LineTable(jvmti, frame.method).at(frame.location);
}

struct SystemThread {
  void (*run)(void*);
};

void JNICALL system_thread_main(jvmtiEnv*, JNIEnv*, void* argument) {
  const SystemThread thread = *static_cast<SystemThread*>(argument);
  delete static_cast<SystemThread*>(argument);
  thread.run(nullptr);
}

jlong cpu_time(Bridge& bridge, const ThreadUse& use) {
  jlong time = 0;
  bridge.jvmti->GetThreadCpuTime(use.thread(), &time);
  return time;
}

}  // namespace

void fill_call_trace(Bridge& bridge, JVMPI_CallTrace& trace, jint depth) {
  trace.num_frames = 0;
  const ThreadUse use(bridge.threads, trace.env_id);
  if (use.thread() == nullptr || depth <= 0) return;
  const jint most = std::min(depth, bridge.looks.most_frames() - kCalloutFrames) + kCalloutFrames;
  std::vector<jvmtiFrameInfo> frames(static_cast<std::size_t>(most));
  const jint count = bridge.looks.frames_of(bridge.jvmti, use.thread(), 0, most, frames.data());
  jint first = 0;
  while (first < count && first < kCalloutFrames &&
         bridge.methods->is_callout(frames[static_cast<std::size_t>(first)].method))
    ++first;
  for (jint i = first; i < count && trace.num_frames < depth; ++i) {
    const jvmtiFrameInfo& frame = frames[static_cast<std::size_t>(i)];
    trace.frames[trace.num_frames++] = {line_of(bridge.jvmti, frame), frame.method};
  }
}

bool resume_thread(Bridge& bridge, JNIEnv* env) {
  const ThreadUse use(bridge.threads, env);
  if (use.thread() == nullptr || !use.record().suspended.exchange(false)) return false;
  return bridge.jvmti->ResumeThread(use.thread()) == JVMTI_ERROR_NONE;
}

jint thread_status(Bridge& bridge, JNIEnv* env) {
  const ThreadUse use(bridge.threads, env);
  jint state = 0;
  if (use.thread() == nullptr || bridge.jvmti->GetThreadState(use.thread(), &state) != JVMTI_ERROR_NONE)
    return JVMPI_THREAD_RUNNABLE;
  jint status = JVMPI_THREAD_RUNNABLE;
  if ((state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) != 0) status = JVMPI_THREAD_MONITOR_WAIT;
  else if ((state & JVMTI_THREAD_STATE_WAITING) != 0) status = JVMPI_THREAD_CONDVAR_WAIT;
  // The status does not show what SuspendThread did.
  if ((state & JVMTI_THREAD_STATE_SUSPENDED) != 0 && !use.record().suspended) status |= JVMPI_THREAD_SUSPENDED;
  if ((state & JVMTI_THREAD_STATE_INTERRUPTED) != 0) status |= JVMPI_THREAD_INTERRUPTED;
  return status;
}

bool suspend_thread(Bridge& bridge, JNIEnv* env) {
  const ThreadUse use(bridge.threads, env);
  if (use.thread() == nullptr) return false;
  ThreadRecord& record = use.record();
  jvmtiCapabilities needed{};
  needed.can_suspend = 1;
  // Only one agent in a JVM can have this capability, so it is requested when it is needed.
  if (!bridge.take(needed) || bridge.jvmti->SuspendThread(use.thread()) != JVMTI_ERROR_NONE) return false;
  if (record.leaves || record.thread != use.thread()) {  // it could not be resumed (Threads::remove)
    bridge.jvmti->ResumeThread(use.thread());
    return false;
  }
  record.suspended = true;
  record.cpu_at_suspend_before = record.cpu_at_suspend;
  record.cpu_at_suspend = cpu_time(bridge, use);
  return true;
}

jint create_system_thread(Bridge& bridge, const char* name, jint priority, void (*run)(void*)) {
  JNIEnv* jni = bridge.current_env();
  if (jni == nullptr || !bridge.is_live() || run == nullptr) return JNI_ERR;
  LocalFrame frame(jni, 8);
  jthread thread = Bridge::new_thread(jni, name == nullptr ? "" : name);
  if (thread == nullptr) return JNI_ERR;
  auto* argument = new SystemThread{run};
  if (bridge.jvmti->RunAgentThread(thread, system_thread_main, argument, priority) == JVMTI_ERROR_NONE) return JNI_OK;
  delete argument;
  return JNI_ERR;
}

}  // namespace jtrace::agent::jvmpi
