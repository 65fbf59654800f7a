// Merger: several streams of traces as one document. Streams may overlap, lack pieces and be out of order.
//
//   Merger merger(options);
//   for each input: merger.add(source, name)     reads it into a spool (an unlinked file)
//   merger.write(sink)                           collates and hands everything on
//
// Within a trace elements stand in the order of their collationValue (those without one after the one they followed),
// across traces in the order of time: of the monotonic clock within a node (option jtrace.clock), of the wall clock
// across nodes. A methodEntry with an InvocationContext never stands before the entry or call it names. Elements that
// came twice (same trace, same collationValue) stand once; with another content they are refused. Missing
// collationValues are reported, and marked by an option jtrace.dropped. Nodes and processes that several streams name
// are one; a core's process joins a live one of the same jtrace.vm.
//
// Memory: 32 bytes an element; the spool is as large as the inputs, unpacked. One thread.
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
  bool renumber = false;  // thread, class, method and object ids that are unique in the document, not in their agent
};

struct CollationGap {
  std::string trace_id;
  std::uint64_t first = 0, last = 0;  // the values that are missing
};

struct MergeSummary {
  std::uint64_t elements = 0;  // written
  std::uint64_t traces = 0;
  std::uint64_t duplicates = 0;  // dropped
  std::vector<CollationGap> gaps;
  std::uint64_t remote_calls = 0;        // InvocationContexts whose caller is in the document
  std::uint64_t remote_unknown = 0;      // ... whose caller is in none of the inputs
  std::uint64_t remote_circular = 0;     // ... that could not stand after their caller
  std::uint64_t joined_processes = 0;    // by jtrace.vm
  std::vector<std::string> differences;  // nodes and processes that two streams describe in different ways
};

class MergeStreams;

class Merger {
 public:
  explicit Merger(MergeOptions options);
  ~Merger();

  // Everything of `source` (borrowed for the call; `name` stands in messages).
  Result<ReadSummary> add(EventSource& source, const std::string& name);
  // After the last add(): how many traces there are.
  std::size_t trace_count() const;
  // Hands the merged stream to `sink` (which the caller finishes). kMalformed: two elements of one collationValue that
  // differ, an agent that is defined in two ways. Once.
  Result<MergeSummary> write(EventSink& sink);

 private:
  class Input;
  std::unique_ptr<MergeStreams> streams_;
};

}  // namespace jtrace::trace::io
