// Receivers of calls, and allocations: what the natives of the probe class do that are given an object.
#pragma once

#include <jni.h>

namespace jtrace::agent {

// Its objId, defined in the trace; 0 where it is not to be had. `is_new`: it has just become an object (a constructor's
// receiver). Where allocations are traced, that is one.
jlong identify_object(JNIEnv* jni, jobject object, jint is_new);

// --slower-than: the innermost open call of that method, in the thread of that id, is on this object.
void object_received(JNIEnv* jni, jobject object, jint number, jint is_new, jlong thread);

// A method of that number has made it, at the site (classfile/class_rewriter.h).
void object_made(JNIEnv* jni, jobject object, jint site, jint number);

}  // namespace jtrace::agent
