// The native half of the probes (probe_class.h): what Java code cannot do, and what is rare.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include "agent/classfile/bytes.h"
#include "agent/methods/probe_area.h"

namespace jtrace::agent {

const ProbeNatives& probe_natives();

// Defines a probe class with its native methods (boot_class.h). Null, with `error` set (static text).
jclass define_with_probe_natives(jvmtiEnv* jvmti, JNIEnv* jni, const char* name, classfile::ByteView bytes,
                                 const char*& error);

}  // namespace jtrace::agent
