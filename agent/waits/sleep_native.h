// Thread.sleep of a platform thread is a native method (sleep, from JDK 19 on sleep0, from JDK 22 on sleepNanos0) whose
// function libjvm exports. While sleeps are traced, a function of the agent is bound instead; it reports the sleep and
// calls the original.
#pragma once

#include <jni.h>

#include <cstdint>

namespace jtrace::agent {

// A reported wait, to report its end; `token` 0: none.
struct OpenWait {
  std::uint64_t token = 0;
  std::uint64_t thread = 0;  // threadId
};

// Receives the sleeps, in the thread that sleeps.
struct SleepObserver {
  OpenWait (*begin)(JNIEnv* jni, jlong nanos);
  // An exception may be pending.
  void (*end)(JNIEnv* jni, const OpenWait& wait);
};

// Finds the method and libjvm's function. nullptr, or the reason why not (static text). No exception is left pending.
const char* find_sleep_native(JNIEnv* jni, jclass thread_class);

// Binds the agent's function, which reports to `observer` (of static storage); libjvm's function if `observer` is null.
// Must be called from a native method that a class of the boot loader calls (wait_class.h).
bool bind_sleep_native(JNIEnv* jni, jclass thread_class, const SleepObserver* observer);

}  // namespace jtrace::agent
