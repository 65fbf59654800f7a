// Heap dump: all of a heap as an hprof file, streamed: classes, threads with their stacks, all objects, roots.
//
// Two walks: the first finds the classes and which words of frames are references, the second writes the objects.
// Memory use is bounded by the segments of the threads, whatever the size of the heap. If the JVM runs in the meantime
// (--no-stop), the two walks see different moments, and references may lead to objects that are not in the dump.
// Ownership: borrows the access and the sink, which it does not finish. Threads: one at a time. Errors: those of the
// sink and of the walk.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/gc/parallel_walk.h"
#include "trace/byte_sink.h"

namespace jtrace::coreinspect {

struct HeapDumpCounts {
  std::uint64_t classes = 0, instances = 0, object_arrays = 0, primitive_arrays = 0;
  std::uint64_t jni_globals = 0, jni_locals = 0, java_frames = 0, sticky_classes = 0, monitors = 0, threads = 0;
  std::uint64_t virtual_threads = 0, frames = 0;
  std::uint64_t fillers = 0;    // left out
  std::uint64_t truncated = 0;  // arrays with more bytes than a record can have
  std::uint64_t unknown = 0;    // objects of classes that the first walk did not meet
  HeapDumpCounts& operator+=(const HeapDumpCounts& other);
};

struct HeapDumpResult {
  HeapDumpCounts counts;
  WalkTotals totals;
  std::vector<std::string> missing;
};

// `millis`: the time of the dump, ms since the epoch. `redacted`: without contents (redaction.h).
Result<HeapDumpResult> dump_heap(HeapAccess& access, trace::ByteSink& sink, std::uint64_t millis, unsigned threads,
                                 const Progress& progress, bool redacted = false);

}  // namespace jtrace::coreinspect
