#include "coreinspect/tools/graph_views.h"

#include <algorithm>
#include <cstdio>

#include "base/name_pattern.h"
#include "base/strings.h"
#include "coreinspect/graph/heap_tree.h"
#include "coreinspect/tools/graph_text.h"
#include "coreinspect/tools/value_text.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kChildren = 3;
constexpr int kLevels = 2;
constexpr std::string_view kMirror = "java.lang.Class";
constexpr std::uint64_t kSmall =
    1000;  // of the heap: what keeps less is shown only where a number of rows is asked for

struct ClassRow {
  std::string name;
  ClassRetained sum;
};

std::vector<ClassRow> class_rows(const ObjectGraph& graph, const std::vector<ClassRetained>& sums,
                                 const ViewOptions& options) {
  std::vector<ClassRow> rows;
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i].objects > 0 && is_chosen(options.heap.filter, graph.classes()[i].name))
      rows.push_back({graph.classes()[i].name, sums[i]});
  return rows;
}

// The edge that leads from an object straight to another; "" if none does.
std::string edge_between(const ObjectGraph& graph, std::uint32_t from, std::uint32_t to) {
  if (from == kNoObject) return graph.root_name(to).empty() ? "" : "(" + graph.root_name(to) + ")";
  const std::uint32_t found = graph.find_edge(from, to);
  return found == kNoObject ? "" : graph.edge_name(from, found);
}

class DominatorRows {
 public:
  DominatorRows(const HeapTree& tree, const ViewOptions& options, ViewResult& result)
      : tree_(tree),
        options_(options),
        result_(result),
        json_(result.out),
        levels_(options.heap.depth > 0 ? options.heap.depth : kLevels) {}

  // The rows below `of`, those that retain most first.
  void add(std::uint32_t of, std::size_t rows, int depth = 0) {
    for (const std::uint32_t object : tree_.largest(of, rows)) {
      if (tree_.retained(object) < tree_.reachable() / kSmall && options_.heap.top == 0) return;
      row(of, object, depth);
      if (depth < levels_) add(object, kChildren, depth + 1);
    }
  }
  void row(std::uint32_t above, std::uint32_t object, int depth) {
    const ObjectGraph& graph = tree_.graph();
    const std::string edge = edge_between(graph, above, object);
    if (options_.json) {
      json_.begin_object()
          .member("class", graph.name(object))
          .member("address", hex(graph.address(object)))
          .member("shallow", graph.bytes(object))
          .member("retained", tree_.retained(object))
          .member("share", share(tree_.retained(object), tree_.reachable()))
          .member("dominates", tree_.dominated(object).size())
          .member("depth", depth);
      if (!edge.empty()) json_.member(above == kNoObject ? "root" : "field", edge);
      json_.end_object();
      return;
    }
    result_.out += figures(tree_.retained(object), tree_.reachable(), graph.bytes(object)) +
                   std::string(2 * static_cast<std::size_t>(depth), ' ') +
                   (edge.empty() || above == kNoObject ? "" : printable(edge) + " ") + object_text(graph, object) +
                   (edge.empty() || above != kNoObject ? "" : "  " + edge) + "\n";
  }

 private:
  const HeapTree& tree_;
  const ViewOptions& options_;
  ViewResult& result_;
  JsonWriter json_;
  const int levels_;
};

}  // namespace

