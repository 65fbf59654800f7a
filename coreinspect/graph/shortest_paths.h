// ShortestPaths: a path from the roots to each object, by breadth-first searches in an order of their own: what a
// program would be changed for comes first, then length.
//
// 1. From the static fields of classes that are never unloaded (LastingClasses), but not through threads. So an object
// is held by the static field, though the target of a thread or a lambda refers to it too.
// 2. From threads by their fields, JNI globals and all other roots. Statics of other classes are on paths that show
// what holds their loader.
// 3. From what only running code holds: local variables of threads, and locks. So the table of a static map is held by
// the map, though a put() that is running has it in a local variable.
// Ownership: borrows the graph. Threads: any number.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/graph/lasting_classes.h"

namespace jtrace::coreinspect {

class ShortestPaths {
 public:
  struct Step {
    std::uint32_t object = 0;
    std::string edge;  // the edge from the previous step; "" for the root
  };
  explicit ShortestPaths(const ObjectGraph& graph);
  // The previous object on its path: itself for a root, kNoObject for garbage.
  std::uint32_t before(std::uint32_t object) const { return from_[object]; }
  // The path from a root to the object; empty for garbage.
  std::vector<Step> to(std::uint32_t object) const;
  // The kind of root that a path begins with: that of the graph, or "class of the app loader".
  std::string root_name(std::uint32_t root) const;

 private:
  enum class Reach { kStatics, kFields, kLocals };  // of each of these searches
  // The threads at which the search has ended.
  std::vector<std::uint32_t> search(std::vector<std::uint32_t> now, Reach reach);
  // Appends what the search meets first by edges of the object, from the edge `first` on.
  void follow(const ObjectGraph::EdgeList& edges, std::uint32_t object, std::uint32_t first, Reach reach,
              std::vector<std::uint32_t>& next);
  std::vector<std::uint32_t> begin_at_statics();
  void begin_at_roots(const std::vector<std::uint32_t>& roots, const std::vector<std::uint32_t>& threads);
  void begin_at_code(std::vector<std::uint32_t> roots);

  const ObjectGraph& graph_;
  const LastingClasses lasting_;
  std::vector<std::uint32_t> from_;  // by object: itself for a root, kNoObject for garbage
};

}  // namespace jtrace::coreinspect
