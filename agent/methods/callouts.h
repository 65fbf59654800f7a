// The native half of the callouts (callout_class.h): what Java code cannot do, and what is rare.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include "agent/classfile/bytes.h"
#include "agent/methods/callout_area.h"

namespace jtrace::agent {

const CalloutNatives& callout_natives();

// Defines a callout class with its native methods (boot_class.h). Null, with `error` set (static text).
jclass define_with_callout_natives(jvmtiEnv* jvmti, JNIEnv* jni, const char* name, classfile::ByteView bytes,
                                   const char*& error);

}  // namespace jtrace::agent
