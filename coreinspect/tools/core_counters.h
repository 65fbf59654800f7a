// The counters in a core: coreinspect finds the PerfMemory, perfdata reads its contents. Threads: any.
#pragma once

#include <string>

#include "perfdata/counter_source.h"
#include "target/core_memory.h"

namespace jtrace::coreinspect {

// From the PerfMemory that the core's vmStructs name. Errors: those of Target::open_core and of the parser; kRefused if
// the JVM kept none.
Result<perfdata::CounterSource> open_core_counters(const std::string& path, const target::CoreFileOptions& files,
                                                   const perfdata::SourceOptions& options);

}  // namespace jtrace::coreinspect
