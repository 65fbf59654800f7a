// HeapTree: what each object of a graph retains, with the tree of dominators in both directions.
//
// An object retains what would be free without it: itself and everything that it dominates. Objects that only soft,
// weak, final or phantom references reach are in the tree too, below that reference; garbage is not. Ownership: borrows
// the graph. Threads: any number.
#pragma once

#include <array>
#include <span>
#include <unordered_map>
#include <vector>

#include "coreinspect/graph/object_graph.h"

namespace jtrace::coreinspect {

// Memory that several objects of the class retain counts once in `retained`.
struct ClassRetained {
  std::uint64_t objects = 0, shallow = 0, retained = 0;
  ClassRetained& operator+=(const ClassRetained& other) {
    objects += other.objects;
    shallow += other.shallow;
    retained += other.retained;
    return *this;
  }
};

// Many sums of sizes of objects, in 5 bytes each: all are multiples of 8, and less than 8 TiB.
class PackedSizes {
 public:
  void assign(std::size_t count) {
    low_.assign(count, 0);
    high_.assign(count, 0);
  }
  std::uint64_t operator[](std::size_t i) const { return (low_[i] | std::uint64_t{high_[i]} << 32) * kUnit; }
  void set(std::size_t i, std::uint64_t bytes) {
    low_[i] = static_cast<std::uint32_t>(bytes / kUnit);
    high_[i] = static_cast<std::uint8_t>(bytes / kUnit >> 32);
  }
  void add(std::size_t i, std::uint64_t bytes) { set(i, (*this)[i] + bytes); }

 private:
  static constexpr std::uint64_t kUnit = 8;
  std::vector<std::uint32_t> low_;
  std::vector<std::uint8_t> high_;
};

class HeapTree {
 public:
  explicit HeapTree(const ObjectGraph& graph);

  const ObjectGraph& graph() const { return graph_; }
  // Objects and bytes by the strength of the references that hold them.
  const std::array<ClassRetained, kStrengths>& by_strength() const { return by_strength_; }
  std::uint64_t reachable() const { return retained_[0]; }  // bytes

  std::uint64_t retained(std::uint32_t object) const;  // 0 for garbage
  // kNoObject for objects that no single object holds, only several roots together, and for garbage.
  std::uint32_t dominator(std::uint32_t object) const;
  // The objects that it dominates directly; for kNoObject those that no single object holds. Not sorted.
  std::vector<std::uint32_t> dominated(std::uint32_t object) const;
  // The same, ordered by what they retain, at most `most`.
  std::vector<std::uint32_t> largest(std::uint32_t object, std::size_t most) const;
  // By class number of the graph.
  std::vector<ClassRetained> by_class() const;
  // By number of a group: that of the object, or of its class; kNoObject: of none. What several objects of a group
  // retain counts once.
  std::vector<ClassRetained> by_group(const std::vector<std::uint32_t>& of_class,
                                      const std::unordered_map<std::uint32_t, std::uint32_t>& of_object,
                                      std::size_t groups) const;
  // The same; each object's group by its number.
  std::vector<ClassRetained> by_group(const std::vector<std::uint32_t>& of_object, std::size_t groups) const;

 private:
  static constexpr std::uint32_t kNone = 0;
  template <class GroupOf>
  std::vector<ClassRetained> sums(std::size_t groups, GroupOf&& group_of) const;
  std::span<const std::uint32_t> below(std::uint32_t number) const {
    return std::span(children_).subspan(first_child_[number], first_child_[number + 1] - first_child_[number]);
  }

  const ObjectGraph& graph_;
  DominatorTree tree_;
  std::vector<std::uint32_t> number_;                  // by object; 0 for garbage
  PackedSizes retained_;                               // by number
  std::vector<std::uint32_t> first_child_, children_;  // by number
  std::array<ClassRetained, kStrengths> by_strength_{};
};

}  // namespace jtrace::coreinspect
