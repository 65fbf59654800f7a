#include "coreinspect/graph/heap_totals.h"

#include <algorithm>

#include "base/hidden_names.h"

namespace jtrace::coreinspect {

HeapTotals::HeapTotals(const ObjectGraph& graph) : shape(graph.shape()) {
  const HeapTree tree(graph);
  reachable = tree.reachable();
  const auto sums = tree.by_class();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].objects == 0) continue;
    classes[graph.classes()[i].name] += sums[i];
  }
}

std::vector<ClassGrowth> growth(const HeapTotals& before, const HeapTotals& after, GrowthOrder order) {
  std::map<std::string, ClassGrowth> all;
  for (const auto& [name, sum] : before.classes) all[lasting_name(name)].before += sum;
  for (const auto& [name, sum] : after.classes) all[lasting_name(name)].after += sum;
  std::vector<ClassGrowth> changed;
  for (auto& [name, each] : all) {
    if (each.objects() == 0 && each.bytes() == 0 && each.retained() == 0) continue;
    each.name = name;
    changed.push_back(each);
  }
  const auto key = [&](const ClassGrowth& each) {
    switch (order) {
      case GrowthOrder::kBytes: return each.bytes();
      case GrowthOrder::kObjects: return each.objects();
      case GrowthOrder::kRetained: return each.retained();
      case GrowthOrder::kName: break;
    }
    return std::int64_t{0};
  };
  std::stable_sort(changed.begin(), changed.end(),
                   [&](const ClassGrowth& a, const ClassGrowth& b) { return key(a) > key(b); });
  return changed;
}

}  // namespace jtrace::coreinspect
