// The classes of a graph that a name or pattern means. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/graph/object_graph.h"

namespace jtrace::coreinspect {

struct ClassChoice {
  std::vector<char> is_chosen;     // by class number
  std::vector<std::string> names;  // different ones, sorted
};

// The class of this name; else those with this name in any package; else those whose name matches the pattern, or
// contains the text. kNotFound if there is none.
Result<ClassChoice> choose_classes(const ObjectGraph& graph, const std::string& pattern);

}  // namespace jtrace::coreinspect
