// Receivers of calls, and allocations: the natives of the callout class that take an object.
#pragma once

#include <jni.h>

namespace jtrace::agent {

// The objId of an object, defined in the trace; 0 if it cannot be defined. `is_new`: it was just constructed (a
// constructor's receiver), which is an allocation if allocations are traced.
jlong identify_object(JNIEnv* jni, jobject object, jint is_new);

// --slower-than: sets the receiver of the innermost open call of that method, in the thread with that id.
void object_received(JNIEnv* jni, jobject object, jint number, jint is_new, jlong thread);

// A method has allocated it, at the site (classfile/class_rewriter.h).
void object_made(JNIEnv* jni, jobject object, jint site, jint number);

}  // namespace jtrace::agent
