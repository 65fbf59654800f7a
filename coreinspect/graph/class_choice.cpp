#include "coreinspect/graph/class_choice.h"

#include <functional>

#include "base/name_pattern.h"
#include "base/strings.h"

namespace jtrace::coreinspect {
namespace {

constexpr int kDeepest = 1000;  // superclasses: more are a damaged dump

ClassChoice those(const ObjectGraph& graph, const std::function<bool(const std::string&)>& is_wanted) {
  ClassChoice choice{.is_chosen = std::vector<char>(graph.classes().size(), 0), .names = {}};
  std::set<std::string> names;
  for (std::size_t i = 0; i < graph.classes().size(); ++i) {
    if (!is_wanted(graph.classes()[i].name)) continue;
    choice.is_chosen[i] = 1;
    names.insert(graph.classes()[i].name);
  }
  choice.names.assign(names.begin(), names.end());
  return choice;
}

std::string simple(const std::string& name) { return name.substr(name.rfind('.') + 1); }

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

Result<ClassChoice> choose_named(const ObjectGraph& graph, const std::string& pattern) {
  if (auto choice = those(graph, [&](const std::string& name) { return name == pattern; }); !choice.names.empty())
    return choice;
  if (auto choice = those(graph, [&](const std::string& name) { return simple(name) == pattern; });
      !choice.names.empty())
    return choice;
  if (auto choice = those(graph, [&](const std::string& name) { return is_chosen(pattern, name); });
      !choice.names.empty())
    return choice;
  std::vector<std::string_view> names;
  for (const GraphClass& each : graph.classes()) names.push_back(each.name);
  const auto near = nearest_word(pattern, names);
  return fail(ErrorCategory::kNotFound, "no class " + pattern,
              near.empty() ? "histogram lists the classes" : "did you mean " + std::string(near) + "?");
}

}  // namespace

Result<ClassChoice> choose_classes(const ObjectGraph& graph, const std::string& pattern, bool subclasses) {
  JTRACE_ASSIGN_OR_RETURN(ClassChoice choice, choose_named(graph, pattern));
  if (subclasses) add_subclasses(graph, choice);
  return choice;
}

std::string ClassChoice::text() const {
  if (names.size() != 1)
    return counted(names.size(), "class", "classes") + (has_subclasses ? " and their subclasses" : "");
  return printable(names.front()) + (has_subclasses ? " and its subclasses" : "");
}

}  // namespace jtrace::coreinspect
