// Raw monitors of the profiler: JVM TI's, with the facts that JVMPI reports in addition: owner and waiting threads.
#pragma once

#include <jvmti.h>

#include <atomic>

#include "agent/jvmpi/jvmpi.h"

// The type that jvmpi.h leaves open. Threads that are not Java threads (GC_START in the VM's thread) have no JNIEnv.
struct _JVMPI_RawMonitor {
  jrawMonitorID id = nullptr;
  char* name = nullptr;
  std::atomic<JNIEnv*> owner{nullptr};
  jint entries = 0;                   // the owner's
  std::atomic<jint> entrants{0};      // entries, and threads that wait to enter
  _JVMPI_RawMonitor* next = nullptr;  // in the list of all

  // Names that start with '_' make no events.
  bool is_reported() const { return name[0] != '_'; }
};

namespace jtrace::agent::jvmpi {

// The functions of the interface.
JVMPI_RawMonitor raw_monitor_create(char* name);
void raw_monitor_enter(JVMPI_RawMonitor monitor);
void raw_monitor_exit(JVMPI_RawMonitor monitor);
void raw_monitor_wait(JVMPI_RawMonitor monitor, jlong ms);
void raw_monitor_notify_all(JVMPI_RawMonitor monitor);
void raw_monitor_destroy(JVMPI_RawMonitor monitor);

// Calls visit(JVMPI_RawMonitor, void* argument) for each; none is made or destroyed during the call.
void for_each_raw_monitor(void (*visit)(JVMPI_RawMonitor, void*), void* argument);

}  // namespace jtrace::agent::jvmpi
