// page: what the page of a heap shows, as one JSON object (cli puts it into the page of trace/io).
//
// The size of the page does not grow with the heap: nodes, rows and steps have limits. There is no content of an object
// in it but the names of threads; a page can be passed on.
#include <algorithm>
#include <cctype>
#include <functional>

#include "base/strings.h"
#include "coreinspect/graph/class_tree.h"
#include "coreinspect/graph/held_by.h"
#include "coreinspect/graph/leak_report.h"
#include "coreinspect/graph/shown_paths.h"
#include "coreinspect/graph/shown_tree.h"
#include "coreinspect/graph/waste_report.h"
#include "coreinspect/tools/graph_text.h"
#include "coreinspect/tools/graph_views.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kSmallNode = 50'000, kSmallClassNode = 20'000;  // parts of what is reachable
constexpr int kClassLevels = 60;
constexpr std::size_t kClassNodes = 8'000, kClassRows = 2'000, kWasteRows = 500, kSuspects = 50;

// Texts that many rows have, once.
class Texts {
 public:
  std::size_t of(const std::string& text) {
    const auto [at, fresh] = places_.try_emplace(text, all_.size());
    if (fresh) all_.push_back(text);
    return at->second;
  }
  void write(JsonWriter& json) const {
    json.key("texts").begin_array();
    for (const std::string& each : all_) json.value(each);
    json.end_array();
  }

 private:
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::string> all_;
};

// JavaScript reads "above" and the like as a number, or -1.
std::int64_t place_of(std::uint32_t place) { return place == kNoObject ? -1 : std::int64_t{place}; }

class PageWriter {
 public:
  PageWriter(const HeapTree& tree, std::string& out)
      : tree_(tree), graph_(tree.graph()), paths_(graph_), held_(graph_, paths_), json_(out) {}

  void write() {
    json_.begin_object();
    write_summary();
    write_suspects();
    write_objects();
    write_classes_tree();
    write_classes();
    write_waste();
    texts_.write(json_);
    json_.end_object();
  }