Result<ViewResult> graph_histogram(const ObjectGraph& graph, const ViewOptions& options) {
  ViewResult result{.missing = graph.missing()};
  std::vector<ClassRetained> sums(graph.classes().size());
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const Strength strength = graph.strength(i);
    const bool stays = strength == Strength::kStrong || strength == Strength::kSoft || strength == Strength::kFinal;
    if (options.heap.reachable && !stays) continue;
    ClassRetained& sum = sums[graph.class_of(i)];
    ++sum.objects;
    sum.shallow += graph.bytes(i);
  }
  auto rows = class_rows(graph, sums, options);
  std::sort(rows.begin(), rows.end(), [&](const ClassRow& a, const ClassRow& b) {
    const auto key = [&](const ClassRow& row) {
      return options.heap.sort == "instances" ? row.sum.objects : row.sum.shallow;
    };
    if (options.heap.sort == "name" || key(a) == key(b)) return a.name < b.name;
    return key(a) > key(b);
  });
  ClassRetained all;
  for (const ClassRow& row : rows) {
    all.objects += row.sum.objects;
    all.shallow += row.sum.shallow;
  }
  if (options.heap.top > 0 && rows.size() > options.heap.top) rows.resize(options.heap.top);
  if (!options.json) result.out = " num     #instances         #bytes  class name\n";
  JsonWriter json(result.out);
  std::size_t number = 0;
  char line[80];
  for (const ClassRow& row : rows) {
    if (options.json) {
      json.begin_object()
          .member("class", row.name)
          .member("instances", row.sum.objects)
          .member("bytes", row.sum.shallow);
      json.end_object();
      continue;
    }
    std::snprintf(line, sizeof line, "%4zu: %14llu %14llu  ", ++number,
                  static_cast<unsigned long long>(row.sum.objects), static_cast<unsigned long long>(row.sum.shallow));
    result.out += line + printable(row.name) + "\n";
  }
  if (options.json) {
    result.members = "\"classObjects\":\"without the VM's own fields\"";
    return result;
  }
  std::snprintf(line, sizeof line, "Total %14llu %14llu\n", static_cast<unsigned long long>(all.objects),
                static_cast<unsigned long long>(all.shallow));
  result.out += line;
  const bool has_mirrors =
      std::any_of(rows.begin(), rows.end(), [](const ClassRow& row) { return row.name == kMirror; });
  if (has_mirrors)
    result.out +=
        std::string(kMirror) +
        ": fields and static fields; what the VM adds to them is not in a heap dump, but in the histogram of a "
        "JVM or core without --reachable\n";
  return result;
}

Result<ViewResult> graph_retained(const ObjectGraph& graph, const ViewOptions& options) {
  ViewResult result{.missing = graph.missing()};
  if (!options.heap.by.empty() && options.heap.by != "class") return retained_by_group(graph, options);
  const HeapTree tree(graph);
  add_summary(tree, options, result);
  auto rows = class_rows(graph, tree.by_class(), options);
  std::sort(rows.begin(), rows.end(), [](const ClassRow& a, const ClassRow& b) {
    return a.sum.retained != b.sum.retained ? a.sum.retained > b.sum.retained : a.name < b.name;
  });
  if (const std::size_t most = rows_of(options, options.json ? rows.size() : kGraphRows); rows.size() > most)
    rows.resize(most);
  if (!options.json) result.out += std::string(kRetainedHeading) + "   objects  class\n";
  JsonWriter json(result.out);
  for (const ClassRow& row : rows) {
    if (options.json)
      json.begin_object()
          .member("class", row.name)
          .member("objects", row.sum.objects)
          .member("shallow", row.sum.shallow)
          .member("retained", row.sum.retained)
          .member("share", share(row.sum.retained, tree.reachable()))
          .end_object();
    else {
      char count[32];
      std::snprintf(count, sizeof count, "%10llu  ", static_cast<unsigned long long>(row.sum.objects));
      result.out += figures(row.sum.retained, tree.reachable(), row.sum.shallow) + count + printable(row.name) + "\n";
    }
  }
  return result;
}

Result<ViewResult> graph_dominators(const ObjectGraph& graph, const ViewOptions& options) {
  ViewResult result{.missing = graph.missing()};
  const HeapTree tree(graph);
  if (!options.stacks) add_summary(tree, options, result);
  if (options.stacks || options.heap.by_class) {
    if (!options.heap.objects.empty())
      return fail(ErrorCategory::kUsage, "--object shows single objects: not with --by-class, nor as stacks");
    return class_tree_view(tree, options, std::move(result));
  }
  if (!options.json) result.out += std::string(kRetainedHeading) + "object\n";
  DominatorRows rows(tree, options, result);
  if (options.heap.objects.empty()) rows.add(kNoObject, rows_of(options, kGraphRows));
  for (const std::string& text : options.heap.objects) {
    JTRACE_ASSIGN_OR_RETURN(const std::uint32_t object, object_at(graph, text));
    if (tree.retained(object) == 0) return fail(ErrorCategory::kNotFound, "the object at " + text + " is garbage");
    rows.row(tree.dominator(object), object, 0);
    rows.add(object, rows_of(options, kGraphRows), 1);
  }
  return result;
}

}  // namespace jtrace::coreinspect
