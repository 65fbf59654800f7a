// MergeCollator: puts the elements of one trace, from any number of inputs, in one order: that of their collationValue.
// Duplicates are dropped, missing ones are marked, and times are converted to the clock of the trace's node. One
// thread.
#pragma once

#include <map>
#include <string>

#include "trace/io/merge_streams.h"

namespace jtrace::trace::io {

class MergeCollator {
 public:
  // Both are borrowed; results are added to `summary`.
  MergeCollator(MergeStreams& streams, MergeSummary& summary) : streams_(streams), summary_(summary) {}

  // Afterwards MergeItem::time never goes back within the trace: it orders traces relative to each other. kMalformed:
  // two different elements with one collationValue.
  Result<> collate(MergeTrace& trace);

 private:
  Result<> drop_duplicates(MergeTrace& trace);
  void mark_gaps(MergeTrace& trace);
  void set_times(MergeTrace& trace);
  std::int64_t clock_shift(const MergeTrace& trace);

  MergeStreams& streams_;
  MergeSummary& summary_;
  std::map<std::string, MergeClock> node_clocks_;  // of the first trace of each node
};

}  // namespace jtrace::trace::io
