#include "coreinspect/graph/shown_tree.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

namespace jtrace::coreinspect {
namespace {

// The next object of a list retains at least this part of what the one before it does.
constexpr double kNextOfList = 0.98;

// An object that may become a node, and the object that keeps it.
struct Candidate {
  std::uint64_t retained = 0;
  std::uint32_t object = 0, holder = kNoObject, above = ShownNode::kNone, depth = 0;
  bool operator<(const Candidate& other) const {
    return std::pair(retained, other.object) < std::pair(other.retained, object);
  }
};

class Chooser {
 public:
  Chooser(const HeapTree& tree, const ShownLimits& limits) : tree_(tree), graph_(tree.graph()), limits_(limits) {}

  ShownTree choose() {
    shown_.rest = open_children({kNoObject}, ShownNode::kNone, 0);
    while (!open_.empty() && shown_.nodes.size() < limits_.nodes) {
      const Candidate next = open_.top();
      open_.pop();
      add(next);
    }
    // What was considered and found no room.
    for (; !open_.empty(); open_.pop())
      ++(open_.top().above == ShownNode::kNone ? shown_.rest : shown_.nodes[open_.top().above].rest);
    name_edges();
    return std::move(shown_);
  }

 private:
  bool is_alike(std::uint32_t a, std::uint32_t b) const {
    return !graph_.is_class(a) && !graph_.is_class(b) && graph_.class_of(a) == graph_.class_of(b);
  }
  // The object and those of its class that follow it in a list.
  std::vector<std::uint32_t> list_from(std::uint32_t object) const {
    std::vector<std::uint32_t> list = {object};
    for (;;) {
      const auto next = tree_.largest(list.back(), 1);
      if (next.empty() || !is_alike(object, next.front())) return list;
      const auto least = kNextOfList * static_cast<double>(tree_.retained(list.back()));
      if (static_cast<double>(tree_.retained(next.front())) < least) return list;
      list.push_back(next.front());
    }
  }
  void add(const Candidate& of) {
    const auto place = static_cast<std::uint32_t>(shown_.nodes.size());
    const auto list = list_from(of.object);
    ShownNode node{.above = of.above, .object = of.object, .count = list.size(), .retained = of.retained};
    for (const std::uint32_t object : list) node.shallow += graph_.bytes(object);
    shown_.nodes.push_back(node);
    holders_.push_back(of.holder);
    shown_.nodes.back().rest = open_children(list, place, of.depth + 1);
  }
  // The largest children of the objects of a list become candidates; returns the number of the others.
  std::uint64_t open_children(const std::vector<std::uint32_t>& list, std::uint32_t above, std::uint32_t depth) {
    std::vector<Candidate> found;
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::uint32_t next = i + 1 < list.size() ? list[i + 1] : kNoObject;
      for (const std::uint32_t object : tree_.dominated(list[i])) {
        if (object == next) continue;
        ++all;
        const std::uint64_t retained = tree_.retained(object);
        if (retained >= limits_.least && depth < limits_.depth)
          found.push_back({.retained = retained, .object = object, .holder = list[i], .above = above, .depth = depth});
      }
      if (found.size() > 100 * limits_.below) keep_largest(found);
    }
    keep_largest(found);
    for (const Candidate& each : found) open_.push(each);
    return all - found.size();
  }
  void keep_largest(std::vector<Candidate>& found) const {
    if (found.size() <= limits_.below) return;
    std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(limits_.below), found.end(),
                     [](const Candidate& a, const Candidate& b) { return b < a; });
    found.resize(limits_.below);
  }
  // One pass over the edges of each holder: an array may have millions of them.
  void name_edges() {
    std::unordered_map<std::uint32_t, std::unordered_map<std::uint32_t, ShownNode*>> by_holder;
    for (std::size_t i = 0; i < shown_.nodes.size(); ++i) {
      ShownNode& node = shown_.nodes[i];
      if (holders_[i] == kNoObject) node.edge = graph_.root_name(node.object);
      else by_holder[holders_[i]].emplace(node.object, &node);
    }
    for (auto& [holder, wanted] : by_holder)
      for (std::uint32_t i = 0, count = graph_.edges(holder); i < count && !wanted.empty(); ++i) {
        const auto found = wanted.find(graph_.edge(holder, i));
        if (found == wanted.end()) continue;
        found->second->edge = graph_.edge_name(holder, i);
        wanted.erase(found);
      }
  }

  const HeapTree& tree_;
  const ObjectGraph& graph_;
  const ShownLimits limits_;
  ShownTree shown_;
  std::vector<std::uint32_t> holders_;  // by place in `nodes`
  std::priority_queue<Candidate> open_;
};

}  // namespace

ShownTree shown_tree(const HeapTree& tree, const ShownLimits& limits) { return Chooser(tree, limits).choose(); }

}  // namespace jtrace::coreinspect
