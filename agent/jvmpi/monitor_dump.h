// MONITOR_DUMP: the threads, the monitors they hold or wait for, the profiler's raw monitors.
#pragma once

#include "agent/jvmpi/bridge.h"

namespace jtrace::agent::jvmpi {

// JVMPI_SUCCESS or JVMPI_FAIL.
jint send_monitor_dump(Bridge& bridge, JNIEnv* jni);

}  // namespace jtrace::agent::jvmpi
