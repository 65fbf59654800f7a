// HeapTotals: the figures of a heap that outlive its graph, so that two heaps are compared with one in memory at a
// time.
//
// Of what is reachable. Classes of one name are one row, whatever their loaders. Threads: any, they are values.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "coreinspect/graph/heap_tree.h"

namespace jtrace::coreinspect {

struct HeapTotals {
  explicit HeapTotals(const ObjectGraph& graph);

  std::map<std::string, ClassRetained> classes;  // by name
  std::uint64_t reachable = 0;                   // bytes
  HeapShape shape;
};

// How a class has changed from one heap to the other.
struct ClassGrowth {
  std::string name;
  ClassRetained before, after;
  std::int64_t objects() const { return grown(before.objects, after.objects); }
  std::int64_t bytes() const { return grown(before.shallow, after.shallow); }
  std::int64_t retained() const { return grown(before.retained, after.retained); }

 private:
  static std::int64_t grown(std::uint64_t from, std::uint64_t to) { return static_cast<std::int64_t>(to - from); }
};

enum class GrowthOrder : std::uint8_t { kBytes, kObjects, kRetained, kName };
// Classes that changed, those that grew most first; equal ones by name.
std::vector<ClassGrowth> growth(const HeapTotals& before, const HeapTotals& after, GrowthOrder order);

}  // namespace jtrace::coreinspect
