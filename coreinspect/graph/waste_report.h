// What of a heap could be done without, by kind and class, with the field that holds most of it.
//
// Kinds, and what their bytes are:
// - duplicate strings: equal strings but for one of each; an array that several share counts once
// - duplicate arrays: equal primitive arrays but for one of each, those of strings apart
// - arrays of zeros: primitive arrays of kZeros bytes or more that are 0 throughout: all of them
// - empty arrays: arrays of no elements but for one of each class
// - empty collections, single-entry collections: all of them, each with the array that it has
// - oversized collections: two entries or more, and four times as many slots: the references that are not used
// - boxed numbers: what the objects have besides the number
// Kinds overlap. Garbage is left out. Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/graph/heap_tree.h"

namespace jtrace::coreinspect {

struct WasteExample {
  std::string text;
  std::uint64_t objects = 0, bytes = 0;  // how many are equal, what could be done without
};

struct WasteFinding {
  std::string kind, of;       // as above; the class
  std::uint64_t objects = 0;  // that could be done without, or made smaller
  std::uint64_t bytes = 0;
  std::string holder;                  // the field of the nearest holder outside the JDK that holds most of the bytes
  std::uint64_t held = 0;              // bytes by that field
  std::vector<WasteExample> examples;  // of duplicate strings: those with most bytes
};

constexpr std::uint64_t kZeros = 64;  // bytes

// Those with most bytes first.
std::vector<WasteFinding> find_waste(const ObjectGraph& graph);

}  // namespace jtrace::coreinspect
