#include "trace/io/call_tree.h"

#include <algorithm>

#include "base/strings.h"

namespace jtrace::trace::io {

std::uint32_t CallTree::name_of(const std::string& text) {
  const auto [at, fresh] = name_ids_.emplace(text, static_cast<std::uint32_t>(names.size()));
  if (fresh) names.push_back(text);
  return at->second;
}

std::uint32_t CallTree::name_of(const Scope& scope, std::uint64_t method) {
  if (methods_.size() <= scope.index) methods_.resize(scope.index + 1);
  auto& known = methods_[scope.index];
  if (const auto found = known.find(method); found != known.end()) return found->second;
  return known.emplace(method, name_of(scope.method_name(method))).first->second;
}

std::uint32_t CallTree::child(std::uint32_t parent, std::uint32_t name) {
  const std::uint64_t key = (std::uint64_t{parent} << 32) | name;
  if (const auto found = children_.find(key); found != children_.end()) return found->second;
  if (nodes.size() >= max_nodes_) {
    ++folded;
    return parent;
  }
  const auto made = static_cast<std::uint32_t>(nodes.size());
  nodes.push_back({.parent = parent, .name = name, .depth = nodes[parent].depth + 1});
  children_.emplace(key, made);
  return made;
}

std::uint32_t CallTree::enter(std::uint32_t parent, std::uint32_t name) {
  if (nodes[parent].depth < kFoldedFrom) return child(parent, name);
  has_folded_calls_ = true;
  if (nodes[parent].depth == kFoldedFrom) parent = child(parent, name_of(std::string(kFoldedCalls)));
  for (std::uint32_t at = parent; nodes[at].depth > kFoldedFrom + 1; at = nodes[at].parent)
    if (nodes[at].name == name) return at;
  return nodes[parent].depth < 2 * kFoldedFrom ? child(parent, name) : parent;
}

std::uint32_t CallTree::descend(std::uint32_t node, std::string_view context_data) {
  const auto frames = split(context_data, ';');
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    std::string name(frame->substr(0, frame->rfind(':')));
    std::replace(name.begin(), name.end(), '/', '.');
    node = enter(node, name_of(name));
  }
  return node;
}

}  // namespace jtrace::trace::io
