// Who refers to the objects of some classes: fields, static fields, elements, local variables, roots, with counts.
//
// References of garbage do not count. Weak references do. Threads: one at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "coreinspect/graph/object_graph.h"

namespace jtrace::coreinspect {

struct ReferrerRow {
  std::string kind;              // "field", "static", "elements", "local", "root"
  std::string of, field;         // the class; its field, "" for elements; of a root its kind
  std::uint64_t references = 0;  // to the objects that are asked for
  std::uint64_t holders = 0;     // objects that have these references
};

// Called for each reference that holds one of the objects: from a field, a static field, an element or a local
// variable; not for a weak reference to an object that something else holds more strongly.
using EachHolder = std::function<void(std::uint32_t holder, std::uint32_t object)>;

// Those with most references first. `is_wanted`: by object.
std::vector<ReferrerRow> find_referrers(const ObjectGraph& graph, const std::vector<char>& is_wanted,
                                        const EachHolder& each_holder = nullptr);

}  // namespace jtrace::coreinspect
