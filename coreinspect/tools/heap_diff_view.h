// Two heaps compared by class, as text or the elements of "data". Pure functions, any thread.
#pragma once

#include "coreinspect/graph/heap_totals.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {

// HeapOptions::filter, sort ("bytes", "instances", "retained", "name") and top count.
ViewResult heap_diff(const HeapTotals& before, const HeapTotals& after, const ViewOptions& options);

}  // namespace jtrace::coreinspect
