#include "coreinspect/graph/class_tree.h"

#include <algorithm>
#include <functional>
#include <map>

namespace jtrace::coreinspect {
namespace {

// Objects of one class that objects of one node dominate. A class is a group by itself: its static fields differ.
struct Group {
  std::vector<std::uint32_t> objects;
  std::uint64_t shallow = 0, retained = 0;
};
using Key = std::pair<std::uint32_t, std::uint32_t>;  // class number; the object of a class, else kNoObject

Key key_of(const ObjectGraph& graph, std::uint32_t object) {
  return graph.is_class(object) ? Key{0, object} : Key{graph.class_of(object), kNoObject};
}

void add_dominated(const HeapTree& tree, std::uint32_t object, std::map<Key, Group>& groups) {
  for (const std::uint32_t below : tree.dominated(object)) {
    Group& group = groups[key_of(tree.graph(), below)];
    group.objects.push_back(below);
    group.shallow += tree.graph().bytes(below);
    group.retained += tree.retained(below);
  }
}

// What the group's objects dominate. Those of the group's own class come into the group, with what they dominate.
std::map<Key, Group> expanded(const HeapTree& tree, Group& group) {
  std::map<Key, Group> below;
  const Key own = key_of(tree.graph(), group.objects.front());
  for (std::size_t done = 0; done < group.objects.size();) {
    for (; done < group.objects.size(); ++done) add_dominated(tree, group.objects[done], below);
    const auto same = below.find(own);
    if (same == below.end()) break;
    group.objects.insert(group.objects.end(), same->second.objects.begin(), same->second.objects.end());
    group.shallow += same->second.shallow;
    below.erase(same);
  }
  return below;
}

// The groups of one level, those that retain most last, as they are taken from the end.
struct Level {
  std::vector<Group> groups;
  std::uint64_t left_out = 0;  // bytes
};
Level level_of(std::map<Key, Group>&& groups, std::uint64_t least) {
  Level level;
  for (auto& [key, group] : groups) {
    if (group.retained < least) level.left_out += group.retained;
    else level.groups.push_back(std::move(group));
  }
  std::stable_sort(level.groups.begin(), level.groups.end(),
                   [](const Group& a, const Group& b) { return a.retained < b.retained; });
  return level;
}

}  // namespace

ClassTree class_tree(const HeapTree& tree, std::uint64_t least, int deepest) {
  ClassTree made;
  std::vector<ClassNode>& nodes = made.nodes;
  std::map<Key, Group> top;
  add_dominated(tree, kNoObject, top);
  std::vector<Level> open;
  open.push_back(level_of(std::move(top), least));
  made.rest = open.back().left_out;
  while (!open.empty()) {
    if (open.back().groups.empty()) {
      open.pop_back();
      continue;
    }
    Group group = std::move(open.back().groups.back());
    open.back().groups.pop_back();
    std::map<Key, Group> below = expanded(tree, group);
    const int depth = static_cast<int>(open.size()) - 1;
    nodes.push_back({.name = tree.graph().name(group.objects.front()),
                     .depth = depth,
                     .objects = group.objects.size(),
                     .shallow = group.shallow,
                     .retained = group.retained});
    if (depth >= deepest) {
      nodes.back().rest = group.retained - group.shallow;
      continue;
    }
    open.push_back(level_of(std::move(below), least));
    nodes.back().rest = open.back().left_out;
  }
  return made;
}

void keep_largest(std::vector<ClassNode>& nodes, std::size_t most) {
  if (nodes.size() <= most) return;
  std::vector<std::uint64_t> sizes;
  for (const ClassNode& node : nodes) sizes.push_back(node.retained);
  std::nth_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(most), sizes.end(), std::greater<>());
  const std::uint64_t limit = sizes[most];
  std::erase_if(nodes, [&](const ClassNode& node) { return node.retained <= limit; });
}

}  // namespace jtrace::coreinspect
