// Thread.sleep of a platform thread is a native method (sleep, from JDK 19 on sleep0, from JDK 22 on sleepNanos0),
// whose function is one that libjvm exports. While sleeps are traced, a function of ours is bound in its place, which
// tells of the sleep and calls that one.
#pragma once

#include <jni.h>

#include <cstdint>

namespace jtrace::agent {

// Finds the method and libjvm's function. nullptr, or why it cannot be (static text). No exception is left pending.
const char* find_sleep_native(JNIEnv* jni, jclass thread_class);

// Binds ours, or libjvm's again. To be called by a native method that a class of the boot loader calls (wait_class.h).
bool bind_sleep_native(JNIEnv* jni, jclass thread_class, bool ours);

}  // namespace jtrace::agent
