#include "coreinspect/graph/class_choice.h"

#include <set>

#include "coreinspect/oops/class_names.h"

namespace jtrace::coreinspect {
namespace {

constexpr int kDeepest = 1000;  // superclasses: more are a damaged dump

void add_subclasses(const ObjectGraph& graph, ClassChoice& choice) {
  const std::vector<char> chosen = choice.is_chosen;
  for (std::uint32_t i = 0; i < chosen.size(); ++i) {
    std::uint32_t above = graph.superclass(i);
    for (int depth = 0; depth < kDeepest && above != kNoObject && chosen[above] == 0; ++depth)
      above = graph.superclass(above);
    // The walk ended at the top, or in a circle.
    if (above == kNoObject || chosen[above] == 0 || chosen[i] != 0) continue;
    choice.is_chosen[i] = 1;
    choice.has_subclasses = true;
  }
}

Result<ClassChoice> choose_named(const ObjectGraph& graph, const std::string& wanted) {
  std::vector<std::string> names;
  for (const GraphClass& each : graph.classes()) names.push_back(each.name);
  JTRACE_ASSIGN_OR_RETURN(const auto meant, classes_meant(names, wanted));
  ClassChoice choice{.is_chosen = std::vector<char>(names.size(), 0), .names = {}};
  std::set<std::string> different;
  for (const std::size_t i : meant) {
    choice.is_chosen[i] = 1;
    different.insert(names[i]);
  }
  choice.names.assign(different.begin(), different.end());
  return choice;
}

}  // namespace

Result<ClassChoice> choose_classes(const ObjectGraph& graph, const std::string& wanted, bool subclasses) {
  JTRACE_ASSIGN_OR_RETURN(ClassChoice choice, choose_named(graph, wanted));
  if (subclasses) add_subclasses(graph, choice);
  return choice;
}

std::string ClassChoice::text() const {
  if (!has_subclasses) return classes_text(names);
  return classes_text(names) + (names.size() == 1 ? " and its subclasses" : " and their subclasses");
}

}  // namespace jtrace::coreinspect
