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
  if (share < kMostOfTime || full < kCollections || used < kNear) return;
  found.push_back({.rule = "heap-full",
                   .sentence = "The heap is full: the JVM spends " + percent(share) +
                               " of its time in collections, which free next to nothing.",
                   .evidence = {counted(static_cast<long>(full), "full collection") + " in " + seconds(elapsed),
                                "after the last one " + percent(used) + " of the old generation's " +
                                    mib(*now.old_max) + " were in use"},
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
                               mib(limit) + " are reserved.",
                   .evidence = {counted(facts.direct->count, "buffer") + " with " + mib(reserved) +
                                ", as java.nio.Bits counts them; the limit is -XX:MaxDirectMemorySize, or the heap's"},
                   .confidence = Confidence::kCertain,
                   .next = "jtrace inspect " + facts.target + " histogram --class DirectByteBuffer"});
}

}  // namespace jtrace::diagnose
