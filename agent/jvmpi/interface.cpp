#include "agent/jvmpi/interface.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "agent/jvmpi/bridge.h"
#include "agent/jvmpi/class_events.h"
#include "agent/jvmpi/raw_monitors.h"
#include "agent/jvmpi/thread_control.h"

namespace jtrace::agent::jvmpi {
namespace {

jint enable_event(jint event, void*) { return Bridge::get()->enable(event); }
jint disable_event(jint event, void*) { return Bridge::get()->disable(event); }
jint request_event(jint event, void* argument) { return Bridge::get()->request(event, argument); }

void get_call_trace(JVMPI_CallTrace* trace, jint depth) { fill_call_trace(*Bridge::get(), *trace, depth); }

// Ends the process without the JVM's own exit path, which would wait for threads that a handler may block.
void profiler_exit(jint code) {
  Bridge& bridge = *Bridge::get();
  if (bridge.is_live()) bridge.shut_down(bridge.current_env());
  fflush(nullptr);
  _exit(code);
}

jlong get_current_thread_cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

ThreadRecord* record_of(JNIEnv* env) { return Bridge::get()->threads.find(env); }

void suspend(JNIEnv* env) { suspend_thread(*Bridge::get(), env); }
void resume(JNIEnv* env) { resume_thread(*Bridge::get(), env); }
jint get_thread_status(JNIEnv* env) { return thread_status(*Bridge::get(), env); }
jboolean thread_has_run(JNIEnv* env) {
  const ThreadRecord* record = record_of(env);
  return record != nullptr && record->cpu_at_suspend != record->cpu_at_suspend_before ? JNI_TRUE : JNI_FALSE;
}
void suspend_list(jint count, JNIEnv** threads, jint* results) {
  for (jint i = 0; i < count; ++i) results[i] = suspend_thread(*Bridge::get(), threads[i]) ? JVMPI_SUCCESS : JVMPI_FAIL;
}
void resume_list(jint count, JNIEnv** threads, jint* results) {
  for (jint i = 0; i < count; ++i) results[i] = resume_thread(*Bridge::get(), threads[i]) ? JVMPI_SUCCESS : JVMPI_FAIL;
}

jint create_thread(char* name, jint priority, void (*run)(void*)) {
  return create_system_thread(*Bridge::get(), name, priority, run);
}

// The record exists before the profiler learns of a thread. A request for an unknown thread is for a thread of the JVM
// itself (a compiler thread), which has no record.
void set_thread_local_storage(JNIEnv* env, void* value) {
  if (ThreadRecord* record = record_of(env)) record->local.store(value, std::memory_order_release);
}
void* get_thread_local_storage(JNIEnv* env) {
  const ThreadRecord* record = record_of(env);
  return record == nullptr ? nullptr : record->local.load(std::memory_order_acquire);
}

// Ids do not change when the collector moves objects, so the collector need not stop.
void disable_gc() { Bridge::get()->gc_disabled.fetch_add(1); }
void enable_gc() { Bridge::get()->gc_disabled.fetch_sub(1); }
void run_gc() {
  Bridge& bridge = *Bridge::get();
  if (bridge.gc_disabled.load() == 0 && bridge.is_live()) bridge.jvmti->ForceGarbageCollection();
}

jobjectID get_thread_object(JNIEnv* env) {
  Bridge& bridge = *Bridge::get();
  const ThreadUse use(bridge.threads, env);
  JNIEnv* jni = bridge.current_env();
  return use.thread() == nullptr || jni == nullptr ? nullptr : bridge.defined_object(jni, use.thread());
}
jobjectID get_method_class(jmethodID method) {
  Bridge& bridge = *Bridge::get();
  JNIEnv* jni = bridge.current_env();
  if (jni == nullptr) return nullptr;
  LocalFrame frame(jni, 4);
  jclass klass = nullptr;
  if (bridge.jvmti->GetMethodDeclaringClass(method, &klass) != JVMTI_ERROR_NONE) return nullptr;
  return bridge.defined_class(jni, klass);
}

jobject object_of_id(jobjectID id) { return Bridge::get()->ids.object_of(id); }
jobjectID id_of_object(jobject object) {
  Bridge& bridge = *Bridge::get();
  JNIEnv* jni = bridge.current_env();
  return jni == nullptr ? nullptr : bridge.defined_object(jni, object);
}

}  // namespace

void fill_interface(JVMPI_Interface& interface) {
  interface.version = JVMPI_VERSION_1_2;
  interface.EnableEvent = enable_event;
  interface.DisableEvent = disable_event;
  interface.RequestEvent = request_event;
  interface.GetCallTrace = get_call_trace;
  interface.ProfilerExit = profiler_exit;
  interface.RawMonitorCreate = raw_monitor_create;
  interface.RawMonitorEnter = raw_monitor_enter;
  interface.RawMonitorExit = raw_monitor_exit;
  interface.RawMonitorWait = raw_monitor_wait;
  interface.RawMonitorNotifyAll = raw_monitor_notify_all;
  interface.RawMonitorDestroy = raw_monitor_destroy;
  interface.GetCurrentThreadCpuTime = get_current_thread_cpu_time;
  interface.SuspendThread = suspend;
  interface.ResumeThread = resume;
  interface.GetThreadStatus = get_thread_status;
  interface.ThreadHasRun = thread_has_run;
  interface.CreateSystemThread = create_thread;
  interface.SetThreadLocalStorage = set_thread_local_storage;
  interface.GetThreadLocalStorage = get_thread_local_storage;
  interface.DisableGC = disable_gc;
  interface.EnableGC = enable_gc;
  interface.RunGC = run_gc;
  interface.GetThreadObject = get_thread_object;
  interface.GetMethodClass = get_method_class;
  interface.jobjectID2jobject = object_of_id;
  interface.jobject2jobjectID = id_of_object;
  interface.SuspendThreadList = suspend_list;
  interface.ResumeThreadList = resume_list;
}

}  // namespace jtrace::agent::jvmpi
