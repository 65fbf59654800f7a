// HEAP_DUMP and OBJECT_DUMP: one walk of JVM TI over the reachable objects, written as the records of jvmpi.h.
#pragma once

#include "agent/jvmpi/bridge.h"

namespace jtrace::agent::jvmpi {

// False: the JVM refused the walk.
bool send_heap_dump(Bridge& bridge, JNIEnv* jni, jint level);
bool send_object_dump(Bridge& bridge, JNIEnv* jni, jobject object);

}  // namespace jtrace::agent::jvmpi
