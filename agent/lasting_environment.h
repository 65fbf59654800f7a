// A JVM TI environment that stays when the session disposes of its own.
//
// HotSpot makes a JvmtiThreadState for each thread when a session's events are switched on, and keeps it when the
// environment is disposed of. A thread that ends takes its own out of the JVM's list, but not while there is no
// environment at all (JavaThread::exit asks JvmtiEnvBase::environments_might_exist(); JDK 8 to 27). The next session's
// events then make the JVM write to a thread that has been freed, at each event that is switched
// (JvmtiEventControllerPrivate::recompute_thread_enabled): its heap is damaged. So there is always one.
//
// Threads: one at a time.
#pragma once

#include <jni.h>

namespace jtrace::agent {

// Makes the environment at the first call. It has no capabilities and no events. False if that fails.
bool keep_an_environment(JavaVM* vm);

}  // namespace jtrace::agent
