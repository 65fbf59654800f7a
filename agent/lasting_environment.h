// A JVM TI environment that stays when the session's own is given back.
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

// From the first call on the JVM has an environment. It has no capability and no event. False where it cannot be had.
bool keep_an_environment(JavaVM* vm);

}  // namespace jtrace::agent
