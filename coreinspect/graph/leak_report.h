// Parts of a heap that look like leaks, with the evidence, from the tree of dominators. The rules:
//
// - accumulation: many entries that together retain much are held by one object. The search goes down from the roots as
// long as single objects retain a large part, and ends where only many small ones follow.
// - many alike: many instances of a class that together retain much, while no single object, or no single field of the
// object that keeps them all, holds them.
// - class loaders: the same classes in several loaders of one kind. They retain what the loaders, their classes and the
// objects of these retain together.
// - thread-locals: the memory that the threads' own maps retain together.
// - reference queue: references in a queue that are not taken out; finalizer queue: the JVM's own queue.
// - direct buffers: memory outside the heap that small objects in it hold.
// One look cannot know whether what is much grows. "Much" is a share of the reachable bytes, and at least a number of
// bytes: see LeakLimits. A report has what was examined, also if nothing was found. Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/graph/heap_tree.h"

namespace jtrace::coreinspect {

struct LeakLimits {
  double share = 0.1;                // of the reachable bytes (the same as in Eclipse MAT)
  std::uint64_t bytes = 4u << 20;    // and at least this many
  std::uint64_t entries = 100;       // if the holder is not an array: fewer entries are not an accumulation
  std::uint64_t loaders = 3;         // with the same classes
  std::uint64_t direct = 32u << 20;  // bytes of direct buffers, and half of the reachable bytes
  std::uint64_t of(std::uint64_t reachable) const {
    return std::max(bytes, static_cast<std::uint64_t>(share * static_cast<double>(reachable)));
  }
};

struct LeakSuspect {
  std::string kind;                  // one of the words above
  std::string sentence;              // what retains how much
  std::string holder;                // what holds it: HeldBy
  std::string field;                 // of the program, that has it, if the holder is another one: HolderFields
  std::string of;                    // the class that accumulates
  std::uint32_t object = kNoObject;  // kNoObject: several
  std::uint64_t retained = 0;        // bytes; for direct buffers, those outside the heap
  std::uint64_t entries = 0;
  bool may_be_bounded = false;        // a cache, by its class
  bool is_one_array = false;          // of a primitive type, and nothing that is known to grow has it
  std::vector<std::string> evidence;  // a sentence each
};

struct LeakReport {
  std::vector<LeakSuspect> suspects;   // those that retain most first, then arrays, then those that may be bounded
  std::vector<std::string> looked_at;  // a sentence each
};

LeakReport find_leaks(const HeapTree& tree, const LeakLimits& limits = {});

}  // namespace jtrace::coreinspect
