/* A peer of the bytecode callouts: JVM TI's own MethodEntry and MethodExit events, with callbacks that do nothing. */
#include <jvmti.h>
#include <string.h>

static void JNICALL entered(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jmethodID method) {
  (void)jvmti;
  (void)jni;
  (void)thread;
  (void)method;
}

static void JNICALL left(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jmethodID method, jboolean by_exception,
                         jvalue result) {
  entered(jvmti, jni, thread, method);
  (void)by_exception;
  (void)result;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void* reserved) {
  jvmtiEnv* jvmti;
  jvmtiCapabilities wanted;
  jvmtiEventCallbacks callbacks;
  (void)options;
  (void)reserved;
  if ((*vm)->GetEnv(vm, (void**)&jvmti, JVMTI_VERSION_1_2) != JNI_OK) return JNI_ERR;
  memset(&wanted, 0, sizeof wanted);
  wanted.can_generate_method_entry_events = 1;
  wanted.can_generate_method_exit_events = 1;
  memset(&callbacks, 0, sizeof callbacks);
  callbacks.MethodEntry = entered;
  callbacks.MethodExit = left;
  if ((*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE ||
      (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE ||
      (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_METHOD_ENTRY, NULL) != JVMTI_ERROR_NONE ||
      (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_METHOD_EXIT, NULL) != JVMTI_ERROR_NONE)
    return JNI_ERR;
  return JNI_OK;
}
