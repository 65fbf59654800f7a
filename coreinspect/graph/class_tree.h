// The dominator tree with the objects of a class merged: what they keep, below the classes of the objects that keep
// them. An object that one of its own class keeps (the next one of a list) is merged with that one.
//
// Pure; any thread. Time: one pass over the reachable objects; depth needs no stack.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coreinspect/graph/heap_tree.h"

namespace jtrace::coreinspect {

struct ClassNode {
  std::string name;  // "Shop$Order"; "class Shop": what its static fields keep
  int depth = 0;     // 0: no single object keeps them
  std::uint64_t objects = 0, shallow = 0, retained = 0;
  std::uint64_t rest = 0;  // of `retained`: kept by objects of these, in nodes that are left out
};

struct ClassTree {
  // Depth first, of siblings the one that retains most first; each retains more than any below it.
  std::vector<ClassNode> nodes;
  std::uint64_t rest = 0;  // bytes: of the top, in nodes that are left out
};
// Nodes that retain less than `least` bytes, or are deeper than `deepest`, are left out.
ClassTree class_tree(const HeapTree& tree, std::uint64_t least, int deepest);
// Those nodes that retain most, at most so many. No node retains less than one below it: what is kept is a tree too.
void keep_largest(std::vector<ClassNode>& nodes, std::size_t most);

}  // namespace jtrace::coreinspect
