// Dominators of a graph of objects, by SEMI-NCA (Georgiadis, Tarjan): `d` dominates `v` if every path from a root to
// `v` goes through `d`. An object retains what it dominates.
//
// The time is nearly linear in the edges, and there is no recursion, so that a list of ten million objects is no
// special case. Memory at the peak: 20 bytes per object, and 4 per edge outside of the search tree.
//
// A Graph has size(), roots() (each object once) and edges_of(v), which has size() and [i]: an object or kNoObject.
// Threads: one at a time, which starts as many as it is asked for; the result is the same with any number.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "coreinspect/graph/in_parts.h"

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
  // By number: edges to it that are not in the search tree; one more entry at the end.
  std::vector<std::uint32_t> referrers;
  std::uint64_t cross_edges = 0;  // all of them
};

// Whether the edge between these numbers is one more than the search tree has.
inline bool is_cross(const Search& search, std::uint32_t from, std::uint32_t to) {
  return to != from && search.parent[to] != from;
}

template <class Graph>
class Searching {
 public:
  explicit Searching(const Graph& graph) : graph_(graph) {
    const std::size_t most = graph.size() + 1ull;
    found_.number.assign(graph.size(), 0);
    // Memory that is reserved and not used costs nothing; a vector that grows is copied, and is there twice meanwhile.
    found_.object.reserve(most);
    found_.parent.reserve(most);
    found_.referrers.reserve(most + 1);
    next_edge_.reserve(most);
    add(kNoObject, 0);
  }
  Search run() {
    for (const std::uint32_t root : graph_.roots()) {
      if (found_.number[root] != 0) meet_again(0, root);
      else search_from(root);
    }
    found_.referrers.push_back(0);
    return std::move(found_);
  }

 private:
  void add(std::uint32_t object, std::uint32_t parent) {
    found_.object.push_back(object);
    found_.parent.push_back(parent);
    found_.referrers.push_back(0);
  }
  std::uint32_t meet(std::uint32_t object, std::uint32_t parent) {
    const auto number = static_cast<std::uint32_t>(found_.object.size());
    found_.number[object] = number;
    add(object, parent);
    next_edge_.push_back(0);
    return number;
  }
  void meet_again(std::uint32_t from, std::uint32_t object) {
    const std::uint32_t to = found_.number[object];
    if (!is_cross(found_, from, to)) return;
    ++found_.referrers[to];
    ++found_.cross_edges;
  }
  // The way back is that of the parents: only the next edge of each step is kept.
  void search_from(std::uint32_t root) {
    for (std::uint32_t at = meet(root, 0); at != 0;) {
      const std::uint32_t child = next_child(at);
      if (child != kNoObject) {
        at = meet(child, at);
        continue;
      }
      at = found_.parent[at];
      next_edge_.pop_back();
    }
  }
  // The next object that is met for the first time; kNoObject: there is none.
  std::uint32_t next_child(std::uint32_t at) {
    const auto edges = graph_.edges_of(found_.object[at]);
    for (std::uint32_t& i = next_edge_.back(); i < edges.size();) {
      const std::uint32_t target = edges[i++];
      if (target == kNoObject) continue;
      if (found_.number[target] == 0) return target;
      meet_again(at, target);
    }
    return kNoObject;
  }

  const Graph& graph_;
  Search found_;
  std::vector<std::uint32_t> next_edge_;  // of each object on the way from the root
};

// The predecessors by number, without the edges of the search tree. Their order within a row is any.
template <class Offset>
struct Referrers {
  std::vector<Offset> first;  // by number; one more entry at the end
  std::vector<std::uint32_t> from;
};

template <class Graph, class Visit>
void each_cross_edge(const Graph& graph, const Search& search, unsigned threads, Visit&& visit) {
  for (const std::uint32_t root : graph.roots())
    if (const std::uint32_t to = search.number[root]; is_cross(search, 0, to)) visit(0u, to);
  in_parts(graph.size(), threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (auto object = static_cast<std::uint32_t>(begin); object < end; ++object) {
      const std::uint32_t from = search.number[object];
      if (from == 0) continue;
      const auto edges = graph.edges_of(object);
      for (std::uint32_t i = 0; i < edges.size(); ++i) {
        const std::uint32_t target = edges[i];
        if (target == kNoObject) continue;
        if (const std::uint32_t to = search.number[target]; is_cross(search, from, to)) visit(from, to);
      }
    }
  });
}

