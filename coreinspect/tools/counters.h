// The performance counters in the memory of a JVM: the region at PerfMemory::_start.
#pragma once

#include "coreinspect/vm/vm.h"
#include "perfdata/snapshot.h"

namespace jtrace::coreinspect {

// Errors: kNotAttachable if the JVM has none (-XX:-UsePerfData); those of perfdata's parser and of the memory.
Result<perfdata::Snapshot> read_counters(const Vm& vm);

}  // namespace jtrace::coreinspect
