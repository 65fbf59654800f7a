#include "coreinspect/graph/heap_totals.h"

#include <algorithm>
#include <set>

#include "base/hidden_names.h"
#include "coreinspect/graph/class_tree.h"
#include "coreinspect/graph/heap_groups.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kSmallPath = 100'000;  // parts of what is reachable

using Rows = std::map<std::string, HeapTotals::Row>;

void add_classes(const HeapTree& tree, Rows& rows) {
  const auto sums = tree.by_class();
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i].objects > 0) rows[tree.graph().classes()[i].name].sum += sums[i];
}

void add_groups(const HeapTree& tree, Grouping by, Rows& rows) {
  for (const HeapGroup& each : heap_groups(tree, by)) {
    rows[each.name].sum += each.sum;
    rows[each.name].members += each.members;
  }
}

void add_paths(const HeapTree& tree, std::uint64_t least, Rows& rows) {
  std::vector<std::string> open;  // by depth: the path of the last node
  for (const ClassNode& node : class_tree(tree, least, kPathLevels - 1).nodes) {
    open.resize(static_cast<std::size_t>(node.depth));
    open.push_back((open.empty() ? "" : open.back() + kPathMark) + node.name);
    rows[open.back()].sum += {.objects = node.objects, .shallow = node.shallow, .retained = node.retained};
  }
}

// By lasting name, those that are equal too.
std::map<std::string, HeapGrowth> both(const HeapTotals& before, const HeapTotals& after) {
  std::map<std::string, HeapGrowth> all;
  for (const auto& [name, row] : before.rows) {
    HeapGrowth& each = all[lasting_name(name)];
    each.before += row.sum;
    each.members_before += row.members;
  }
  for (const auto& [name, row] : after.rows) {
    HeapGrowth& each = all[lasting_name(name)];
    each.after += row.sum;
    each.members_after += row.members;
  }
  for (auto& [name, each] : all) each.name = name;
  return all;
}

std::string above(const std::string& path) {
  const auto mark = path.rfind(kPathMark);
  return mark == path.npos ? "" : path.substr(0, mark);
}

}  // namespace

HeapTotals::HeapTotals(const ObjectGraph& graph, TotalsBy of) : by(of), shape(graph.shape()) {
  const HeapTree tree(graph);
  reachable = tree.reachable();
  if (by == TotalsBy::kClass) add_classes(tree, rows);
  if (by == TotalsBy::kPackage) add_groups(tree, Grouping::kPackage, rows);
  if (by == TotalsBy::kLoader) add_groups(tree, Grouping::kLoaderKind, rows);
  if (by != TotalsBy::kPath) return;
  least = reachable / kSmallPath;
  add_paths(tree, least, rows);
}

std::vector<HeapGrowth> growth(const HeapTotals& before, const HeapTotals& after, GrowthOrder order) {
  std::vector<HeapGrowth> changed;
  for (auto& [name, each] : both(before, after))
    if (each.objects() != 0 || each.bytes() != 0 || each.retained() != 0 || each.members() != 0)
      changed.push_back(each);
  const auto key = [&](const HeapGrowth& each) {
    switch (order) {
      case GrowthOrder::kBytes: return each.bytes();
      case GrowthOrder::kObjects: return each.objects();
      case GrowthOrder::kRetained: return each.retained();
      case GrowthOrder::kName: break;
    }
    return std::int64_t{0};
  };
  std::stable_sort(changed.begin(), changed.end(),
                   [&](const HeapGrowth& a, const HeapGrowth& b) { return key(a) > key(b); });
  return changed;
}

std::vector<HeapGrowth> path_rows(const HeapTotals& before, const HeapTotals& after,
                                  const std::vector<HeapGrowth>& rows, std::size_t most) {
  std::set<std::string> chosen;
  std::map<std::string, std::vector<std::string>> below;  // in order
  for (const HeapGrowth& row : rows) {
    if (chosen.size() >= most) break;
    for (std::string path = row.name; !path.empty() && chosen.insert(path).second; path = above(path))
      below[above(path)].push_back(path);
  }
  const auto all = both(before, after);
  std::vector<HeapGrowth> found;
  std::vector<std::string> open(below[""].rbegin(), below[""].rend());
  while (!open.empty()) {
    const std::string path = open.back();
    open.pop_back();
    if (const auto at = all.find(path); at != all.end()) found.push_back(at->second);
    const auto& next = below[path];
    open.insert(open.end(), next.rbegin(), next.rend());
  }
  return found;
}

}  // namespace jtrace::coreinspect
