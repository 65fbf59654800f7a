/* A peer and floor of the attach with callouts: retransforms every linked class, in batches of the size that its option
 * gives, with a hook that returns every class unchanged. */
#include <jvmti.h>
#include <stdlib.h>
#include <string.h>

static void JNICALL unchanged(jvmtiEnv* jvmti, JNIEnv* jni, jclass redefined, jobject loader, const char* name,
                              jobject domain, jint size, const unsigned char* bytes, jint* new_size,
                              unsigned char** new_bytes) {
  (void)jvmti;
  (void)jni;
  (void)redefined;
  (void)loader;
  (void)name;
  (void)domain;
  (void)size;
  (void)bytes;
  (void)new_size;
  (void)new_bytes;
}

static jint retransform(jvmtiEnv* jvmti, jint batch) {
  jint count, i, filled = 0;
  jclass* classes;
  jclass* wanted;
  if ((*jvmti)->GetLoadedClasses(jvmti, &count, &classes) != JVMTI_ERROR_NONE) return JNI_ERR;
  wanted = malloc((size_t)count * sizeof *wanted);
  if (wanted == NULL) return JNI_ERR;
  for (i = 0; i < count; ++i) {
    jboolean modifiable = JNI_FALSE;
    jint status = 0;
    (*jvmti)->IsModifiableClass(jvmti, classes[i], &modifiable);
    (*jvmti)->GetClassStatus(jvmti, classes[i], &status);
    if (modifiable && (status & JVMTI_CLASS_STATUS_PREPARED) != 0) wanted[filled++] = classes[i];
  }
  for (i = 0; i < filled; i += batch)
    (*jvmti)->RetransformClasses(jvmti, i + batch < filled ? batch : filled - i, wanted + i);
  free(wanted);
  (*jvmti)->Deallocate(jvmti, (unsigned char*)classes);
  return JNI_OK;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void* reserved) {
  jvmtiEnv* jvmti;
  jvmtiCapabilities wanted;
  jvmtiEventCallbacks callbacks;
  jint batch = options != NULL ? atoi(options) : 0;
  jint result;
  (void)reserved;
  if (batch <= 0) batch = 200;
  if ((*vm)->GetEnv(vm, (void**)&jvmti, JVMTI_VERSION_1_2) != JNI_OK) return JNI_ERR;
  memset(&wanted, 0, sizeof wanted);
  wanted.can_retransform_classes = 1;
  memset(&callbacks, 0, sizeof callbacks);
  callbacks.ClassFileLoadHook = unchanged;
  if ((*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE ||
      (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE ||
      (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL) !=
          JVMTI_ERROR_NONE)
    return JNI_ERR;
  result = retransform(jvmti, batch);
  (*jvmti)->DisposeEnvironment(jvmti);
  return result;
}
