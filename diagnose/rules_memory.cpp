// Rules about memory.
#include <algorithm>

#include "base/strings.h"
#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

constexpr double kNear = 0.9;        // of a limit
constexpr double kMostOfTime = 0.5;  // in collections
constexpr double kCollections = 2;   // full ones between the samples: a single one may be intended

// What full collections left of the old generation, as its least share at the looks after the first of them; 0: there
// was none, or it is not known.
double left_by_full_collections(const Facts& facts) {
  double least = 1;
  std::size_t looks = 0;
  for (const CounterFact& each : facts.counters) {
    if (!each.full_collections || !each.old_used || !each.old_max || *each.old_max <= 0) return 0;
    if (*each.full_collections <= *facts.counters.front().full_collections) continue;
    least = std::min(least, *each.old_used / *each.old_max);
    ++looks;
  }
  return looks == 0 ? 0 : least;
}

// The share of time alone would not do: on a busy machine a collector waits for a processor, or the program does.
std::string full_heap_sentence(double share, double full, double left) {
  if (share >= kMostOfTime)
    return "The heap is full: the JVM spends " + percent(share) +
           " of its time in collections, which free next to nothing.";
  return "The heap is full: " + counted(static_cast<long>(full), "full collection") + " left " + percent(left) +
         " of the old generation in use.";
}

}  // namespace

void find_full_heap(const Facts& facts, std::vector<Finding>& found) {
  if (facts.counters.size() < 2) return;
  const CounterFact& before = facts.counters.front();
  const CounterFact& now = facts.counters.back();
  if (!before.gc_seconds || !now.gc_seconds || !before.full_collections || !now.full_collections || !now.old_used ||
      !now.old_max || *now.old_max <= 0 || now.ns <= before.ns)
    return;
  const double elapsed = static_cast<double>(now.ns - before.ns) / 1e9;
  const double share = std::min(1.0, (*now.gc_seconds - *before.gc_seconds) / elapsed);
  const double full = *now.full_collections - *before.full_collections;
  const double used = *now.old_used / *now.old_max;
  const double left = left_by_full_collections(facts);
  if (full < kCollections || used < kNear || (share < kMostOfTime && left < kNear)) return;
  found.push_back({.rule = "heap-full",
                   .sentence = full_heap_sentence(share, full, left),
                   .evidence = {counted(static_cast<long>(full), "full collection") + " in " + seconds(elapsed),
                                "after the last one " + percent(used) + " of the old generation's " +
                                    mib_text(*now.old_max) + " were in use"},
                   .confidence = Confidence::kCertain,
                   .next = "jtrace inspect " + facts.target + " retained --rows 20"});
}

void find_full_direct_memory(const Facts& facts, std::vector<Finding>& found) {
  if (!facts.direct || !facts.direct->limit || *facts.direct->limit <= 0) return;
  const auto reserved = static_cast<double>(facts.direct->reserved);
  const auto limit = static_cast<double>(*facts.direct->limit);
  if (reserved < kNear * limit) return;
  found.push_back({.rule = "direct-memory",
                   .sentence = "The direct buffers are near their limit: " + percent(reserved / limit) + " of " +
                               mib_text(limit) + " are reserved.",
                   .evidence = {counted(facts.direct->count, "buffer") + " with " + mib_text(reserved) +
                                ", as java.nio.Bits counts them; the limit is -XX:MaxDirectMemorySize, or the heap's"},
                   .confidence = Confidence::kCertain,
                   .next = "jtrace inspect " + facts.target + " histogram --class DirectByteBuffer"});
}

void find_free_malloc(const Facts& facts, std::vector<Finding>& found) {
  constexpr std::uint64_t kMuch = 256u << 20;  // bytes
  constexpr double kHalf = 0.5;                // of what was read
  if (!facts.malloc || facts.malloc->held <= facts.malloc->unread) return;
  const MallocFact& malloc = *facts.malloc;
  const std::uint64_t read = malloc.held - malloc.unread;
  if (malloc.free < kMuch || share_of(malloc.free, read) < kHalf) return;
  Finding finding{
      .rule = "malloc-free",
      .sentence = "malloc keeps at least " + mib_text(malloc.free) +
                  " that native code has freed: it is not given back to the system.",
      .evidence = {"glibc's " + counted(malloc.arenas, "arena") + (malloc.arenas == 1 ? " holds " : " hold ") +
                   mib_text(malloc.held) + ", and " + percent(share_of(malloc.free, read)) + " of it is free"},
      .confidence = Confidence::kLikely,
      .next = facts.feature >= 17
                  ? "jcmd " + facts.target + " System.trim_native_heap; or start it with MALLOC_ARENA_MAX=2"
                  : "start it with MALLOC_ARENA_MAX=2 in the environment"};
  if (malloc.unread > 0) finding.evidence.push_back(mib_text(malloc.unread) + " of the arenas were not read");
  found.push_back(std::move(finding));
}

void find_allocation_stalls(const Facts& facts, std::vector<Finding>& found) {
  constexpr std::size_t kSome = 2;  // looks
  if (!facts.stalls || facts.stalls->with_stall < kSome || !facts.stalls->last || stands_still(facts)) return;
  const StallFact& stalls = *facts.stalls;
  found.push_back({.rule = "allocation-stall",
                   .sentence = "Threads that allocate wait until the collector has freed memory: it does not keep up.",
                   .evidence = {"at " + std::to_string(stalls.with_stall) + " of " + counted(stalls.looks, "look") +
                                    ", and up to " + counted(stalls.most, "thread") + " at a time",
                                quoted(stalls.last->name) + " in " + printable(stalls.last->function) + ", at " +
                                    own_place(stalls.last->frames)},
                   .confidence = 2 * stalls.with_stall >= stalls.looks ? Confidence::kLikely : Confidence::kHint,
                   .next = "a larger heap, or fewer objects that live: jtrace inspect " + facts.target + " retained"});
}

void find_swapped(const Facts& facts, std::vector<Finding>& found) {
  constexpr std::uint64_t kMuch = 64u << 20;  // bytes
  constexpr double kShare = 0.05;             // of what the process uses
  constexpr double kBusy = 50;                // pages from a disk each second
  if (facts.process.size() < 2) return;
  const ProcessFact& before = facts.process.front();
  const ProcessFact& now = facts.process.back();
  for (const ProcessFact* each : {&before, &now})
    if (!each->swapped || !each->resident || *each->swapped < kMuch ||
        share_of(*each->swapped, *each->swapped + *each->resident) < kShare)
      return;
  const double elapsed = static_cast<double>(now.ns - before.ns) / 1e9;
  const double pages = elapsed > 0 ? static_cast<double>(now.major_faults - before.major_faults) / elapsed : 0;
  found.push_back({.rule = "swap",
                   .sentence = pages >= kBusy
                                   ? "The JVM runs from the swap: what it needs has to be read from a disk first."
                                   : "A part of the JVM is in the swap; a collection, which visits all objects, has "
                                     "to read it again.",
                   .evidence = {mib_text(*now.swapped) + " in the swap, " + mib_text(*now.resident) +
                                    " in memory (VmSwap and VmRSS), so at 2 looks",
                                std::to_string(now.major_faults - before.major_faults) +
                                    " pages were read from a disk in " + seconds(elapsed)},
                   .confidence = pages >= kBusy ? Confidence::kCertain : Confidence::kHint,
                   .next = "jtrace inspect " + facts.target + " memory"});
}

}  // namespace jtrace::diagnose
