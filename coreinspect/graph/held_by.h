// HeldBy: what keeps an object, in words: the last static field, thread-local or local variable on the shortest way to
// it, or what its root is.
//
// Ownership: borrows the graph and the paths. Threads: any number may ask.
#pragma once

#include <string>

#include "coreinspect/graph/heap_tree.h"
#include "coreinspect/graph/object_fields.h"

namespace jtrace::coreinspect {

class HeldBy {
 public:
  HeldBy(const ObjectGraph& graph, const ShortestPaths& paths) : graph_(graph), fields_(graph), paths_(paths) {}

  // "static Shop.CACHE", "a thread-local of thread \"worker\"", "a local variable of thread \"main\"", "a JNI global".
  std::string holder(std::uint32_t object) const;
  // The steps of the way with the fields, on one line; of a long way both ends.
  std::string path(std::uint32_t object) const;
  // "thread \"worker\"".
  std::string thread(std::uint32_t object) const;

 private:
  // What holds by the edge from one step to the next; "" for an edge that is as any other.
  std::string anchor(std::uint32_t from, const std::string& edge) const;

  const ObjectGraph& graph_;
  ObjectFields fields_;
  const ShortestPaths& paths_;
};

}  // namespace jtrace::coreinspect
