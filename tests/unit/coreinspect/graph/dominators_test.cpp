// Dominators against the definition: what is no longer reached when an object is taken out.
#include "coreinspect/graph/dominators.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/testlib/effort.h"

namespace jtrace::coreinspect {
namespace {

class Graph {
 public:
  explicit Graph(std::uint32_t size) : targets_(size) {}
  void add(std::uint32_t from, std::uint32_t to) { targets_[from].push_back(to); }
  void add_root(std::uint32_t object) { roots_.push_back(object); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(targets_.size()); }
  const std::vector<std::uint32_t>& roots() const { return roots_; }
  const std::vector<std::uint32_t>& edges_of(std::uint32_t object) const { return targets_[object]; }

 private:
  std::vector<std::vector<std::uint32_t>> targets_;
  std::vector<std::uint32_t> roots_;
};

std::vector<bool> reached_without(const Graph& graph, std::uint32_t left_out) {
  std::vector<bool> reached(graph.size());
  std::vector<std::uint32_t> open;
  const auto meet = [&](std::uint32_t object) {
    if (object == kNoObject || object == left_out || reached[object]) return;
    reached[object] = true;
    open.push_back(object);
  };
  for (const std::uint32_t root : graph.roots()) meet(root);
  while (!open.empty()) {
    const std::uint32_t object = open.back();
    open.pop_back();
    for (const std::uint32_t target : graph.edges_of(object)) meet(target);
  }
  return reached;
}

// By object: how many objects each retains, itself included; 0 for what is not reached.
std::vector<std::uint32_t> retained_by_definition(const Graph& graph) {
  const auto all = reached_without(graph, kNoObject);
  std::vector<std::uint32_t> retained(graph.size());
  for (std::uint32_t object = 0; object < graph.size(); ++object) {
    if (!all[object]) continue;
    const auto rest = reached_without(graph, object);
    retained[object] = static_cast<std::uint32_t>(std::count(all.begin(), all.end(), true) -
                                                  std::count(rest.begin(), rest.end(), true));
  }
  return retained;
}

std::vector<std::uint32_t> retained_by_tree(const Graph& graph) {
  const DominatorTree tree = find_dominators(graph);
  std::vector<std::uint32_t> sums(tree.object.size(), 1), retained(graph.size());
  for (std::size_t i = sums.size() - 1; i > 0; --i) {
    EXPECT_LT(tree.dominator[i], i);
    sums[tree.dominator[i]] += sums[i];
    retained[tree.object[i]] = sums[i];
  }
  return retained;
}

Graph random_graph(std::mt19937& random) {
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  Graph graph(2 + below(60));
  const std::uint32_t edges = below(4 * graph.size());
  for (std::uint32_t i = 0; i < edges; ++i)
    graph.add(below(graph.size()), below(8) == 0 ? kNoObject : below(graph.size()));  // loops and double edges too
  for (std::uint32_t i = 0, roots = 1 + below(4); i < roots; ++i) {
    const std::uint32_t root = below(graph.size());
    if (std::find(graph.roots().begin(), graph.roots().end(), root) == graph.roots().end()) graph.add_root(root);
  }
  return graph;
}

TEST(Dominators, RetainWhatIsLostWithoutThem) {
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    const Graph graph = random_graph(random);
    ASSERT_EQ(retained_by_tree(graph), retained_by_definition(graph)) << "graph " << i;
  }
}

TEST(Dominators, AreTheSameWithLongPlacesOfEdges) {
  std::mt19937 random(8);
  for (int i = 0; i < 300; ++i) {
    const Graph graph = random_graph(random);
    const DominatorTree usual = find_dominators(graph), of_many_edges = find_dominators(graph, 1, 0);
    ASSERT_EQ(usual.object, of_many_edges.object);
    ASSERT_EQ(usual.dominator, of_many_edges.dominator) << "graph " << i;
  }
}

TEST(Dominators, AreTheSameWithSeveralThreads) {
  std::mt19937 random(9);
  constexpr std::uint32_t kSize = test::effort(300'000, 90'000);
  Graph graph(kSize);
  graph.add_root(0);
  graph.add_root(77'777);
  for (std::uint32_t i = 0; i < 3 * kSize; ++i)
    graph.add(static_cast<std::uint32_t>(random() % kSize), static_cast<std::uint32_t>(random() % kSize));
  const DominatorTree one = find_dominators(graph), several = find_dominators(graph, 3),
                      wide = find_dominators(graph, 3, 0);
  EXPECT_EQ(one.object, several.object);
  EXPECT_EQ(one.dominator, several.dominator);
  EXPECT_EQ(one.dominator, wide.dominator);
}

TEST(Dominators, OfALongChainNeedNoStack) {
  constexpr std::uint32_t kLength = test::effort(2'000'000, 300'000);
  Graph graph(kLength);
  graph.add_root(0);
  for (std::uint32_t i = 0; i + 1 < kLength; ++i) {
    graph.add(i, i + 1);
    if (i > 0) graph.add(i, i - 1);
  }
  const auto retained = retained_by_tree(graph);
  EXPECT_EQ(retained.front(), kLength);
  EXPECT_EQ(retained.back(), 1u);
}

TEST(Dominators, OfACompleteBipartiteGraph) {
  constexpr std::uint32_t kHalf = 1500;
  Graph graph(2 * kHalf + 1);
  graph.add_root(2 * kHalf);
  for (std::uint32_t i = 0; i < kHalf; ++i) {
    graph.add(2 * kHalf, i);
    for (std::uint32_t k = 0; k < kHalf; ++k) graph.add(i, kHalf + k);
  }
  const auto retained = retained_by_tree(graph);
  EXPECT_EQ(retained[2 * kHalf], 2 * kHalf + 1);
  for (std::uint32_t i = 0; i < 2 * kHalf; ++i) ASSERT_EQ(retained[i], 1u);
}

TEST(Dominators, OfNothing) {
  const DominatorTree tree = find_dominators(Graph(3));
  EXPECT_EQ(tree.object.size(), 1u);
}

}  // namespace
}  // namespace jtrace::coreinspect
