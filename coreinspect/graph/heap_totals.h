// HeapTotals: the figures of a heap that remain when its graph is freed, so that two heaps can be compared with only
// one graph in memory.
//
// Only reachable objects count. Rows are by name: classes with the same name are one row, whatever their loaders;
// loaders of one class with one name are one row. Threads: any (values).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "coreinspect/graph/heap_tree.h"

namespace jtrace::coreinspect {

// kPath: the dominator tree by class (class_tree.h), down to kPathLevels.
enum class TotalsBy : std::uint8_t { kClass, kPackage, kLoader, kPath };
constexpr int kPathLevels = 10;
// Between the names of a path, the outermost first.
constexpr char kPathMark = '\n';

struct HeapTotals {
  explicit HeapTotals(const ObjectGraph& graph, TotalsBy by = TotalsBy::kClass);

  struct Row {
    ClassRetained sum;
    std::uint64_t members = 0;  // loaders
  };
  std::map<std::string, Row> rows;
  TotalsBy by = TotalsBy::kClass;
  std::uint64_t reachable = 0;  // bytes
  std::uint64_t least = 0;      // bytes: paths that retain less are left out
  HeapShape shape;
};

// The difference of a row between two heaps.
struct HeapGrowth {
  std::string name;
  ClassRetained before, after;
  std::uint64_t members_before = 0, members_after = 0;
  std::int64_t objects() const { return grown(before.objects, after.objects); }
  std::int64_t bytes() const { return grown(before.shallow, after.shallow); }
  std::int64_t retained() const { return grown(before.retained, after.retained); }
  std::int64_t members() const { return grown(members_before, members_after); }

 private:
  static std::int64_t grown(std::uint64_t from, std::uint64_t to) { return static_cast<std::int64_t>(to - from); }
};

enum class GrowthOrder : std::uint8_t { kBytes, kObjects, kRetained, kName };
// The rows that differ, ordered by growth; equal ones by name.
std::vector<HeapGrowth> growth(const HeapTotals& before, const HeapTotals& after, GrowthOrder order);
// Of paths: the first `most` of `rows` with those above them, each below the one that keeps it, else in their order.
std::vector<HeapGrowth> path_rows(const HeapTotals& before, const HeapTotals& after,
                                  const std::vector<HeapGrowth>& rows, std::size_t most);

}  // namespace jtrace::coreinspect
