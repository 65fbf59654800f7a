// Dominators of a graph of objects, by SEMI-NCA (Georgiadis, Tarjan): `d` dominates `v` if every path from a root to
// `v` goes through `d`. An object retains what it dominates.
//
// The time is nearly linear in the edges, and there is no recursion, so that a list of ten million objects is no
// special case. Memory: 24 bytes per object, 4 per edge outside of the search tree, and 4 for each step of the deepest
// path.
//
// A Graph has size(), roots() (each object once), edges(v), and edge(v, i), which is an object or kNoObject. Threads:
// one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace jtrace::coreinspect {

constexpr std::uint32_t kNoObject = std::numeric_limits<std::uint32_t>::max();

// Objects are numbered in the order of a depth-first search; number 0 represents all roots together.
struct DominatorTree {
  std::vector<std::uint32_t> object;  // by number; kNoObject at 0
  // By number: the number of the nearest dominator, which is smaller than its own.
  std::vector<std::uint32_t> dominator;
};

namespace dominators {

struct Search {
  std::vector<std::uint32_t> number;          // by object; 0: not reached
  std::vector<std::uint32_t> object, parent;  // by number
};

template <class Graph>
Search search(const Graph& graph) {
  Search found;
  found.number.assign(graph.size(), 0);
  // Memory that is reserved and not used takes no pages; a vector that grows is copied, and is there twice meanwhile.
  found.object.reserve(graph.size() + 1ull);
  found.parent.reserve(graph.size() + 1ull);
  found.object.push_back(kNoObject);
  found.parent.push_back(0);
  const auto meet = [&](std::uint32_t object, std::uint32_t parent) {
    found.number[object] = static_cast<std::uint32_t>(found.object.size());
    found.object.push_back(object);
    found.parent.push_back(parent);
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open;  // object, its next edge
  for (const std::uint32_t root : graph.roots()) {
    if (found.number[root] != 0) continue;
    meet(root, 0);
    open.emplace_back(root, 0);
    while (!open.empty()) {
      const auto object = open.back().first;
      std::uint32_t edge = open.back().second;
      const std::uint32_t edges = graph.edges(object);
      std::uint32_t target = kNoObject;
      while (edge < edges) {
        target = graph.edge(object, edge++);
        if (target != kNoObject && found.number[target] == 0) break;
        target = kNoObject;
      }
      if (target == kNoObject) {
        open.pop_back();
        continue;
      }
      open.back().second = edge;
      meet(target, found.number[object]);
      open.emplace_back(target, 0);
    }
  }
  return found;
}

// The predecessors by number, without the edges of the search tree.
template <class Offset>
struct Referrers {
  std::vector<Offset> first;  // by number; one more entry at the end
  std::vector<std::uint32_t> from;
};

template <class Graph, class Visit>
void each_cross_edge(const Graph& graph, const Search& search, Visit&& visit) {
  for (const std::uint32_t root : graph.roots())
    if (const std::uint32_t to = search.number[root]; search.parent[to] != 0) visit(0u, to);
  for (std::uint32_t from = 1; from < search.object.size(); ++from) {
    const std::uint32_t object = search.object[from], edges = graph.edges(object);
    for (std::uint32_t i = 0; i < edges; ++i) {
      const std::uint32_t target = graph.edge(object, i);
      if (target == kNoObject) continue;
      const std::uint32_t to = search.number[target];
      if (to != from && search.parent[to] != from) visit(from, to);
    }
  }
}

template <class Offset, class Graph>
Referrers<Offset> referrers(const Graph& graph, const Search& search) {
  Referrers<Offset> found;
  found.first.assign(search.object.size() + 1, 0);
  each_cross_edge(graph, search, [&](std::uint32_t, std::uint32_t to) { ++found.first[to + 1]; });
  for (std::size_t i = 1; i < found.first.size(); ++i) found.first[i] += found.first[i - 1];
  found.from.resize(found.first.back());
  each_cross_edge(graph, search, [&](std::uint32_t from, std::uint32_t to) { found.from[found.first[to]++] = from; });
  for (std::size_t i = found.first.size() - 1; i > 0; --i) found.first[i] = found.first[i - 1];
  found.first[0] = 0;
  return found;
}

// The forest of the processed objects, with path compression: label is the object with the least semidominator between
// an object and its root in the forest.
class Forest {
 public:
  explicit Forest(const std::vector<std::uint32_t>& parent)
      : above_(parent), label_(parent.size()), semi_(parent.size()) {
    for (std::uint32_t i = 0; i < parent.size(); ++i) label_[i] = semi_[i] = i;
  }
  std::uint32_t semi(std::uint32_t number) const { return semi_[number]; }
  void set_semi(std::uint32_t number, std::uint32_t to) { semi_[number] = to; }
  // The object with the least semidominator above `number`, among those with numbers from `first` on.
  std::uint32_t least(std::uint32_t number, std::uint32_t first) {
    if (above_[number] < first) return semi_[label_[number]];
    while (above_[number] >= first) {
      path_.push_back(number);
      number = above_[number];
    }
    std::uint32_t over = number, best = label_[number];
    while (!path_.empty()) {
      number = path_.back();
      path_.pop_back();
      above_[number] = above_[over];
      if (semi_[best] < semi_[label_[number]]) label_[number] = best;
      else best = label_[number];
      over = number;
    }
    return semi_[label_[number]];
  }

 private:
  std::vector<std::uint32_t> above_, label_, semi_, path_;
};

template <class Offset>
void find(const Referrers<Offset>& referrers, std::vector<std::uint32_t>& parent) {
  const auto count = static_cast<std::uint32_t>(parent.size());
  Forest forest(parent);
  for (std::uint32_t to = count - 1; to > 0; --to) {
    std::uint32_t semi = parent[to];
    for (Offset i = referrers.first[to]; i < referrers.first[to + 1]; ++i)
      semi = std::min(semi, forest.least(referrers.from[i], to + 1));
    forest.set_semi(to, semi);
  }
  // `parent` becomes the dominator: the first one upwards whose number is not above the semidominator's.
  for (std::uint32_t to = 1; to < count; ++to) {
    std::uint32_t over = parent[to];
    while (over > forest.semi(to)) over = parent[over];
    parent[to] = over;
  }
}

}  // namespace dominators

// `most_short`: with so many edges outside of the search tree, or more, their places need 64 bits.
template <class Graph>
DominatorTree find_dominators(const Graph& graph,
                              std::uint64_t most_short = std::numeric_limits<std::uint32_t>::max()) {
  dominators::Search search = dominators::search(graph);
  std::uint64_t edges = 0;
  dominators::each_cross_edge(graph, search, [&](std::uint32_t, std::uint32_t) { ++edges; });
  if (edges < most_short) {
    const auto referrers = dominators::referrers<std::uint32_t>(graph, search);
    std::vector<std::uint32_t>().swap(search.number);
    dominators::find(referrers, search.parent);
  } else {
    const auto referrers = dominators::referrers<std::uint64_t>(graph, search);
    std::vector<std::uint32_t>().swap(search.number);
    dominators::find(referrers, search.parent);
  }
  return {std::move(search.object), std::move(search.parent)};
}

}  // namespace jtrace::coreinspect
