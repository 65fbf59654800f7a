// ReadLog: which bytes of a target were read, to the byte. Threads: any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "target/memory_reader.h"

namespace jtrace::target {

struct ReadBytes {
  Address start = 0, end = 0;
};

class ReadLog {
 public:
  void add(Address start, std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    if (is_left_out(start)) return;
    if (!reads_.empty() && reads_.back().start <= start && start <= reads_.back().end) {
      reads_.back().end = std::max(reads_.back().end, start + size);
      return;
    }
    reads_.push_back({start, start + size});
    if (reads_.size() >= most_) merge();
  }
  // From now on reads that begin in these ranges, by address, are not noted.
  void leave_out(std::vector<ReadBytes> ranges) {
    const std::lock_guard lock(mutex_);
    left_out_ = std::move(ranges);
  }
  // By address, none touches another.
  std::vector<ReadBytes> all() {
    const std::lock_guard lock(mutex_);
    merge();
    return reads_;
  }

 private:
  bool is_left_out(Address start) const {
    const auto next = std::upper_bound(left_out_.begin(), left_out_.end(), start,
                                       [](Address at, const ReadBytes& each) { return at < each.end; });
    return next != left_out_.end() && next->start <= start;
  }
  void merge() {
    std::sort(reads_.begin(), reads_.end(), [](const ReadBytes& a, const ReadBytes& b) { return a.start < b.start; });
    std::vector<ReadBytes> merged;
    for (const ReadBytes& each : reads_)
      if (!merged.empty() && each.start <= merged.back().end) merged.back().end = std::max(merged.back().end, each.end);
      else merged.push_back(each);
    reads_ = std::move(merged);
    most_ = std::max<std::size_t>(1u << 20, 2 * reads_.size());
  }

  std::mutex mutex_;
  std::vector<ReadBytes> reads_, left_out_;
  std::size_t most_ = 1u << 20;
};

}  // namespace jtrace::target
