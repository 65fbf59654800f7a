#include "coreinspect/graph/heap_tree.h"

#include <algorithm>

namespace jtrace::coreinspect {

HeapTree::HeapTree(const ObjectGraph& graph) : graph_(graph), tree_(find_dominators(graph, graph.threads())) {
  const auto count = static_cast<std::uint32_t>(tree_.object.size());
  number_.assign(graph.size(), kNone);
  retained_.assign(count);
  for (std::uint32_t i = 1; i < count; ++i) {
    number_[tree_.object[i]] = i;
    retained_.set(i, graph.bytes(tree_.object[i]));
  }
  for (std::uint32_t object = 0; object < graph.size(); ++object) {
    ClassRetained& sum = by_strength_[static_cast<std::size_t>(graph.strength(object))];
    ++sum.objects;
    sum.shallow += number_[object] == kNone ? graph.bytes(object) : retained_[number_[object]];
  }
  for (std::uint32_t i = count - 1; i > 0; --i) retained_.add(tree_.dominator[i], retained_[i]);
  first_child_.assign(count + 1, 0);
  for (std::uint32_t i = 1; i < count; ++i) ++first_child_[tree_.dominator[i] + 1];
  for (std::uint32_t i = 1; i <= count; ++i) first_child_[i] += first_child_[i - 1];
  children_.resize(count - 1);
  // Each first child moves to the end of its row while the row is filled, which is the place of the next row.
  for (std::uint32_t i = 1; i < count; ++i) children_[first_child_[tree_.dominator[i]]++] = i;
  for (std::uint32_t i = count; i > 0; --i) first_child_[i] = first_child_[i - 1];
  first_child_[0] = 0;
}

std::uint64_t HeapTree::retained(std::uint32_t object) const {
  return number_[object] == kNone ? 0 : retained_[number_[object]];
}

std::uint32_t HeapTree::dominator(std::uint32_t object) const {
  return number_[object] == kNone ? kNoObject : tree_.object[tree_.dominator[number_[object]]];
}

std::vector<std::uint32_t> HeapTree::dominated(std::uint32_t object) const {
  if (object != kNoObject && number_[object] == kNone) return {};
  std::vector<std::uint32_t> found;
  for (const std::uint32_t number : below(object == kNoObject ? 0 : number_[object]))
    found.push_back(tree_.object[number]);
  return found;
}

std::vector<std::uint32_t> HeapTree::largest(std::uint32_t object, std::size_t most) const {
  std::vector<std::uint32_t> found = dominated(object);
  const auto more = [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(retained(b), a) < std::pair(retained(a), b);
  };
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(std::min(most, found.size()));
  std::partial_sort(found.begin(), end, found.end(), more);
  found.erase(end, found.end());
  return found;
}

// An object counts for its group where none above it in the tree is of the group.
template <class GroupOf>
std::vector<ClassRetained> HeapTree::sums(std::size_t groups, GroupOf&& group_of) const {
  std::vector<ClassRetained> sums(groups);
  std::vector<std::uint32_t> above(groups, 0);  // by group: how many are on the way from the top
  struct Open {
    std::uint32_t number, next, group;
  };
  std::vector<Open> open = {{0, 0, kNoObject}};
  while (!open.empty()) {
    Open& last = open.back();
    const auto children = below(last.number);
    if (last.next == children.size()) {
      if (last.group != kNoObject) --above[last.group];
      open.pop_back();
      continue;
    }
    const std::uint32_t number = children[last.next++], object = tree_.object[number], its = group_of(object);
    open.push_back({number, 0, its});
    if (its == kNoObject) continue;
    ClassRetained& sum = sums[its];
    ++sum.objects;
    sum.shallow += graph_.bytes(object);
    if (above[its]++ == 0) sum.retained += retained_[number];
  }
  return sums;
}

std::vector<ClassRetained> HeapTree::by_class() const {
  return sums(graph_.classes().size(), [this](std::uint32_t object) { return graph_.class_of(object); });
}

std::vector<ClassRetained> HeapTree::by_group(const std::vector<std::uint32_t>& of_class,
                                              const std::unordered_map<std::uint32_t, std::uint32_t>& of_object,
                                              std::size_t groups) const {
  std::vector<char> has_own(of_class.size(), 0);  // some object of the class has a group of its own
  for (const auto& [object, group] : of_object) has_own[graph_.class_of(object)] = 1;
  return sums(groups, [&](std::uint32_t object) {
    const std::uint32_t its = graph_.class_of(object);
    if (has_own[its] != 0)
      if (const auto own = of_object.find(object); own != of_object.end()) return own->second;
    return of_class[its];
  });
}

std::vector<ClassRetained> HeapTree::by_group(const std::vector<std::uint32_t>& of_object, std::size_t groups) const {
  return sums(groups, [&](std::uint32_t object) { return of_object[object]; });
}

}  // namespace jtrace::coreinspect
