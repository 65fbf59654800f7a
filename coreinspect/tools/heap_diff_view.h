// Two heaps compared by class, package, class loader or path, as text or the elements of "data". Pure functions, any
// thread.
#pragma once

#include "coreinspect/graph/heap_totals.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {

// HeapOptions::by: "class" (also ""), "package", "loader", "path".
TotalsBy totals_by(const std::string& word);
// HeapOptions::filter, sort ("bytes", "instances", "retained", "name") and top count. Both have the same `by`.
ViewResult heap_diff(const HeapTotals& before, const HeapTotals& after, const ViewOptions& options);

}  // namespace jtrace::coreinspect
