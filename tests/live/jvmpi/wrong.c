/* Libraries that are not valid profilers. JTRACE_WRONG: 1 JVM_OnLoad fails, 2 it asks for an unknown version, 3 it sets
 * no NotifyEvent, 4 there is no JVM_OnLoad. */
#include "agent/jvmpi/jvmpi.h"

#if JTRACE_WRONG == 4
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* jvm, char* options, void* reserved) {
  (void)jvm;
  (void)options;
  (void)reserved;
  return JNI_OK;
}
#else
JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* jvm, char* options, void* reserved) {
  JVMPI_Interface* jvmpi_interface = 0;
  (void)options;
  (void)reserved;
#if JTRACE_WRONG == 1
  (void)jvm;
  (void)jvmpi_interface;
  return JNI_ERR;
#elif JTRACE_WRONG == 2
  return (*jvm)->GetEnv(jvm, (void**)&jvmpi_interface, (jint)0x10000009) < 0 ? JNI_ERR : JNI_OK;
#else
  return (*jvm)->GetEnv(jvm, (void**)&jvmpi_interface, JVMPI_VERSION_1_2) < 0 ? JNI_ERR : JNI_OK;
#endif
}
#endif
