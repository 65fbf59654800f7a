// dominators --by-class: the dominator tree with the objects of a class merged, as rows or as stacks with bytes.
#include <algorithm>

#include "base/strings.h"
#include "coreinspect/graph/class_tree.h"
#include "coreinspect/tools/graph_text.h"
#include "coreinspect/tools/graph_views.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kRows = 40;
constexpr int kLevels = 10, kStackLevels = 200;
constexpr std::uint64_t kSmallRow = 1000, kSmallStack = 10'000;  // parts of what is reachable

void write_json(JsonWriter& json, const ClassNode& node, std::uint64_t all) {
  json.begin_object().member("class", node.name).member("depth", node.depth).member("objects", node.objects);
  json.member("shallow", node.shallow).member("retained", node.retained).member("share", share(node.retained, all));
  json.end_object();
}

std::string text_of(const ClassNode& node, std::uint64_t all) {
  return figures(node.retained, all, node.shallow) + std::string(2 * static_cast<std::size_t>(node.depth), ' ') +
         (node.objects == 1 ? "" : std::to_string(node.objects) + " ") + printable(node.name) + "\n";
}

// A line "outermost;...;innermost BYTES" for each node: what its objects have, and what they keep in nodes left out.
std::string stacks_of(const ClassTree& tree) {
  std::string out;
  std::vector<std::string> path;
  for (const ClassNode& node : tree.nodes) {
    path.resize(static_cast<std::size_t>(node.depth));
    path.push_back(printable(node.name));
    std::replace(path.back().begin(), path.back().end(), ';', ':');
    for (std::size_t i = 0; i < path.size(); ++i) out += (i == 0 ? "" : ";") + path[i];
    out += " " + std::to_string(node.shallow + node.rest) + "\n";
  }
  if (tree.rest > 0) out += "(smaller ones) " + std::to_string(tree.rest) + "\n";
  return out;
}

}  // namespace

ViewResult class_tree_view(const HeapTree& tree, const ViewOptions& options, ViewResult result) {
  const int levels = options.heap.depth > 0 ? options.heap.depth : options.stacks ? kStackLevels : kLevels;
  const std::uint64_t small = options.stacks ? kSmallStack : kSmallRow;
  ClassTree made = class_tree(tree, tree.reachable() / small, levels - 1);
  if (options.stacks) {
    result.out = stacks_of(made);
    return result;
  }
  std::vector<ClassNode>& nodes = made.nodes;
  keep_largest(nodes, rows_of(options, options.json ? nodes.size() : kRows));
  JsonWriter json(result.out);
  if (!options.json) result.out += std::string(kRetainedHeading) + "objects of a class\n";
  for (const ClassNode& node : nodes) {
    if (options.json) write_json(json, node, tree.reachable());
    else result.out += text_of(node, tree.reachable());
  }
  return result;
}

}  // namespace jtrace::coreinspect
