// The JVM TI callbacks: event of the JVM -> record in the thread's chunk. Each is one function in callbacks_*.cpp; none
// blocks on the drainer where JVM TI or the JVM's health forbids it, and none makes a JNI call where JVM TI forbids it.
#pragma once

#include "agent/jvm_support.h"

namespace jtrace::agent {

void install_thread_callbacks(EventCallbacks& callbacks);
void install_gc_callbacks(EventCallbacks& callbacks);
void install_monitor_callbacks(EventCallbacks& callbacks);
void install_object_callbacks(EventCallbacks& callbacks);
void install_runtime_callbacks(EventCallbacks& callbacks);

inline void install_callbacks(EventCallbacks& callbacks) {
  install_thread_callbacks(callbacks);
  install_gc_callbacks(callbacks);
  install_monitor_callbacks(callbacks);
  install_object_callbacks(callbacks);
  install_runtime_callbacks(callbacks);
}

}  // namespace jtrace::agent
