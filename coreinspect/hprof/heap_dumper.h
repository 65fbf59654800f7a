// Heap dump: all of a heap as an hprof file, streamed: classes, threads with their stacks, all objects, roots.
//
// Two walks: the first finds the classes and which words of frames are references, the second writes the objects.
// Memory use is bounded by the segments of the threads, whatever the size of the heap. If the JVM runs in the meantime
// (--no-stop), the two walks see different moments, and references may lead to objects that are not in the dump.
// Ownership: borrows the access and the sink, which it does not finish. Threads: one at a time. Errors: those of the
// sink and of the walk.
#pragma once

#include <string>
#include <unordered_map>
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

// What the format has no room for: the sizes of objects, which the fields do not tell where a class has padding
// (@Contended), or fields that the VM adds.
struct RealSizes {
  struct OfClass {
    std::uint32_t bytes = 0, injected = 0;  // of an instance, not aligned; of these in fields that are not in the dump
  };
  std::unordered_map<std::uint64_t, OfClass> of_class;             // by the id of the class, whose instances are equal
  std::vector<std::pair<std::uint64_t, std::uint64_t>> of_object;  // id and bytes of the others, without arrays
};

struct HeapDumpResult {
  HeapDumpCounts counts;
  RealSizes sizes;
  WalkTotals totals;
  std::vector<std::string> missing;
};

// `millis`: the time of the dump, ms since the epoch. `redacted`: without contents (redaction.h).
Result<HeapDumpResult> dump_heap(HeapAccess& access, trace::ByteSink& sink, std::uint64_t millis, unsigned threads,
                                 const Progress& progress, bool redacted = false);

}  // namespace jtrace::coreinspect
