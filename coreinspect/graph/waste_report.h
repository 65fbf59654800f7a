// The parts of a heap that could be saved, by kind and class, with the field that holds most of each.
//
// The kinds, and their bytes:
// - duplicate strings: equal strings except one of each; an array that several strings share counts once
// - duplicate arrays: equal primitive arrays except one of each; without those of strings
// - arrays of zeros: primitive arrays of kZeros bytes or more that contain only zeros: all of them
// - empty arrays: arrays without elements except one of each class
// - empty collections, single-entry collections: all of them, with their arrays
// - oversized collections: two entries or more, and more than four times as many slots: the unused slots
// - boxed numbers: the bytes of the objects besides the number
// - null fields: references that are null in at least nine of ten instances of a class, of 100 or more; without
// those that the JDK declares
// - padding: the bytes at the end of objects up to their alignment, of classes in which it is a thousandth of the heap
// Kinds overlap. Garbage is left out. A redacted dump has no contents: what is equal or zero there is not known, and
// not among the findings. Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/graph/heap_tree.h"

namespace jtrace::coreinspect {

struct WasteExample {
  std::string text;
  std::uint64_t objects = 0, bytes = 0;  // the number of equal objects, and the bytes that could be saved
};

struct WasteFinding {
  std::string kind, of;       // as above; the class, of null fields with the field
  std::uint64_t objects = 0;  // that could be removed or made smaller
  std::uint64_t bytes = 0;
  std::string holder;                  // the field, of the nearest holder outside the JDK, that holds most of the bytes
  std::uint64_t held = 0;              // bytes held by that field
  std::vector<WasteExample> examples;  // of duplicate strings: those with most bytes
};

constexpr std::uint64_t kZeros = 64;  // bytes

// Those with the most bytes first.
std::vector<WasteFinding> find_waste(const ObjectGraph& graph);

}  // namespace jtrace::coreinspect
