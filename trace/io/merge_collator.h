// MergeCollator: the elements of one trace, of however many inputs, in one order: that of their collationValue. What
// came twice stands once, what is missing is marked, and times are brought onto the clock of the trace's node. One
// thread.
#pragma once

#include <map>
#include <string>

#include "trace/io/merge_streams.h"

namespace jtrace::trace::io {

class MergeCollator {
 public:
  // Both are borrowed; what is found goes into `summary`.
  MergeCollator(MergeStreams& streams, MergeSummary& summary) : streams_(streams), summary_(summary) {}

  // Afterwards MergeItem::time never goes back within the trace: it is what orders traces among themselves.
  // kMalformed: two elements of one collationValue that differ.
  Result<> collate(MergeTrace& trace);

 private:
  Result<> drop_duplicates(MergeTrace& trace);
  void mark_gaps(MergeTrace& trace);
  void set_times(MergeTrace& trace);
  std::int64_t clock_shift(const MergeTrace& trace);

  MergeStreams& streams_;
  MergeSummary& summary_;
  std::map<std::string, MergeClock> node_clocks_;  // the first one of each node
};

}  // namespace jtrace::trace::io
