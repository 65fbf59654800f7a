// JVMPI's functions about threads: stacks, status, CPU time, suspension.
#pragma once

#include "agent/jvmpi/bridge.h"

namespace jtrace::agent::jvmpi {

void fill_call_trace(Bridge& bridge, JVMPI_CallTrace& trace, jint depth);
// Threads are named by their JNIEnv; one that has ended has no frames, is runnable, and cannot be suspended.
jint thread_status(Bridge& bridge, JNIEnv* env);
bool suspend_thread(Bridge& bridge, JNIEnv* env);
bool resume_thread(Bridge& bridge, JNIEnv* env);
jint create_system_thread(Bridge& bridge, const char* name, jint priority, void (*run)(void*));

}  // namespace jtrace::agent::jvmpi
