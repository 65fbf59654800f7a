#include "agent/jvmpi/jni_references.h"

namespace jtrace::agent::jvmpi {
namespace {

JNINativeInterface_ g_original;  // written once, before any function below can run

void report_alloc(JNIEnv* jni, jint type, jobject object, jobject reference) {
  Bridge* bridge = Bridge::get();
  if (bridge == nullptr || !bridge->wants(type) || reference == nullptr) return;
  JVMPI_Event event = event_of(type, jni);
  event.u.jni_globalref_alloc.obj_id = bridge->defined_object(jni, object);
  event.u.jni_globalref_alloc.ref_id = reference;
  bridge->notify(event);
}

void report_free(JNIEnv* jni, jint type, jobject reference) {
  Bridge* bridge = Bridge::get();
  if (bridge == nullptr || !bridge->wants(type) || reference == nullptr) return;
  JVMPI_Event event = event_of(type, jni);
  event.u.jni_globalref_free.ref_id = reference;
  bridge->notify(event);
}

jobject JNICALL new_global_ref(JNIEnv* jni, jobject object) {
  jobject reference = g_original.NewGlobalRef(jni, object);
  report_alloc(jni, JVMPI_EVENT_JNI_GLOBALREF_ALLOC, object, reference);
  return reference;
}
void JNICALL delete_global_ref(JNIEnv* jni, jobject reference) {
  report_free(jni, JVMPI_EVENT_JNI_GLOBALREF_FREE, reference);
  g_original.DeleteGlobalRef(jni, reference);
}
jweak JNICALL new_weak_global_ref(JNIEnv* jni, jobject object) {
  jweak reference = g_original.NewWeakGlobalRef(jni, object);
  report_alloc(jni, JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC, object, reference);
  return reference;
}
void JNICALL delete_weak_global_ref(JNIEnv* jni, jweak reference) {
  report_free(jni, JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE, reference);
  g_original.DeleteWeakGlobalRef(jni, reference);
}

}  // namespace

bool replace_reference_functions(Bridge& bridge) {
  if (bridge.jni_functions.load() != nullptr) return true;
  // The table has the size of the running JVM's JNI, not of the header's. So a copy of it is changed in place.
  jniNativeInterface* table = nullptr;
  if (bridge.jvmti->GetJNIFunctionTable(&table) != JVMTI_ERROR_NONE) return false;
  g_original.NewGlobalRef = table->NewGlobalRef;
  g_original.DeleteGlobalRef = table->DeleteGlobalRef;
  g_original.NewWeakGlobalRef = table->NewWeakGlobalRef;
  g_original.DeleteWeakGlobalRef = table->DeleteWeakGlobalRef;
  table->NewGlobalRef = new_global_ref;
  table->DeleteGlobalRef = delete_global_ref;
  table->NewWeakGlobalRef = new_weak_global_ref;
  table->DeleteWeakGlobalRef = delete_weak_global_ref;
  bridge.jni_functions.store(&g_original, std::memory_order_release);
  const bool replaced = bridge.jvmti->SetJNIFunctionTable(table) == JVMTI_ERROR_NONE;
  bridge.jvmti->Deallocate(reinterpret_cast<unsigned char*>(table));
  return replaced;
}

}  // namespace jtrace::agent::jvmpi
