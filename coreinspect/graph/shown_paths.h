// ShownPaths: the shortest paths from the roots to many objects, as a table of steps that the paths share.
//
// Of a long path both ends are in the table, with a step between them that has the number of those left out. Ownership:
// borrows the graph and the paths. Threads: one at a time.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "coreinspect/graph/shortest_paths.h"

namespace jtrace::coreinspect {

struct ShownStep {
  std::uint32_t before = kNoObject;  // place of the step before it; kNoObject at a root
  std::uint32_t object = kNoObject;  // kNoObject: `skipped` objects
  std::uint64_t skipped = 0;
  std::string edge;  // from the object before it; of a root its kind
};

class ShownPaths {
 public:
  ShownPaths(const ObjectGraph& graph, const ShortestPaths& paths) : graph_(graph), paths_(paths) {}

  // The place of the object's step; kNoObject for garbage, and if there is no room for its path.
  std::uint32_t step_of(std::uint32_t object);
  const std::vector<ShownStep>& steps() const { return steps_; }
  // A name for an edge that is known already, so that it is not searched.
  void know_edge(std::uint32_t from, std::uint32_t to, const std::string& name) { known_[key(from, to)] = name; }

  static constexpr std::size_t kMostSteps = 40'000;  // of all paths
  static constexpr std::size_t kLongPath = 60, kPathEnd = 20;

 private:
  static std::uint64_t key(std::uint32_t from, std::uint32_t to) { return std::uint64_t{from} << 32 | to; }
  std::string edge(std::uint32_t from, std::uint32_t to) const;
  std::uint32_t add(std::uint32_t before, std::uint32_t object);

  const ObjectGraph& graph_;
  const ShortestPaths& paths_;
  std::vector<ShownStep> steps_;
  std::unordered_map<std::uint32_t, std::uint32_t> places_;  // by object
  std::unordered_map<std::uint64_t, std::string> known_;
  std::uint64_t walked_ = 0;  // steps upwards, of all paths
};

}  // namespace jtrace::coreinspect