// Takes the counts of the search. Each first entry begins at the end of its row, and moves down while it is filled.
template <class Offset, class Graph>
Referrers<Offset> referrers(const Graph& graph, Search& search, unsigned threads) {
  Referrers<Offset> found;
  if constexpr (sizeof(Offset) == sizeof(std::uint32_t)) {
    found.first = std::move(search.referrers);
  } else {
    found.first.assign(search.object.size() + 1, 0);
    each_cross_edge(graph, search, 1, [&](std::uint32_t, std::uint32_t to) { ++found.first[to]; });
  }
  for (std::size_t i = 1; i < found.first.size(); ++i) found.first[i] += found.first[i - 1];
  found.from.resize(found.first.back());
  each_cross_edge(graph, search, threads, [&](std::uint32_t from, std::uint32_t to) {
    // A dump may change while it is read: then there are more edges than were counted.
    const Offset place =
        threads == 1 ? found.first[to]-- : std::atomic_ref(found.first[to]).fetch_sub(1, std::memory_order_relaxed);
    if (place - 1 < found.from.size()) found.from[place - 1] = from;
  });
  return found;
}

// The forest of the processed objects, with path compression: label is the least semidominator between an object and
// its root in the forest.
class Forest {
 public:
  explicit Forest(std::vector<std::uint32_t> parent) : above_(std::move(parent)), label_(above_.size()) {}
  std::uint32_t parent(std::uint32_t number) const { return above_[number]; }  // before it is added
  void add(std::uint32_t number, std::uint32_t semi) { label_[number] = semi; }
  void prefetch(std::uint32_t number) const {
    __builtin_prefetch(&above_[number]);
    __builtin_prefetch(&label_[number]);
  }
  // The least semidominator above `number`, which is in the forest, among those with numbers from `first` on. On its
  // way up each link is turned round, so that no list of the way is needed.
  std::uint32_t least(std::uint32_t number, std::uint32_t first) {
    std::uint32_t below = kNoObject;
    while (above_[number] >= first) {
      const std::uint32_t next = above_[number];
      above_[number] = below;
      below = number;
      number = next;
    }
    const std::uint32_t top = above_[number];
    std::uint32_t best = label_[number];
    while (below != kNoObject) {
      number = below;
      below = above_[number];
      above_[number] = top;
      best = label_[number] = std::min(best, label_[number]);
    }
    return best;
  }

 private:
  std::vector<std::uint32_t> above_, label_;
};

// By number the dominator. What is known of an object that is done, its semidominator, takes the place of its first
// referrer.
template <class Offset>
std::vector<std::uint32_t> find(Referrers<Offset> referrers, std::vector<std::uint32_t> parent) {
  constexpr Offset kAhead = 16;
  const auto count = static_cast<std::uint32_t>(parent.size());
  std::vector<std::uint32_t> dominator(count, 0);
  Forest forest(std::move(parent));
  for (std::uint32_t to = count - 1; to > 0; --to) {
    std::uint32_t semi = dominator[to] = forest.parent(to);
    for (Offset i = referrers.first[to + 1]; i > referrers.first[to]; --i) {
      if (i > kAhead) forest.prefetch(referrers.from[i - 1 - kAhead]);
      const std::uint32_t from = referrers.from[i - 1];
      semi = std::min(semi, from < to ? from : forest.least(from, to + 1));
    }
    forest.add(to, semi);
    referrers.first[to + 1] = semi;
  }
  // The first one upwards whose number is not above the semidominator's.
  for (std::uint32_t to = 1; to < count; ++to) {
    std::uint32_t over = dominator[to];
    while (over > referrers.first[to + 1]) over = dominator[over];
    dominator[to] = over;
  }
  return dominator;
}

template <class Offset, class Graph>
std::vector<std::uint32_t> find_of(const Graph& graph, Search& search, unsigned threads) {
  auto found = referrers<Offset>(graph, search, threads);
  std::vector<std::uint32_t>().swap(search.number);
  return find(std::move(found), std::move(search.parent));
}

}  // namespace dominators

// `most_short`: with so many edges outside of the search tree, or more, their places need 64 bits.
template <class Graph>
DominatorTree find_dominators(const Graph& graph, unsigned threads = 1,
                              std::uint64_t most_short = std::numeric_limits<std::uint32_t>::max()) {
  dominators::Search search = dominators::Searching<Graph>(graph).run();
  DominatorTree tree;
  tree.dominator = search.cross_edges < most_short ? dominators::find_of<std::uint32_t>(graph, search, threads)
                                                   : dominators::find_of<std::uint64_t>(graph, search, threads);
  tree.object = std::move(search.object);
  return tree;
}

}  // namespace jtrace::coreinspect
