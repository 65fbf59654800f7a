// retained --by package, loader or thread.
#include <algorithm>
#include <cstdio>
#include <tuple>

#include "base/name_pattern.h"
#include "base/strings.h"
#include "coreinspect/graph/heap_groups.h"
#include "coreinspect/tools/graph_text.h"
#include "coreinspect/tools/graph_views.h"

namespace jtrace::coreinspect {
namespace {

void write_json(const HeapTree& tree, const std::string& by, const HeapGroup& group, JsonWriter& json) {
  json.begin_object()
      .member(by, group.name)
      .member("objects", group.sum.objects)
      .member("shallow", group.sum.shallow)
      .member("retained", group.sum.retained)
      .member("share", share(group.sum.retained, tree.reachable()));
  if (group.object != kNoObject) json.member("address", hex(tree.graph().address(group.object)));
  json.end_object();
}

std::string text_of(const HeapTree& tree, const HeapGroup& group) {
  char count[32];
  std::snprintf(count, sizeof count, "%10llu  ", static_cast<unsigned long long>(group.sum.objects));
  return figures(group.sum.retained, tree.reachable(), group.sum.shallow) + count + printable(group.name) +
         (group.object == kNoObject ? "" : " @" + hex(tree.graph().address(group.object))) + "\n";
}

}  // namespace

Result<ViewResult> retained_by_group(const ObjectGraph& graph, const ViewOptions& options) {
  const std::string& by = options.heap.by;
  if (by == "path")
    return fail(ErrorCategory::kUsage, "--by path is for jtrace heap diff", "dominators --by-class shows the paths");
  ViewResult result{.missing = graph.missing()};
  const HeapTree tree(graph);
  add_summary(tree, options, result);
  auto groups = heap_groups(tree, by == "package"  ? Grouping::kPackage
                                  : by == "loader" ? Grouping::kLoader
                                                   : Grouping::kThread);
  std::erase_if(groups, [&](const HeapGroup& each) { return !is_chosen(options.heap.filter, each.name); });
  std::sort(groups.begin(), groups.end(), [](const HeapGroup& a, const HeapGroup& b) {
    return std::tuple(b.sum.retained, a.name, a.object) < std::tuple(a.sum.retained, b.name, b.object);
  });
  if (const std::size_t most = rows_of(options, options.json ? groups.size() : kGraphRows); groups.size() > most)
    groups.resize(most);
  if (!options.json) result.out += std::string(kRetainedHeading) + "   objects  " + by + "\n";
  JsonWriter json(result.out);
  for (const HeapGroup& each : groups) {
    if (options.json) write_json(tree, by, each, json);
    else result.out += text_of(tree, each);
  }
  return result;
}

}  // namespace jtrace::coreinspect
