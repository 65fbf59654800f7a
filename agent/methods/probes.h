// The native half of the probes (probe_class.h): what Java code cannot do, and what is rare.
#pragma once

#include <jni.h>

#include "agent/methods/probe_area.h"

namespace jtrace::agent {

const ProbeNatives& probe_natives();

// Binds the native methods of the probe class. False if the JVM refuses.
bool register_probe_natives(JNIEnv* jni, jclass probe_class);

}  // namespace jtrace::agent
