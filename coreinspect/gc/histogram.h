// HeapHistogram: the number of instances of each class, and their bytes.
//
// Several threads walk the regions. In a running JVM (--no-stop) each region is walked within the bounds that were
// read. Regions that a collection changed are read again, up to kMaxRounds times; those that still change are reported.
// Threads: one at a time. Errors: those of the memory; kPartial if `go_on` returns false.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/gc/parallel_walk.h"

namespace jtrace::coreinspect {

struct ClassCount {
  std::uint64_t instances = 0, bytes = 0;
};

struct HeapHistogram {
  std::vector<ClassCount> counts;  // indexed by KlassInfo::index
  WalkTotals totals;
  // Of a running JVM: a collection ran, or objects moved, while it was read: counts may be too small or too large.
  bool moved = false;
  std::uint64_t changed_bytes = 0;  // of a running JVM: bytes of regions that changed while they were read
  int rounds = 1;
};

Result<HeapHistogram> take_histogram(HeapAccess& access, unsigned threads, const Progress& progress = {});

unsigned default_heap_threads();
// The totals of each region of the layout, without counts by class.
Result<std::vector<WalkTotals>> walk_each_region(HeapAccess& access, unsigned threads, const Progress& progress = {});

// The faults of a walk, as lines for "missing".
std::vector<std::string> walk_faults(const WalkTotals& totals);

}  // namespace jtrace::coreinspect
