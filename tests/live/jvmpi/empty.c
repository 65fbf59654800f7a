/* Enables METHOD_ENTRY and METHOD_EXIT and ignores them: the cost of the bridge alone. */
#include "agent/jvmpi/jvmpi.h"

static void notify(JVMPI_Event* event) { (void)event; }

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* jvm, char* options, void* reserved) {
  JVMPI_Interface* jvmpi;
  (void)options;
  (void)reserved;
  if ((*jvm)->GetEnv(jvm, (void**)&jvmpi, JVMPI_VERSION_1) < 0) return JNI_ERR;
  jvmpi->NotifyEvent = notify;
  if (jvmpi->EnableEvent(JVMPI_EVENT_METHOD_ENTRY, NULL) != JVMPI_SUCCESS) return JNI_ERR;
  return jvmpi->EnableEvent(JVMPI_EVENT_METHOD_EXIT, NULL) == JVMPI_SUCCESS ? JNI_OK : JNI_ERR;
}
