#include "coreinspect/gc/histogram.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

namespace jtrace::coreinspect {
namespace {

constexpr int kMaxRounds = 4;

// Counts of one thread: grown as classes are found.
class Counter {
 public:
  void add(const HeapObject& object) {
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

// The regions of a layout shared out among threads, the large ones first.
class RegionQueue {
 public:
  explicit RegionQueue(const std::vector<HeapRegion>& regions, const Progress& progress)
      : regions_(regions), progress_(progress), owner_(std::this_thread::get_id()) {
    for (std::size_t i = 0; i < regions.size(); ++i) {
      if (regions[i].used() == 0) continue;
      order_.push_back(i);
      all_ += regions[i].used();
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return regions[a].used() > regions[b].used(); });
  }
  // Index of a region; nothing at the end, or where the work was given up.
  std::optional<std::size_t> next() {
    if (progress_ && std::this_thread::get_id() == owner_ && !progress_(done_, all_)) stopped_ = true;
    const std::size_t at = next_.fetch_add(1);
    if (stopped_ || at >= order_.size()) return std::nullopt;
    done_ += regions_[order_[at]].used();
    return order_[at];
  }
  bool stopped() const { return stopped_; }

 private:
  const std::vector<HeapRegion>& regions_;
  const Progress& progress_;
  const std::thread::id owner_;
  std::vector<std::size_t> order_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::uint64_t> done_{0};
  std::uint64_t all_ = 0;
  std::atomic<bool> stopped_{false};
};

template <class Work>
void in_threads(unsigned threads, Work&& work) {
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < threads; ++i) helpers.emplace_back([&work, i] { work(i); });
  work(0u);
  for (std::thread& helper : helpers) helper.join();
}

Error given_up() { return {.category = ErrorCategory::kPartial, .text = "interrupted"}; }

Result<HeapHistogram> of_standing_heap(HeapAccess& access, unsigned threads, const Progress& progress) {
  const HeapLayout& layout = access.layout();
  RegionQueue queue(layout.regions, progress);
  std::vector<Counter> counters(threads);
  std::vector<WalkTotals> totals(threads);
  in_threads(threads, [&](unsigned thread) {
    HeapWalker walker(access.klasses(), access.shape(), access.memory());
    Counter counter;  // of its own: neighbours in the vector would share cache lines
    while (const auto i = queue.next())
      walker.walk(layout.regions[*i], layout.holes, layout.regions[*i].start,
                  [&](const HeapObject& object) { counter.add(object); });
    counters[thread] = std::move(counter);
    totals[thread] = walker.totals();
  });
  if (queue.stopped()) return fail(given_up());
  HeapHistogram histogram;
  for (unsigned i = 0; i < threads; ++i) {
    add_to(histogram.counts, counters[i].counts());
    histogram.totals += totals[i];
  }
  return histogram;
}

// One region as it was counted.
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
    for (histogram.rounds = 1;; ++histogram.rounds) {
      if (!count(layout, todo)) return fail(given_up());
      JTRACE_ASSIGN_OR_RETURN(HeapLayout now, access_.layout_now());
      todo = changed(now, now.collections != layout.collections);
      histogram.changed_bytes = 0;
      for (const HeapRegion& region : todo) histogram.changed_bytes += region.used();
      if (todo.empty() || histogram.rounds == kMaxRounds) break;
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
      walker_.walk(region, layout.holes, region.start, [&](const HeapObject& object) { counter_.add(object); });
      CountedRegion& counted = counted_[region.start];
      counted = {.region = region, .counts = {}, .totals = walker_.totals()};
      for (std::uint32_t i = 0; i < counter_.counts().size(); ++i)
        if (counter_.counts()[i].instances > 0) counted.counts.emplace_back(i, counter_.counts()[i]);
    }
    return true;
  }

  // Those to be counted again. Without a collection objects stay where they are, and what was allocated meanwhile lies
  // behind the tops. A region that is there no more is forgotten.
  std::vector<HeapRegion> changed(const HeapLayout& now, bool collected) {
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
      if (same || grown || was_free) kept[region.start] = std::move(known->second);
      else if (region.used() > 0) todo.push_back(region);
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
  return of_standing_heap(access, std::max(threads, 1u), progress);
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
    }
  });
  if (queue.stopped()) return fail(given_up());
  return totals;
}

std::vector<std::string> walk_faults(const WalkTotals& totals) {
  std::vector<std::string> lines;
  if (totals.unparsable > 0)
    lines.push_back(std::to_string(totals.unparsable) + " bytes of the heap could not be parsed, in " +
                    std::to_string(totals.breaks) + " places");
  if (totals.unreadable > 0) lines.push_back(std::to_string(totals.unreadable) + " bytes of the heap could not be read");
  return lines;
}

}  // namespace jtrace::coreinspect
