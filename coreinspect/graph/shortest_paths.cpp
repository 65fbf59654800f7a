#include "coreinspect/graph/shortest_paths.h"

#include <algorithm>

namespace jtrace::coreinspect {

ShortestPaths::ShortestPaths(const ObjectGraph& graph)
    : graph_(graph), lasting_(graph), from_(graph.size(), kNoObject) {
  std::vector<std::uint32_t> roots, code;
  for (const std::uint32_t root : graph.roots()) {
    const bool passes = graph.is_passing_root(root);
    (passes ? code : roots).push_back(root);
    if (!passes && graph.is_thread(root)) from_[root] = root;  // no search goes through it before its turn
  }
  const auto threads = begin_at_statics();
  begin_at_roots(roots, threads);
  begin_at_code(std::move(code));
}

std::vector<std::uint32_t> ShortestPaths::begin_at_statics() {
  for (const std::uint32_t object : lasting_.objects()) from_[object] = object;
  std::vector<std::uint32_t> next;
  for (const std::uint32_t object : lasting_.objects())
    follow(graph_.edges_of(object), object, ObjectGraph::kOwnEdges, Reach::kStatics, next);
  return search(std::move(next), Reach::kStatics);
}

// With the edges of the classes that are no static fields: a loader is held by a field, if there is one. `threads`:
// that do not run, such as shutdown hooks.
void ShortestPaths::begin_at_roots(const std::vector<std::uint32_t>& roots, const std::vector<std::uint32_t>& threads) {
  std::vector<std::uint32_t> now = lasting_.objects();
  for (const std::uint32_t root : roots) {
    const bool is_new = from_[root] == kNoObject;
    if (is_new) from_[root] = root;
    if (is_new || (from_[root] == root && graph_.is_thread(root))) now.push_back(root);
  }
  now.insert(now.end(), threads.begin(), threads.end());
  (void)search(std::move(now), Reach::kFields);
}

void ShortestPaths::begin_at_code(std::vector<std::uint32_t> roots) {
  std::erase_if(roots, [&](std::uint32_t root) { return from_[root] != kNoObject; });
  for (const std::uint32_t root : roots) from_[root] = root;
  for (const std::uint32_t thread : graph_.threads_with_locals())
    if (from_[thread] != kNoObject) roots.push_back(thread);
  (void)search(std::move(roots), Reach::kLocals);
}

std::vector<std::uint32_t> ShortestPaths::search(std::vector<std::uint32_t> now, Reach reach) {
  std::vector<std::uint32_t> next, threads;
  for (; !now.empty(); now.swap(next), next.clear())
    for (const std::uint32_t object : now) {
      const auto edges = graph_.edges_of(object);
      if (reach == Reach::kStatics && edges.are_of_thread()) threads.push_back(object);
      else follow(edges, object, 0, reach, next);
    }
  return threads;
}

inline void ShortestPaths::follow(const ObjectGraph::EdgeList& edges, std::uint32_t object, std::uint32_t first,
                                  Reach reach, std::vector<std::uint32_t>& next) {
  const std::uint32_t count = reach == Reach::kLocals ? edges.size() : edges.size_without_locals();
  for (std::uint32_t i = first; i < count; ++i) {
    const std::uint32_t target = edges[i];
    if (target == kNoObject || from_[target] != kNoObject) continue;
    from_[target] = object;
    next.push_back(target);
  }
}

std::vector<ShortestPaths::Step> ShortestPaths::to(std::uint32_t object) const {
  std::vector<Step> steps;
  while (from_[object] != kNoObject) {
    const std::uint32_t before = from_[object];
    Step step{.object = object};
    const std::uint32_t edge = before == object ? kNoObject : graph_.find_edge(before, object);
    if (edge != kNoObject) step.edge = graph_.edge_name(before, edge);
    steps.push_back(std::move(step));
    if (before == object) break;
    object = before;
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::string ShortestPaths::root_name(std::uint32_t root) const {
  const std::string_view lasting = lasting_.name(root);
  return lasting.empty() ? graph_.root_name(root) : std::string(lasting);
}

}  // namespace jtrace::coreinspect
