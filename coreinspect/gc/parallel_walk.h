// Walks over all regions of a heap with several threads. The threads take regions one by one, the large ones first;
// each has a walker and a visitor of its own.
//
// A visitor has begin(const HeapRegion&), operator()(const HeapObject&) and end(). Errors: kPartial ("interrupted") if
// `progress` returns false.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "coreinspect/gc/heap_access.h"

namespace jtrace::coreinspect {

// Called at intervals with the progress of long work, by the thread that started it; false ends the work.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t all)>;

class RegionQueue {
 public:
  RegionQueue(const std::vector<HeapRegion>& regions, const Progress& progress)
      : regions_(regions), progress_(progress), owner_(std::this_thread::get_id()) {
    for (std::size_t i = 0; i < regions.size(); ++i) {
      if (regions[i].used() == 0) continue;
      order_.push_back(i);
      all_ += regions[i].used();
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return regions[a].used() > regions[b].used(); });
  }
  // Index of the next region; nothing after the last one, or if the work was cancelled.
  std::optional<std::size_t> next() {
    const std::size_t at = next_.fetch_add(1);
    if (!tick(0) || at >= order_.size()) return std::nullopt;
    return order_[at];
  }
  // Reports how much of the current region is done; false if the work was cancelled. done() counts the rest of a
  // region.
  bool tick(std::uint64_t of_region) {
    if (progress_ && std::this_thread::get_id() == owner_ && !progress_(std::min(done_ + of_region, all_), all_))
      stopped_ = true;
    return !stopped_;
  }
  void done(std::size_t index) { done_ += regions_[index].used(); }
  void stop() { stopped_ = true; }
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

// Runs work(i) in `threads` threads; work(0) in the calling one.
template <class Work>
void in_threads(unsigned threads, Work&& work) {
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < threads; ++i) helpers.emplace_back([&work, i] { work(i); });
  work(0u);
  for (std::thread& helper : helpers) helper.join();
}

// `visitors`: one for each thread.
template <class Visitor>
Result<WalkTotals> walk_regions(HeapAccess& access, std::vector<Visitor>& visitors, std::size_t want,
                                const Progress& progress) {
  const HeapLayout& layout = access.layout();
  RegionQueue queue(layout.regions, progress);
  std::vector<WalkTotals> totals(visitors.size());
  in_threads(static_cast<unsigned>(visitors.size()), [&](unsigned thread) {
    HeapWalker walker(access.klasses(), access.shape(), access.memory(), want);
    Visitor visitor = std::move(visitors[thread]);  // a local copy: neighbours in the vector share cache lines
    walker.set_tick([&](std::uint64_t of_region) { return queue.tick(of_region); });
    while (const auto i = queue.next()) {
      visitor.begin(layout.regions[*i]);
      walker.walk(layout.regions[*i], layout.holes, layout.regions[*i].start,
                  [&](const HeapObject& object) { visitor(object); });
      queue.done(*i);
    }
    visitor.end();
    visitors[thread] = std::move(visitor);
    totals[thread] = walker.totals();
  });
  if (queue.stopped()) return fail(ErrorCategory::kPartial, "interrupted");
  WalkTotals sum;
  for (const WalkTotals& part : totals) sum += part;
  return sum;
}

}  // namespace jtrace::coreinspect
