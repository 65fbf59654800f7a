// The functions that a profiler calls (JVMPI_Interface).
#pragma once

#include "agent/jvmpi/jvmpi.h"

namespace jtrace::agent::jvmpi {

void fill_interface(JVMPI_Interface& interface);

}  // namespace jtrace::agent::jvmpi
