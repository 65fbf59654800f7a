// Common parts of the heap views: opening the heap, a histogram with names, the figures of a walk. Threads: one at a
// time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coreinspect/gc/histogram.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {

struct HistogramRow {
  Address klass = 0;
  std::string name;
  std::string loader;  // with by_loader
  ClassCount count;
};

struct HistogramTable {
  std::vector<HistogramRow> rows;
  WalkTotals totals;
  std::uint64_t changed = 0;        // bytes; for a JVM that ran in the meantime
  bool moved = false;               // HeapHistogram::moved
  std::chrono::nanoseconds walk{};  // duration of the walk
};

Result<std::unique_ptr<HeapAccess>> open_heap(Inspection& inspection, const ViewOptions& options, bool stacks);
unsigned threads_of(const HeapOptions& options);
// Sorted and filtered, not yet limited to the top rows.
Result<HistogramTable> take_histogram_table(HeapAccess& access, const HeapOptions& options);
// What the counts may lack, as lines for "missing".
std::vector<std::string> faults_of(const HistogramTable& table);
// The figures of a walk as the member "heap" of the JSON object.
void append_walk_members(std::string& members, const HeapAccess& access, const WalkTotals& totals,
                         std::uint64_t changed, std::chrono::nanoseconds walk = {});

}  // namespace jtrace::coreinspect
