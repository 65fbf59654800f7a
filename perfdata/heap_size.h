// HeapSize: the maximum and committed size of the heap, as MemoryMXBean reports them, from the counters of the spaces.
// Collectors count in different ways:
//
//   G1                   each generation may have the whole heap; up to JDK 17 every capacity is padded by one object
//                        alignment for each space below it (jstat of old could not divide by 0)
//   ZGC, generational    each generation may have the whole heap
//   Shenandoah, Epsilon, ZGC of one generation: "generation 1" is the heap
//   Serial, CMS          one survivor space is always empty and does not count: its largest size up to JDK 25, its
//                        least size in JDK 27 (where eden alone may take the whole young generation)
//   Parallel             the same; but not less than what there is, since survivor spaces shrink and grow
//
// From the sources of G1MonitoringSupport, DefNewGeneration::max_capacity and ParallelScavengeHeap::max_capacity, and
// measured over all collectors of JDK 8 to 27. Pure functions, any thread.
#pragma once

#include <optional>
#include <string>

#include "perfdata/snapshot.h"

namespace jtrace::perfdata {

// A capacity counter in bytes (".capacity", ".maxCapacity"), without G1's padding. Nothing if the JVM has no such
// counter.
std::optional<double> space_capacity(const Snapshot& snapshot, const std::string& name);

// MemoryUsage.getMax() of the heap, bytes. Nothing if the JVM has no counters of its heap.
std::optional<double> heap_max(const Snapshot& snapshot);

}  // namespace jtrace::perfdata
