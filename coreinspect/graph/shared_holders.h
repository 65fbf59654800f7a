// SharedHolders: the fields by which many objects are held, if several of them hold each, so that none keeps them
// alone.
//
// Takes a pass over all references. Ownership: nothing. Threads: any number.
#pragma once

#include "coreinspect/graph/held_by.h"

namespace jtrace::coreinspect {

struct SharedHolders {
  // "static Shop.BY_ID", and how many of the objects are below it; those with most first.
  std::vector<std::pair<std::string, std::uint64_t>> fields;
  std::uint64_t direct = 0;  // objects to which the one above them refers itself
  std::uint64_t mutual = 0;  // references of the objects to each other
  bool more = false;         // not all holders were looked at

  // "static Shop.BY_ID and static Shop.BY_NAME"; "several" if none is known.
  std::string text() const;
  // "5000 of them are held by static Shop.BY_ID".
  std::vector<std::string> sentences() const;
};

// `above`: the object that dominates them; kNoObject: none does.
SharedHolders shared_holders(const HeapTree& tree, const ShortestPaths& paths, const HeldBy& held,
                             const std::vector<std::uint32_t>& objects, std::uint32_t above);

}  // namespace jtrace::coreinspect
