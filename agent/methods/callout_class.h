// The class that callouts call. It is in java.lang, defined by the boot loader from bytes that are made here
// (callout_code.h), so that every class can use it whatever its loader and module. There is one for each style, made
// when it is first needed; they stay in the JVM.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include "agent/methods/callout_area.h"
#include "agent/methods/callout_code.h"

namespace jtrace::agent {

// Finds these facts. nullptr, or the reason why not (static text). No exception is left pending.
const char* find_callout_facts(JNIEnv* jni, CalloutClassFacts& facts);

// Defines the class, or finds the one of an earlier session (perhaps of another copy of this library). From then on its
// native methods (callouts.h) are bound to this copy. Sets `area` to the one that the class refers to. nullptr, or the
// reason why not (static text).
const char* define_callout_class(jvmtiEnv* jvmti, JNIEnv* jni, CalloutStyle style, const CalloutClassFacts& facts,
                                 CalloutArea*& area);

}  // namespace jtrace::agent
