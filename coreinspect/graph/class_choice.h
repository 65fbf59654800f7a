// The classes of a graph that a name or pattern means. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/graph/object_graph.h"

namespace jtrace::coreinspect {

struct ClassChoice {
  std::vector<char> is_chosen;     // by class number
  std::vector<std::string> names;  // different ones, sorted; without those that are only subclasses
  bool has_subclasses = false;     // some are

  // "shop.Order", "shop.Order and its subclasses", "2 classes (a.Order, b.Order)"; safe for a terminal.
  std::string text() const;
};

// Those that the name means (class_names.h). With `subclasses` their subclasses too. kNotFound if there is none.
Result<ClassChoice> choose_classes(const ObjectGraph& graph, const std::string& wanted, bool subclasses = false);

// After "no object of" a class, if subclasses are wanted: why there may be some all the same.
inline constexpr const char* kNoImplementers =
    ", nor of a subclass; which classes implement an interface is not in a heap dump";

}  // namespace jtrace::coreinspect
