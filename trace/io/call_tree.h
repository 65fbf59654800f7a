// CallTree: merged call stacks: a node for each distinct stack, with its own values (without its callees). Memory:
// about 130 bytes per node. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/io/scopes.h"

namespace jtrace::trace::io {

// Takes the place of callers that the trace does not have: they were lost, or are in the previous file.
inline constexpr std::string_view kUnknownCallers = "(callers not known)";

// Takes the place of deep recursion. Below it a method that calls itself, or that its callees call, is one node: a tree
// with a node for each of some 10,000 nested calls would have gigabytes of stacks.
inline constexpr std::string_view kFoldedCalls = "(deeper calls, each method once)";

class CallTree {
 public:
  static constexpr std::uint32_t kFoldedFrom = 512;  // frames below the root
  // Node 0 is the root; a node comes after its parent.
  struct Node {
    std::uint32_t parent = 0, name = 0, depth = 0;
    std::uint64_t calls = 0, wall = 0, cpu = 0, bytes = 0, samples = 0;  // without its children; ns, bytes
  };
  // If there are `max_nodes` nodes, further frames are added to their callers.
  explicit CallTree(std::size_t max_nodes = std::numeric_limits<std::uint32_t>::max()) : max_nodes_(max_nodes) {}

  std::vector<Node> nodes{Node{}};
  std::vector<std::string> names{"all"};
  std::uint64_t folded = 0;  // frames that were added to their callers

  std::uint32_t child(std::uint32_t parent, std::uint32_t name);
  // The node of a call from `parent`: its child, or where the stack is deep (kFoldedCalls) perhaps one above it.
  std::uint32_t enter(std::uint32_t parent, std::uint32_t name);
  bool has_folded_calls() const { return has_folded_calls_; }
  std::uint32_t name_of(const std::string& text);
  // The name of a method when it is first met (producers define before use).
  std::uint32_t name_of(const Scope& scope, std::uint64_t method);
  // The node below which the outermost open frame of a thread is placed: with `cut` its callers may be lost.
  std::uint32_t base(std::uint32_t node, bool cut) {
    return cut ? child(node, name_of(std::string(kUnknownCallers))) : node;
  }
  // Adds the frames of an objAlloc's own stack below `node` (contextData: "class.method:line;...", innermost first).
  std::uint32_t descend(std::uint32_t node, std::string_view context_data);

 private:
  std::size_t max_nodes_;
  bool has_folded_calls_ = false;
  std::unordered_map<std::string, std::uint32_t> name_ids_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;              // parent, name
  std::vector<std::unordered_map<std::uint64_t, std::uint32_t>> methods_;  // by scope
};

}  // namespace jtrace::trace::io
