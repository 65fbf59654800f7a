// ShownTree: of the dominator tree what a picture has room for: the objects that retain most, each below the one that
// keeps it.
//
// A long list of objects of one class, each of which keeps the next and little else, is one node, however long it is.
// Each node is before those below it, and retains at least as much as any of them. Pure; any thread. Time: that of the
// children of the objects that are shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coreinspect/graph/heap_tree.h"

namespace jtrace::coreinspect {

struct ShownNode {
  static constexpr std::uint32_t kNone = kNoObject;
  std::uint32_t above = kNone;  // its place in `nodes`; kNone: no single object keeps it
  std::uint32_t object = 0;     // the first of `count`
  std::uint64_t count = 1;      // objects of one class in a list
  std::uint64_t shallow = 0;    // bytes of these
  std::uint64_t retained = 0;   // bytes that the first retains
  std::string edge;             // from the object that keeps it: ".next"; "" if no field leads straight to it
  std::uint64_t rest = 0;       // objects that these dominate directly and that are no nodes
};

struct ShownTree {
  std::vector<ShownNode> nodes;
  std::uint64_t rest = 0;  // objects that no single object keeps and that are no nodes
};

struct ShownLimits {
  std::size_t nodes = 12'000;
  std::size_t below = 50;     // of one node
  std::uint64_t least = 0;    // bytes that a node retains
  std::uint32_t depth = 100;  // levels
};
ShownTree shown_tree(const HeapTree& tree, const ShownLimits& limits);

}  // namespace jtrace::coreinspect
