// Receivers of calls: what the natives of the probe class do that are given one.
#pragma once

#include <jni.h>

namespace jtrace::agent {

// Its objId, defined in the trace; 0 where it is not to be had. `is_new`: it has just become an object (a constructor's
// receiver).
jlong identify_object(JNIEnv* jni, jobject object, jint is_new);

}  // namespace jtrace::agent
