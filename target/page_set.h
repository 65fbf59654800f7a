// PageSet: a set of pages by address, in runs. Values; one thread.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "target/pagemap.h"

namespace jtrace::target {

class PageSet {
 public:
  // The pages that [start, end) touches.
  void add(Address start, Address end) {
    const std::uint64_t page = Pagemap::page_size();
    start &= ~(page - 1);
    end = (end + page - 1) & ~(page - 1);
    if (end <= start) return;
    auto next = runs_.upper_bound(start);
    if (next != runs_.begin() && std::prev(next)->second >= start) --next;
    while (next != runs_.end() && next->first <= end) {
      start = std::min(start, next->first);
      end = std::max(end, next->second);
      next = runs_.erase(next);
    }
    runs_.emplace(start, end);
  }
  void add(const PageSet& others) {
    for (const auto& [start, end] : others.runs_) add(start, end);
  }

  // The parts of [start, end) that are in the set, by address.
  std::vector<PageRun> within(Address start, Address end) const {
    std::vector<PageRun> found;
    auto next = runs_.upper_bound(start);
    if (next != runs_.begin() && std::prev(next)->second > start) --next;
    for (; next != runs_.end() && next->first < end; ++next)
      found.push_back({std::max(start, next->first), std::min(end, next->second)});
    return found;
  }
  // The pages of this set that are not in `others`.
  PageSet without(const PageSet& others) const {
    PageSet rest;
    for (const auto& [start, end] : runs_) {
      Address at = start;
      for (const PageRun& run : others.within(start, end)) {
        rest.add(at, run.start);
        at = run.end;
      }
      rest.add(at, end);
    }
    return rest;
  }
  bool has(Address address) const { return !within(address, address + 1).empty(); }

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [start, end] : runs_) sum += end - start;
    return sum;
  }
  bool empty() const { return runs_.empty(); }

 private:
  std::map<Address, Address> runs_;  // start, end; they do not touch
};

}  // namespace jtrace::target
