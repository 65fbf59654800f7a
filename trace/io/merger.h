// Merger: merges several streams of traces into one document. Streams may overlap, have gaps and be out of order.
//
//   Merger merger(options);
//   for each input: merger.add(source, name)     reads it into a spool (an unlinked file)
//   merger.write(sink)                           collates and passes everything on
//
// Within a trace, elements are in the order of their collationValue (one without it comes after the element that it
// followed); across traces, in the order of time: of the monotonic clock within a node (option jtrace.clock), of the
// wall clock across nodes. A methodEntry with an InvocationContext never comes before the entry or call that it names.
// Duplicate elements (same trace, same collationValue) are written once; if their contents differ, the merge fails.
// Missing collationValues are reported, and marked by an option jtrace.dropped. Nodes and processes that several
// streams name become one; a core's process is joined with a live one of the same jtrace.vm.
//
// Memory: 32 bytes per element; the spool is as large as the uncompressed inputs. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/event_sink.h"
#include "trace/io/event_source.h"

namespace jtrace::trace::io {

struct MergeOptions {
  std::string spool_folder = "/tmp";
  bool renumber = false;  // makes thread, class, method and object ids unique in the document, not only in their agent
};

struct CollationGap {
  std::string trace_id;
  std::uint64_t first = 0, last = 0;  // the missing values
};

struct MergeSummary {
  std::uint64_t elements = 0;  // written
  std::uint64_t traces = 0;
  std::uint64_t duplicates = 0;  // dropped
  std::vector<CollationGap> gaps;
  std::uint64_t remote_calls = 0;        // InvocationContexts whose caller is in the document
  std::uint64_t remote_unknown = 0;      // ... whose caller is in none of the inputs
  std::uint64_t remote_circular = 0;     // ... that could not be placed after their caller
  std::uint64_t joined_processes = 0;    // by jtrace.vm
  std::vector<std::string> differences;  // nodes and processes that two streams describe differently
};

class MergeStreams;

class Merger {
 public:
  explicit Merger(MergeOptions options);
  ~Merger();

  // Reads all of `source` (borrowed for the call; `name` is used in messages).
  Result<ReadSummary> add(EventSource& source, const std::string& name);
  // The number of traces, after the last add().
  std::size_t trace_count() const;
  // Passes the merged stream to `sink` (which the caller finishes). kMalformed: two different elements with one
  // collationValue, two different definitions of an agent. Call it once.
  Result<MergeSummary> write(EventSink& sink);

 private:
  class Input;
  std::unique_ptr<MergeStreams> streams_;
};

}  // namespace jtrace::trace::io
