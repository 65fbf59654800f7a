// objAlloc, objFree; classDef and classUnload, which use the same tags.
#include "agent/allocation.h"
#include "agent/boot_class.h"
#include "agent/callbacks.h"
#include "agent/methods/method_tracer.h"
#include "agent/waits/wait_tracer.h"

namespace jtrace::agent {
namespace {

void object_allocated(JNIEnv* jni, jthread thread, jobject object, jclass klass, jlong size) {
  CallbackGuard guard;
  if (!guard) return;
  Recorder& recorder = guard.recorder();
  Registry& registry = *recorder.registry;
  if (!registry.class_is_included(jni, klass)) return;
  LocalFrame frame(jni, 16);
  record::ObjAllocRecord made{};
  made.thread = recorder.threads.defined(jni, thread);
  if (recorder.config.stack_depth != 0)
    made.stack = registry.stack_id(jni, thread, 0, static_cast<jint>(recorder.config.stack_depth));
  made.size = static_cast<std::uint64_t>(size);
  write_allocation(guard, object, registry.type_of(jni, klass), made);
}

void JNICALL sampled_object_alloc(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject object, jclass klass, jlong size) {
  object_allocated(jni, thread, object, klass, size);
}

void JNICALL vm_object_alloc(jvmtiEnv*, JNIEnv* jni, jthread thread, jobject object, jclass klass, jlong size) {
  object_allocated(jni, thread, object, klass, size);
}

// Runs on the Service Thread; in JDK 8 and 11 in the VM thread at a safepoint. No JNI, no JVM TI, no waiting.
void JNICALL object_free(jvmtiEnv*, jlong tag) {
  CallbackGuard guard(CallbackGuard::kLifecycle);
  if (!guard) return;
  const Recorder& recorder = guard.recorder();
  record::ObjectRecord made{};
  made.id = id_of_tag(tag);
  const bool wants_free = (tag & kTagIsObject) != 0 && recorder.traces(record::kObjFreeEvent);
  if (wants_free && (recorder.methods == nullptr || !recorder.methods->keep_free(made.id)))
    guard.write(made, record::RecordKind::kObjFree, false);
  if ((tag & kTagIsClass) != 0 && recorder.traces(record::kClassUnloadEvent))
    guard.write(made, record::RecordKind::kClassUnload, false);
}

void JNICALL class_prepare(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jclass klass) {
  boot_class_prepared(jvmti, jni, klass);
  // also while the trace is paused, the methods of the class are defined
  CallbackGuard guard(CallbackGuard::kLifecycle);
  if (!guard) return;
  Recorder& recorder = guard.recorder();
  if (recorder.methods != nullptr) recorder.methods->class_prepared(jni, klass, recorder.threads.defined(jni, thread));
  if (!recorder.traces(record::kClassDefEvent) || recorder.paused) return;
  if (!recorder.registry->class_is_included(jni, klass)) return;
  if (recorder.registry->class_id(jni, klass, recorder.threads.defined(jni, thread), false) == 0)
    recorder.writer.count_dropped(1);
}

// Calls that wait are redirected first; callouts are inserted into the result.
void JNICALL class_file_load_hook(jvmtiEnv* jvmti, JNIEnv* jni, jclass redefined, jobject loader, const char* name,
                                  jobject, jint size, const unsigned char* data, jint* new_size,
                                  unsigned char** new_data) {
  CallbackGuard guard(CallbackGuard::kLifecycle);
  if (!guard) return;
  const Recorder& recorder = guard.recorder();
  // JDK 17's -Xcheck:jni counts the classes of a retransformed batch as local references of this callback.
  if (redefined != nullptr) accept_references(jni, kBatch);
  classfile::ByteView bytes{data, static_cast<std::size_t>(size)};
  classfile::Bytes redirected;
  const bool waits = recorder.waits != nullptr && loader == nullptr && name != nullptr &&
                     recorder.waits->class_file(name, bytes, redirected);
  if (waits) bytes = redirected;
  if (recorder.methods != nullptr) recorder.methods->class_file(jni, redefined, loader, bytes, new_size, new_data);
  if (!waits || *new_data != nullptr) return;
  unsigned char* memory = nullptr;
  if (jvmti->Allocate(static_cast<jlong>(redirected.size()), &memory) != JVMTI_ERROR_NONE) return;
  std::memcpy(memory, redirected.data(), redirected.size());
  *new_data = memory;
  *new_size = static_cast<jint>(redirected.size());
}

}  // namespace

void install_object_callbacks(EventCallbacks& callbacks) {
  callbacks.set(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, sampled_object_alloc);
  callbacks.set(JVMTI_EVENT_VM_OBJECT_ALLOC, vm_object_alloc);
  callbacks.set(JVMTI_EVENT_OBJECT_FREE, object_free);
  callbacks.set(JVMTI_EVENT_CLASS_PREPARE, class_prepare);
  callbacks.set(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, class_file_load_hook);
}

}  // namespace jtrace::agent
