/* A class-load printer as in section 1.3 of JVMPI's document: each class with its methods and fields, and their ids.
 * Option: the file to print to. */
#include <stdio.h>

#include "agent/jvmpi/jvmpi.h"

static JVMPI_Interface* jvmpi_interface;
static FILE* out;
static JVMPI_RawMonitor lock;

static void print_class(JVMPI_Event* event) {
  int i;
  jvmpi_interface->RawMonitorEnter(lock);
  fprintf(out, "class %s (%s) interfaces %d\n", event->u.class_load.class_name,
          event->u.class_load.source_name != NULL ? event->u.class_load.source_name : "?",
          (int)event->u.class_load.num_interfaces);
  for (i = 0; i < event->u.class_load.num_methods; i++) {
    JVMPI_Method* m = &event->u.class_load.methods[i];
    fprintf(out, "  method %s%s lines %d-%d\n", m->method_name, m->method_signature, (int)m->start_lineno,
            (int)m->end_lineno);
  }
  for (i = 0; i < event->u.class_load.num_static_fields; i++)
    fprintf(out, "  static %s %s\n", event->u.class_load.statics[i].field_name,
            event->u.class_load.statics[i].field_signature);
  for (i = 0; i < event->u.class_load.num_instance_fields; i++)
    fprintf(out, "  field %s %s\n", event->u.class_load.instances[i].field_name,
            event->u.class_load.instances[i].field_signature);
  jvmpi_interface->RawMonitorExit(lock);
}

static void notifyEvent(JVMPI_Event* event) {
  switch (event->event_type) {
    case JVMPI_EVENT_CLASS_LOAD: print_class(event); break;
    case JVMPI_EVENT_JVM_SHUT_DOWN: fclose(out); break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* jvm, char* options, void* reserved) {
  (void)reserved;
  if ((*jvm)->GetEnv(jvm, (void**)&jvmpi_interface, JVMPI_VERSION_1) < 0) return JNI_ERR;
  if ((out = fopen(options, "w")) == NULL) return JNI_ERR;
  jvmpi_interface->NotifyEvent = notifyEvent;
  lock = jvmpi_interface->RawMonitorCreate("_printer");
  jvmpi_interface->EnableEvent(JVMPI_EVENT_CLASS_LOAD, NULL);
  jvmpi_interface->EnableEvent(JVMPI_EVENT_JVM_SHUT_DOWN, NULL);
  return JNI_OK;
}
