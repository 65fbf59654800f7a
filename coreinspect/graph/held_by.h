// HeldBy: the holder of an object in words: the last static field, thread-local or local variable on the shortest path
// to it, otherwise the kind of its root.
//
// Ownership: borrows the graph and the paths. Threads: any number.
#pragma once

#include <string>

#include "coreinspect/graph/object_fields.h"
#include "coreinspect/graph/shortest_paths.h"

namespace jtrace::coreinspect {

class HeldBy {
 public:
  HeldBy(const ObjectGraph& graph, const ShortestPaths& paths) : graph_(graph), fields_(graph), paths_(paths) {}

  // "static Shop.CACHE", "a thread-local of thread \"worker\"", "a local variable of thread \"main\"", "a JNI global".
  std::string holder(std::uint32_t object) const;
  // By which field of `above`, which dominates it, the object is held: "static Shop.CACHE", "Shop.cache"; if `above`
  // does not refer to it, or is kNoObject: holder().
  std::string below(std::uint32_t above, std::uint32_t object) const;
  // The steps of the path with their fields, on one line; of a long path only both ends.
  std::string path(std::uint32_t object) const;
  // "thread \"worker\"".
  std::string thread(std::uint32_t object) const;

 private:
  // The holder if this edge is a static field, a thread-local or a local variable; "" for all other edges.
  std::string anchor(std::uint32_t from, const std::string& edge) const;

  const ObjectGraph& graph_;
  ObjectFields fields_;
  const ShortestPaths& paths_;
};

}  // namespace jtrace::coreinspect
