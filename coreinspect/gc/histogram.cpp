#include "coreinspect/gc/histogram.h"

#include <algorithm>
#include <map>

#include "base/size_text.h"
#include "base/strings.h"

namespace jtrace::coreinspect {
namespace {

constexpr int kMaxRounds = 4;

// Counts of one thread; the vector grows when a new class is found.
class Counter {
 public:
  void begin(const HeapRegion&) {}
  void end() {}
  void operator()(const HeapObject& object) {
    const std::uint32_t index = object.klass->index;
    if (index >= counts_.size()) [[unlikely]]
      counts_.resize(index + 256);
    ++counts_[index].instances;
    counts_[index].bytes += object.size;
  }
  const std::vector<ClassCount>& counts() const { return counts_; }
  void clear() { counts_.assign(counts_.size(), {}); }

 private:
  std::vector<ClassCount> counts_;
};

void add_to(std::vector<ClassCount>& sum, const std::vector<ClassCount>& part) {
  if (sum.size() < part.size()) sum.resize(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) {
    sum[i].instances += part[i].instances;
    sum[i].bytes += part[i].bytes;
  }
}

Result<HeapHistogram> histogram_of_stopped_heap(HeapAccess& access, unsigned threads, const Progress& progress) {
  std::vector<Counter> counters(threads);
  HeapHistogram histogram;
  JTRACE_ASSIGN_OR_RETURN(histogram.totals, walk_regions(access, counters, 0, progress));
  for (const Counter& counter : counters) add_to(histogram.counts, counter.counts());
  return histogram;
}

// The counts of one region.
struct CountedRegion {
  HeapRegion region;
  std::vector<std::pair<std::uint32_t, ClassCount>> counts;
  WalkTotals totals;
};

class RunningHistogram {
 public:
  RunningHistogram(HeapAccess& access, const Progress& progress)
      : access_(access), progress_(progress), walker_(access.klasses(), access.shape(), access.memory()) {}

  Result<HeapHistogram> take() {
    HeapLayout layout = access_.layout();
    std::vector<HeapRegion> todo = layout.regions;
    HeapHistogram histogram;
    const Inspection& inspection = access_.inspection();
    histogram.moved = inspection.vm().moves_while_running() || inspection.collects_now();
    for (histogram.rounds = 1;; ++histogram.rounds) {
      if (!count(layout, todo)) return fail(ErrorCategory::kPartial, "interrupted");
      JTRACE_ASSIGN_OR_RETURN(HeapLayout now, access_.layout_now());
      const bool last = histogram.rounds == kMaxRounds;
      const bool collected = now.collections != layout.collections;
      histogram.moved = histogram.moved || collected || inspection.collects_now();
      todo = changed(now, collected, last);
      histogram.changed_bytes = 0;
      for (const HeapRegion& region : todo) histogram.changed_bytes += region.used();
      if (todo.empty() || last) break;
      layout = std::move(now);
    }
    for (const auto& [start, counted] : counted_) {
      for (const auto& [index, count] : counted.counts) {
        if (index >= histogram.counts.size()) histogram.counts.resize(index + 256);
        histogram.counts[index].instances += count.instances;
        histogram.counts[index].bytes += count.bytes;
      }
      histogram.totals += counted.totals;
    }
    return histogram;
  }

 private:
  bool count(const HeapLayout& layout, const std::vector<HeapRegion>& regions) {
    std::uint64_t done = 0, all = 0;
    for (const HeapRegion& region : regions) all += region.used();
    for (const HeapRegion& region : regions) {
      if (progress_ && !progress_(done, all)) return false;
      done += region.used();
      walker_.reset_totals();
      walker_.source().forget();
      counter_.clear();
      walker_.walk(region, layout.holes, region.start, [&](const HeapObject& object) { counter_(object); });
      CountedRegion& counted = counted_[region.start];
      counted = {.region = region, .counts = {}, .totals = walker_.totals()};
      for (std::uint32_t i = 0; i < counter_.counts().size(); ++i)
        if (counter_.counts()[i].instances > 0) counted.counts.emplace_back(i, counter_.counts()[i]);
    }
    return true;
  }

  // The regions that must be counted again. Without a collection objects do not move, and new objects are after the
  // tops. Regions that no longer exist are dropped. After the last round the last counts of a region are kept.
  std::vector<HeapRegion> changed(const HeapLayout& now, bool collected, bool last) {
    std::vector<HeapRegion> todo;
    std::map<Address, CountedRegion> kept;
    for (const HeapRegion& region : now.regions) {
      const auto known = counted_.find(region.start);
      if (known == counted_.end()) {
        if (collected && region.used() > 0) todo.push_back(region);
        continue;
      }
      const HeapRegion& before = known->second.region;
      const bool same = before.same_content(region) && !(collected && region.young);
      const bool grown = !collected && before.type == region.type && before.top <= region.top;
      const bool was_free = !collected && before.used() == 0;
      if (region.used() == 0 && before.used() == 0) continue;
      const bool good = same || grown || was_free;
      if (!good && region.used() > 0) todo.push_back(region);
      if (good || (last && region.used() > 0)) kept[region.start] = std::move(known->second);
    }
    counted_ = std::move(kept);
    return todo;
  }

  HeapAccess& access_;
  const Progress& progress_;
  HeapWalker walker_;
  Counter counter_;
  std::map<Address, CountedRegion> counted_;
};

}  // namespace

unsigned default_heap_threads() { return std::clamp(std::thread::hardware_concurrency(), 1u, 8u); }

Result<HeapHistogram> take_histogram(HeapAccess& access, unsigned threads, const Progress& progress) {
  if (access.runs()) return RunningHistogram(access, progress).take();
  return histogram_of_stopped_heap(access, std::max(threads, 1u), progress);
}

Result<std::vector<WalkTotals>> walk_each_region(HeapAccess& access, unsigned threads, const Progress& progress) {
  const HeapLayout& layout = access.layout();
  RegionQueue queue(layout.regions, progress);
  std::vector<WalkTotals> totals(layout.regions.size());
  in_threads(std::max(threads, 1u), [&](unsigned) {
    HeapWalker walker(access.klasses(), access.shape(), access.memory());
    while (const auto i = queue.next()) {
      walker.reset_totals();
      walker.walk(layout.regions[*i], layout.holes, layout.regions[*i].start, [](const HeapObject&) {});
      totals[*i] = walker.totals();
      queue.done(*i);
    }
  });
  if (queue.stopped()) return fail(ErrorCategory::kPartial, "interrupted");
  return totals;
}

std::vector<std::string> walk_faults(const WalkTotals& totals) {
  std::vector<std::string> lines;
  if (totals.unparsable > 0)
    lines.push_back(size_text(totals.unparsable) + " of the heap could not be parsed, in " +
                    counted(totals.breaks, "place"));
  if (totals.unreadable > 0) lines.push_back(size_text(totals.unreadable) + " of the heap could not be read");
  return lines;
}

}  // namespace jtrace::coreinspect
