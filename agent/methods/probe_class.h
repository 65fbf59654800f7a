// The class that probes call. It is in java.lang, defined by the boot loader from bytes that are made here
// (probe_code.h), so that every class can use it whatever its loader and module. There is one for each style, made when
// it is first needed; they stay in the JVM.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include "agent/methods/probe_area.h"
#include "agent/methods/probe_code.h"

namespace jtrace::agent {

// Finds these facts. nullptr, or the reason why not (static text). No exception is left pending.
const char* find_probe_facts(JNIEnv* jni, ProbeClassFacts& facts);

// Defines the class, or finds the one of an earlier session (perhaps of another copy of this library). From then on its
// native methods (probes.h) are bound to this copy. Sets `area` to the one that the class refers to. nullptr, or the
// reason why not (static text).
const char* define_probe_class(jvmtiEnv* jvmti, JNIEnv* jni, ProbeStyle style, const ProbeClassFacts& facts,
                               ProbeArea*& area);

}  // namespace jtrace::agent
