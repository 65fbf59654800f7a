// NumberLists: lists of numbers by key. Adding and removing take constant time, and removed numbers leave no memory in
// use. One thread, or under a lock.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/methods/id_map.h"

namespace jtrace::agent {

class NumberLists {
 public:
  // Node numbers are never 0; 0 is the end of a list.
  std::uint32_t add(std::uint64_t key, std::uint32_t value) {
    if (free_ == 0) {
      nodes_.push_back({});
      free_ = static_cast<std::uint32_t>(nodes_.size());
    }
    const std::uint32_t made = free_;
    Node& node = at(made);
    free_ = node.next;
    node = {key, value, firsts_.find(key), 0};
    if (node.next != 0) at(node.next).previous = made;
    firsts_.put(key, made);
    return made;
  }
  void remove(std::uint32_t which) {
    Node& node = at(which);
    if (node.next != 0) at(node.next).previous = node.previous;
    if (node.previous != 0) at(node.previous).next = node.next;
    else if (node.next != 0) firsts_.put(node.key, node.next);
    else firsts_.erase(node.key);
    node = {0, 0, free_, 0};
    free_ = which;
  }
  std::uint32_t first(std::uint64_t key) const { return firsts_.find(key); }
  std::uint32_t next(std::uint32_t node) const { return nodes_[node - 1].next; }
  std::uint32_t value(std::uint32_t node) const { return nodes_[node - 1].value; }

 private:
  struct Node {
    std::uint64_t key = 0;
    std::uint32_t value = 0;
    std::uint32_t next = 0;  // in a free node: the next free node
    std::uint32_t previous = 0;
  };
  Node& at(std::uint32_t node) { return nodes_[node - 1]; }

  std::vector<Node> nodes_;
  IdMap firsts_;
  std::uint32_t free_ = 0;
};

}  // namespace jtrace::agent
