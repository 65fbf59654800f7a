// HeapHistogram: how many instances of each class there are and how many bytes they take.
//
// Regions are walked by as many threads as are asked for. Of a running JVM (--no-stop) each region is walked within
// the bounds that were read; regions that a collection changed are read again, up to kMaxRounds times, and what
// still changed is reported. Threads: one at a time. Errors: those of the memory; kPartial where `go_on` says no.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/gc/parallel_walk.h"

namespace jtrace::coreinspect {

struct ClassCount {
  std::uint64_t instances = 0, bytes = 0;
};

struct HeapHistogram {
  std::vector<ClassCount> counts;  // by KlassInfo::index
  WalkTotals totals;
  std::uint64_t changed_bytes = 0;  // of a running JVM: in regions that changed while they were read
  int rounds = 1;
};

Result<HeapHistogram> take_histogram(HeapAccess& access, unsigned threads, const Progress& progress = {});

unsigned default_heap_threads();
// The figures of each region of the layout, without counting classes.
Result<std::vector<WalkTotals>> walk_each_region(HeapAccess& access, unsigned threads, const Progress& progress = {});

// What a walk could not parse, as lines for "missing".
std::vector<std::string> walk_faults(const WalkTotals& totals);

}  // namespace jtrace::coreinspect
