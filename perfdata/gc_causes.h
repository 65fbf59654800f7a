// What the counters say of collections: their kind and cause. Pure.
#pragma once

#include <string>
#include <string_view>

#include "perfdata/snapshot.h"

namespace jtrace::perfdata {

inline constexpr std::string_view kNoCause = "No GC";  // of sun.gc.cause between collections (gc/shared/gcCause.cpp)

// Whether the collectors' numbers and times are not those of pauses: Shenandoah counts its concurrent phases, its
// pauses and its full collections as one (shenandoahMonitoringSupport.cpp, JDK 11 to 27).
bool counts_phases(const Snapshot& snapshot);
inline constexpr std::string_view kCountsPhases =
    "the counters of Shenandoah mix its pauses with its concurrent phases: safepoint.time and safepoint.share have the "
    "pauses, with all other safepoints";

// What collector `index` (N of sun.gc.collector.N) counts: "young", "full", "concurrent" (phases of concurrent cycles),
// "minor", "major"; "" if that is not known. By its name, as the collectors' monitoring support gives it.
std::string_view collection_kind(const Snapshot& snapshot, int index);

// The cause of a pause of that kind that is the last one in `snapshot`, "" if it is not known: sun.gc.lastCause if
// nothing runs, otherwise sun.gc.cause if it was that in the look before too (`cause_before`). A phase of G1's
// concurrent cycle has none: "No GC".
std::string cause_of_last(const Snapshot& snapshot, std::string_view kind, std::string_view cause_before);

}  // namespace jtrace::perfdata
