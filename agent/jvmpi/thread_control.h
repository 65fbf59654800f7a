// JVMPI's functions about threads: stacks, status, CPU time, suspension.
#pragma once

#include "agent/jvmpi/bridge.h"

namespace jtrace::agent::jvmpi {

void fill_call_trace(Bridge& bridge, JVMPI_CallTrace& trace, jint depth);
jint thread_status(Bridge& bridge, const ThreadRecord& record);
bool suspend_thread(Bridge& bridge, ThreadRecord& record);
bool resume_thread(Bridge& bridge, ThreadRecord& record);
jint create_system_thread(Bridge& bridge, const char* name, jint priority, void (*run)(void*));

}  // namespace jtrace::agent::jvmpi
