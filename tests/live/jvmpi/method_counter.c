/* The first example of JVMPI's document (1.5, "Threading and Locking Issues"), completed: the methods that each thread
 * executed, counted without a lock in thread-local storage. Option: the file to print to. */
#include <stdio.h>
#include <stdlib.h>

#include "agent/jvmpi/jvmpi.h"

static JVMPI_Interface* jvmpi_interface;
static FILE* out;
#define CALL(routine) (jvmpi_interface->routine)

/* sets up the storage for the thread's counter */
static void ThreadStartHandler(JNIEnv* thread_id) {
  int* p_ctr = (int*)calloc(1, sizeof(int));
  CALL(SetThreadLocalStorage)(thread_id, p_ctr);
}

static void MethodEntryHandler(JNIEnv* thread_id) {
  int* p_ctr = (int*)CALL(GetThreadLocalStorage)(thread_id);
  (*p_ctr)++;
}

static void ThreadEndHandler(JNIEnv* thread_id) {
  int* p_ctr = (int*)CALL(GetThreadLocalStorage)(thread_id);
  fprintf(out, "Thread %p executed %d methods\n", (void*)thread_id, *p_ctr);
  free(p_ctr);
}

static void notifyEvent(JVMPI_Event* event) {
  switch (event->event_type) {
    case JVMPI_EVENT_THREAD_START: ThreadStartHandler(event->u.thread_start.thread_env_id); break;
    case JVMPI_EVENT_METHOD_ENTRY: MethodEntryHandler(event->env_id); break;
    case JVMPI_EVENT_THREAD_END: ThreadEndHandler(event->env_id); break;
    case JVMPI_EVENT_JVM_SHUT_DOWN: fclose(out); break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* jvm, char* options, void* reserved) {
  (void)reserved;
  if ((*jvm)->GetEnv(jvm, (void**)&jvmpi_interface, JVMPI_VERSION_1) < 0) return JNI_ERR;
  if ((out = fopen(options, "w")) == NULL) return JNI_ERR;
  jvmpi_interface->NotifyEvent = notifyEvent;
  CALL(EnableEvent)(JVMPI_EVENT_THREAD_START, NULL);
  CALL(EnableEvent)(JVMPI_EVENT_METHOD_ENTRY, NULL);
  CALL(EnableEvent)(JVMPI_EVENT_THREAD_END, NULL);
  CALL(EnableEvent)(JVMPI_EVENT_JVM_SHUT_DOWN, NULL);
  return JNI_OK;
}
