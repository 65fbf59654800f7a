// MONITOR_WAIT and MONITOR_WAITED: Object.wait from JVM TI, and Thread.sleep, whose object is NULL. A sleep is a native
// method of Thread, to which a function of the bridge is bound (agent/waits/sleep_native.h).
#pragma once

#include "agent/jvm_support.h"
#include "agent/waits/sleep_native.h"

namespace jtrace::agent::jvmpi {

void install_wait_callbacks(EventCallbacks& callbacks);

extern const SleepObserver kSleepEvents;

}  // namespace jtrace::agent::jvmpi
