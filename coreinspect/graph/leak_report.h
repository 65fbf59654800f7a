// What of a heap looks like a leak, with the evidence, from the tree of dominators. The rules:
//
// - accumulation: where many entries that together keep much hang on one object. From the roots down, as long as single
//   objects keep a large part; there the large part ends, and what is below is small and many.
// - many alike: many instances of a class that no single object keeps, and that together keep much.
// - class loaders: the same classes in several loaders of one kind.
// - thread-locals: what the threads' own maps keep together.
// - reference queue: references that were put there, and nobody takes away; finalizer queue: the JVM's own one.
// - direct buffers: memory outside the heap that small objects in it keep.
// "Much" is a part of what is reachable, and never less than some bytes: see LeakLimits.
// A report says what was looked at, also where nothing was found. Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/graph/heap_tree.h"

namespace jtrace::coreinspect {

struct LeakLimits {
  double share = 0.1;                // of the reachable bytes (Eclipse MAT has the same)
  std::uint64_t bytes = 4u << 20;    // and at least
  std::uint64_t entries = 100;       // of what is no array: fewer are no accumulation
  std::uint64_t loaders = 3;         // with the same classes
  std::uint64_t direct = 32u << 20;  // bytes of direct buffers, and half of the reachable bytes
  std::uint64_t of(std::uint64_t reachable) const {
    return std::max(bytes, static_cast<std::uint64_t>(share * static_cast<double>(reachable)));
  }
};

struct LeakSuspect {
  std::string kind;                  // one of the words above
  std::string sentence;              // what keeps how much
  std::string holder;                // what holds it: HeldBy
  std::string of;                    // class that accumulates
  std::uint32_t object = kNoObject;  // kNoObject: several
  std::uint64_t retained = 0;        // bytes; of direct buffers, outside the heap
  std::uint64_t entries = 0;
  std::vector<std::string> evidence;  // a sentence each
};

struct LeakReport {
  std::vector<LeakSuspect> suspects;   // those that keep most first
  std::vector<std::string> looked_at;  // a sentence each
};

LeakReport find_leaks(const HeapTree& tree, const LeakLimits& limits = {});

}  // namespace jtrace::coreinspect
