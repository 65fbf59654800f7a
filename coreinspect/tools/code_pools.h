// The memory pools of generated code by the names of their beans: CodeHeapPool (memoryPool.cpp) over CodeHeap
// (heap.hpp). Pure. Threads: one at a time.
#pragma once

#include <vector>

#include "coreinspect/model/inspection.h"
#include "perfdata/mx_beans.h"

namespace jtrace::coreinspect {

// Those whose name is known; none if the fields are not where they are in JDK 8 to 27.
std::vector<perfdata::PoolBean> code_pools(const Inspection& inspection);

}  // namespace jtrace::coreinspect
