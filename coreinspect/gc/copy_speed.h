// How fast the heap of a live JVM can be copied, measured by a few reads from places all over it. The JVM runs
// meanwhile.
#pragma once

#include "coreinspect/gc/heap_layout.h"
#include "target/process_memory.h"

namespace jtrace::coreinspect {

// Nanoseconds per resident byte while so many threads copy; 0 if nothing could be read. Threads: any.
double copy_cost(const target::ProcessMemory& memory, const HeapLayout& layout, unsigned threads);

}  // namespace jtrace::coreinspect