 private:
  void write_summary() {
    json_.member("reachable", tree_.reachable()).member("objects", graph_.size()).key("held").begin_array();
    for (std::size_t i = 0; i < kStrengths; ++i) {
      const ClassRetained& sum = tree_.by_strength()[i];
      if (sum.objects == 0) continue;
      json_.begin_array().value(to_string(static_cast<Strength>(i))).value(sum.objects).value(sum.shallow).end_array();
    }
    json_.end_array();
    std::string sizes;
    for (std::string note : size_notes(tree_)) {
      note.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(note.front())));
      sizes += (sizes.empty() ? "" : " ") + note + ".";
    }
    if (!sizes.empty()) json_.member("sizes", sizes);
  }

  void write_suspects() {
    const LeakReport report = find_leaks(tree_);
    json_.member("suspectsAll", report.suspects.size()).key("suspects").begin_array();
    for (std::size_t i = 0; i < std::min(kSuspects, report.suspects.size()); ++i) {
      const LeakSuspect& each = report.suspects[i];
      json_.begin_object().member("kind", each.kind).member("sentence", each.sentence).key("evidence").begin_array();
      for (const std::string& line : each.evidence) json_.value(line);
      json_.end_array();
      if (each.object != kNoObject) json_.member("address", hex(graph_.address(each.object)));
      json_.end_object();
    }
    json_.end_array().key("lookedAt").begin_array();
    for (const std::string& line : report.looked_at) json_.value(line);
    json_.end_array();
  }

  // Rows: above, text, text of the edge, objects, shallow, retained, objects below that are not shown, address, step.
  void write_objects() {
    const ShownTree shown = shown_tree(tree_, {.least = tree_.reachable() / kSmallNode});
    ShownPaths steps(graph_, paths_);
    json_.key("byObject").begin_object().member("rest", shown.rest).key("nodes").begin_array();
    for (const ShownNode& node : shown.nodes) {
      json_.begin_array().value(place_of(node.above)).value(texts_.of(name_of(node.object)));
      json_.value(texts_.of(node.edge)).value(node.count).value(node.shallow).value(node.retained).value(node.rest);
      json_.value(hex(graph_.address(node.object)));
      if (node.above != ShownNode::kNone && shown.nodes[node.above].count == 1)
        steps.know_edge(shown.nodes[node.above].object, node.object, node.edge);
      json_.value(place_of(steps.step_of(node.object))).end_array();
    }
    json_.end_array().end_object();
    // The step before it, text, text of the edge, address; of steps left out their number in place of the address.
    json_.key("steps").begin_array();
    for (const ShownStep& step : steps.steps()) {
      json_.begin_array().value(place_of(step.before));
      if (step.object == kNoObject) json_.value(-1).value(-1).value(step.skipped);
      else
        json_.value(texts_.of(name_of(step.object)))
            .value(texts_.of(step.edge))
            .value(hex(graph_.address(step.object)));
      json_.end_array();
    }
    json_.end_array();
  }
  std::string name_of(std::uint32_t object) const {
    const bool is_thread = !graph_.is_class(object) && graph_.classes()[graph_.class_of(object)].is_thread;
    const std::string name = graph_.name(object);
    return is_thread ? name + held_.thread(object).substr(std::string("thread").size()) : name;
  }

  // Rows: above, text, objects, shallow, retained.
  void write_classes_tree() {
    ClassTree made = class_tree(tree_, tree_.reachable() / kSmallClassNode, kClassLevels);
    keep_largest(made.nodes, kClassNodes);
    std::vector<std::int64_t> open;  // by depth: the place of the last node
    json_.key("byClass").begin_object().key("nodes").begin_array();
    for (std::size_t i = 0; i < made.nodes.size(); ++i) {
      const ClassNode& node = made.nodes[i];
      open.resize(static_cast<std::size_t>(node.depth));
      json_.begin_array().value(open.empty() ? -1 : open.back()).value(texts_.of(node.name));
      json_.value(node.objects).value(node.shallow).value(node.retained).end_array();
      open.push_back(static_cast<std::int64_t>(i));
    }
    json_.end_array().end_object();
  }

  // Rows: text, objects, shallow, retained.
  void write_classes() {
    const auto sums = tree_.by_class();
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (sums[i].objects > 0) order.push_back(i);
    json_.member("classesAll", order.size());
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(sums[b].retained, a) < std::pair(sums[a].retained, b);
    });
    order.resize(std::min(order.size(), kClassRows));
    json_.key("classes").begin_array();
    for (const std::size_t i : order)
      json_.begin_array()
          .value(texts_.of(graph_.classes()[i].name))
          .value(sums[i].objects)
          .value(sums[i].shallow)
          .value(sums[i].retained)
          .end_array();
    json_.end_array();
  }

  // Rows: kind, class, objects, bytes, field that holds most, bytes that it holds.
  void write_waste() {
    if (graph_.file().is_redacted())
      json_.member("wasteNote", "Equal strings and arrays, and arrays of zeros, are not known: the dump is redacted.");
    auto findings = find_waste(graph_);
    json_.member("wasteAll", findings.size()).key("waste").begin_array();
    findings.resize(std::min(findings.size(), kWasteRows));
    for (const WasteFinding& each : findings)
      json_.begin_array()
          .value(texts_.of(each.kind))
          .value(texts_.of(each.of))
          .value(each.objects)
          .value(each.bytes)
          .value(texts_.of(each.holder))
          .value(each.held)
          .end_array();
    json_.end_array();
  }

  const HeapTree& tree_;
  const ObjectGraph& graph_;
  const ShortestPaths paths_;
  const HeldBy held_;
  JsonWriter json_;
  Texts texts_;
};

}  // namespace

Result<ViewResult> graph_page(const ObjectGraph& graph, const ViewOptions&) {
  ViewResult result{.missing = graph.missing()};
  const HeapTree tree(graph);
  PageWriter(tree, result.out).write();
  return result;
}

}  // namespace jtrace::coreinspect
