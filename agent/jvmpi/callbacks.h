// The JVM TI callbacks: an event of the JVM becomes an event of JVMPI.
#pragma once

#include "agent/jvm_support.h"

namespace jtrace::agent::jvmpi {

void install_callbacks(EventCallbacks& callbacks);

}  // namespace jtrace::agent::jvmpi
