#include "agent/jvmpi/callbacks.h"

#include <vector>

#include "agent/jvmpi/bridge.h"
#include "agent/jvmpi/class_events.h"
#include "agent/jvmpi/gc_events.h"
#include "agent/jvmpi/line_table.h"
#include "agent/jvmpi/method_events.h"
#include "agent/jvmpi/wait_events.h"

namespace jtrace::agent::jvmpi {
namespace {

Bridge* live_bridge() { return Bridge::get_live(); }

void JNICALL vm_init(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  if (Bridge* bridge = Bridge::get()) bridge->go_live(jni, thread);
}

void JNICALL vm_death(jvmtiEnv*, JNIEnv* jni) {
  if (Bridge* bridge = Bridge::get()) bridge->shut_down(jni);
}

void JNICALL thread_start(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  if (Bridge* bridge = live_bridge()) bridge->thread_started(jni, jni, thread);
}

void JNICALL thread_end(jvmtiEnv*, JNIEnv* jni, jthread) {
  Bridge* bridge = live_bridge();
  ThreadRecord* record = bridge == nullptr ? nullptr : bridge->threads.find(jni);
  if (record == nullptr) return;
  if (bridge->wants(JVMPI_EVENT_THREAD_END)) {
    JVMPI_Event event = event_of(JVMPI_EVENT_THREAD_END, jni);
    bridge->notify(event);
  }
  bridge->threads.remove(jni, *record);
}

void JNICALL class_prepare(jvmtiEnv*, JNIEnv* jni, jthread thread, jclass klass) {
  Bridge* bridge = Bridge::get();
  if (bridge == nullptr || bridge->methods->class_prepared(jni, klass) || !bridge->is_live()) return;
  bridge->defined_thread(jni, jni, thread);
  if (bridge->wants_any(bit_of(JVMPI_EVENT_CLASS_LOAD) | bit_of(JVMPI_EVENT_CLASS_UNLOAD)))
    bridge->defined_class(jni, klass);
}

void JNICALL class_file_load_hook(jvmtiEnv*, JNIEnv*, jclass, jobject, const char*, jobject, jint size,
                                  const unsigned char* data, jint* new_size, unsigned char** new_data) {
  if (Bridge* bridge = live_bridge())
    bridge->methods->class_file({data, static_cast<std::size_t>(size)}, new_size, new_data);
}

// --- monitors --------------------------------------------------------------------------------------------------------

void send_monitor(Bridge& bridge, JNIEnv* jni, jint type, JNIEnv* env, jobject object) {
  if (!bridge.wants(type)) return;
  JVMPI_Event event = event_of(type, env);
  event.u.monitor.object = bridge.defined_object(jni, object);
  bridge.notify(event);
}

// The thread that holds a monitor; null if there is none, or if it is not reported to profilers.
JNIEnv* owner_of(Bridge& bridge, JNIEnv* jni, jobject object) {
  LocalFrame frame(jni, 64);
  jvmtiMonitorUsage usage{};
  if (bridge.jvmti->GetObjectMonitorUsage(object, &usage) != JVMTI_ERROR_NONE) return nullptr;
  bridge.jvmti->Deallocate(reinterpret_cast<unsigned char*>(usage.waiters));
  bridge.jvmti->Deallocate(reinterpret_cast<unsigned char*>(usage.notify_waiters));
  return usage.owner == nullptr ? nullptr : bridge.threads.env_of(jni, usage.owner);
}

// JVM TI has no event for the exit. It is sent when the waiting thread gets the monitor, from that thread, as an event
// of the thread that held the monitor when the wait began.
void JNICALL monitor_contended_enter(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject object) {
  Bridge* bridge = live_bridge();
  if (bridge == nullptr) return;
  ThreadRecord* record = bridge->defined_thread(jni, jni, thread);
  if (record == nullptr) return;
  if (bridge->wants(JVMPI_EVENT_MONITOR_CONTENDED_EXIT)) record->contended_with = owner_of(*bridge, jni, object);
  send_monitor(*bridge, jni, JVMPI_EVENT_MONITOR_CONTENDED_ENTER, jni, object);
}

void JNICALL monitor_contended_entered(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject object) {
  Bridge* bridge = live_bridge();
  if (bridge == nullptr) return;
  ThreadRecord* record = bridge->defined_thread(jni, jni, thread);
  if (record == nullptr) return;
  if (record->contended_with != nullptr) {
    send_monitor(*bridge, jni, JVMPI_EVENT_MONITOR_CONTENDED_EXIT, record->contended_with, object);
    record->contended_with = nullptr;
  }
  send_monitor(*bridge, jni, JVMPI_EVENT_MONITOR_CONTENDED_ENTERED, jni, object);
}

// --- objects ---------------------------------------------------------------------------------------------------------

void object_allocated(JNIEnv* jni, jthread thread, jobject object, jclass klass, jlong size) {
  Bridge* bridge = live_bridge();
  if (bridge == nullptr || !bridge->wants(JVMPI_EVENT_OBJECT_ALLOC)) return;
  if (bridge->defined_thread(jni, jni, thread) == nullptr)
    return;  // otherwise it is sent when the object first appears
  bridge->object_allocated(jni, object, klass, size);
}
void JNICALL sampled_object_alloc(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject object, jclass klass, jlong size) {
  object_allocated(jni, thread, object, klass, size);
}
void JNICALL vm_object_alloc(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject object, jclass klass, jlong size) {
  object_allocated(jni, thread, object, klass, size);
}

// --- compiled code ---------------------------------------------------------------------------------------------------

std::vector<JVMPI_Lineno> lines_of_code(jvmtiEnv* jvmti, jmethodID method, const void* code, jint map_length,
                                        const jvmtiAddrLocationMap* map) {
  std::vector<JVMPI_Lineno> made;
  if (map == nullptr) return made;
  const LineTable lines(jvmti, method);
  for (jint i = 0; i < map_length; ++i) {
    const jint line = lines.at(map[i].location);
    const auto offset = static_cast<const char*>(map[i].start_address) - static_cast<const char*>(code);
    if (line >= 0) made.push_back({static_cast<jint>(offset), line});
  }
  return made;
}

void JNICALL compiled_method_load(jvmtiEnv* jvmti, jmethodID method, jint size, const void* code, jint map_length,
                                  const jvmtiAddrLocationMap* map, const void*) {
  Bridge* bridge = live_bridge();
  if (bridge == nullptr || !bridge->wants(JVMPI_EVENT_COMPILED_METHOD_LOAD)) return;
  std::vector<JVMPI_Lineno> lines = lines_of_code(jvmti, method, code, map_length, map);
  JVMPI_Event event = event_of(JVMPI_EVENT_COMPILED_METHOD_LOAD, bridge->current_env());
  auto& load = event.u.compiled_method_load;
  load.method_id = method;
  load.code_addr = const_cast<void*>(code);
  load.code_size = size;
  load.lineno_table_size = static_cast<jint>(lines.size());
  load.lineno_table = lines.data();
  bridge->notify(event);
}

void JNICALL compiled_method_unload(jvmtiEnv*, jmethodID method, const void*) {
  Bridge* bridge = live_bridge();
  if (bridge == nullptr || !bridge->wants(JVMPI_EVENT_COMPILED_METHOD_UNLOAD)) return;
  JVMPI_Event event = event_of(JVMPI_EVENT_COMPILED_METHOD_UNLOAD, bridge->current_env());
  event.u.compiled_method_unload.method_id = method;
  bridge->notify(event);
}

// --- the rest --------------------------------------------------------------------------------------------------------

void JNICALL data_dump_request(jvmtiEnv*) {
  Bridge* bridge = live_bridge();
  if (bridge == nullptr) return;
  JVMPI_Event event = event_of(JVMPI_EVENT_DATA_DUMP_REQUEST, bridge->current_env());
  bridge->notify(event);
}

void JNICALL single_step(jvmtiEnv*, JNIEnv* jni, jthread thread, jmethodID method, jlocation location) {
  Bridge* bridge = live_bridge();
  if (bridge == nullptr) return;
  if (bridge->defined_thread(jni, jni, thread) == nullptr) return;
  JVMPI_Event event = event_of(JVMPI_EVENT_INSTRUCTION_START, jni);
  event.u.instruction.method_id = method;
  event.u.instruction.offset = static_cast<jint>(location);
  bridge->notify(event);
}

void JNICALL garbage_collection_start(jvmtiEnv*) {
  if (Bridge* bridge = live_bridge()) bridge->gc->started();
}
void JNICALL garbage_collection_finish(jvmtiEnv*) {
  if (Bridge* bridge = live_bridge()) bridge->gc->finished();
}
void JNICALL object_free(jvmtiEnv*, jlong tag) {
  if (Bridge* bridge = live_bridge()) bridge->gc->freed(tag);
}

}  // namespace

void install_callbacks(EventCallbacks& callbacks) {
  callbacks.set(JVMTI_EVENT_VM_INIT, vm_init);
  callbacks.set(JVMTI_EVENT_VM_DEATH, vm_death);
  callbacks.set(JVMTI_EVENT_THREAD_START, thread_start);
  callbacks.set(JVMTI_EVENT_THREAD_END, thread_end);
  callbacks.set(JVMTI_EVENT_CLASS_PREPARE, class_prepare);
  callbacks.set(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, class_file_load_hook);
  callbacks.set(JVMTI_EVENT_MONITOR_CONTENDED_ENTER, monitor_contended_enter);
  callbacks.set(JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, monitor_contended_entered);
  install_wait_callbacks(callbacks);
  callbacks.set(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, sampled_object_alloc);
  callbacks.set(JVMTI_EVENT_VM_OBJECT_ALLOC, vm_object_alloc);
  callbacks.set(JVMTI_EVENT_COMPILED_METHOD_LOAD, compiled_method_load);
  callbacks.set(JVMTI_EVENT_COMPILED_METHOD_UNLOAD, compiled_method_unload);
  callbacks.set(JVMTI_EVENT_DATA_DUMP_REQUEST, data_dump_request);
  callbacks.set(JVMTI_EVENT_SINGLE_STEP, single_step);
  callbacks.set(JVMTI_EVENT_GARBAGE_COLLECTION_START, garbage_collection_start);
  callbacks.set(JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, garbage_collection_finish);
  callbacks.set(JVMTI_EVENT_OBJECT_FREE, object_free);
}

}  // namespace jtrace::agent::jvmpi
