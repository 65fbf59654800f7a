// Circles among those who wait for each other: deadlocks, of locks of any kind. A pure function, any thread.
#pragma once

#include <map>
#include <utility>
#include <vector>

namespace jtrace::coreinspect {

// `next`: whom each waits for. Each circle once, in the order of "waits for", from where the first walk came into it.
template <class Node>
std::vector<std::vector<Node>> circles_in(const std::map<Node, Node>& next) {
  std::vector<std::vector<Node>> circles;
  std::map<Node, std::pair<std::size_t, std::size_t>> seen;  // the walk, the place in its path
  std::size_t walk = 0;
  for (const auto& [start, first] : next) {
    std::vector<Node> path;
    Node at = start;
    for (++walk; next.contains(at) && !seen.contains(at); at = next.at(at)) {
      seen[at] = {walk, path.size()};
      path.push_back(at);
    }
    const auto again = seen.find(at);
    if (again == seen.end() || again->second.first != walk) continue;
    circles.emplace_back(path.begin() + static_cast<std::ptrdiff_t>(again->second.second), path.end());
  }
  return circles;
}

}  // namespace jtrace::coreinspect
