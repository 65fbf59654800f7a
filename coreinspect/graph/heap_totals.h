// HeapTotals: the figures of a heap that remain when its graph is freed, so that two heaps can be compared with only
// one graph in memory.
//
// Only reachable objects count. Classes with the same name are one row, whatever their loaders. Threads: any (values).
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

// The difference of a class between two heaps.
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
// The classes that differ, ordered by growth; equal ones by name.
std::vector<ClassGrowth> growth(const HeapTotals& before, const HeapTotals& after, GrowthOrder order);

}  // namespace jtrace::coreinspect
