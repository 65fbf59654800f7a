// JNI_GLOBALREF events: the four functions of JNI that make and delete global references, in the JVM's function table.
#pragma once

#include "agent/jvmpi/bridge.h"

namespace jtrace::agent::jvmpi {

// Call it once; the functions stay replaced, and also do what they did before.
bool replace_reference_functions(Bridge& bridge);

}  // namespace jtrace::agent::jvmpi
